"""Features of tokens for a linear-chain CRF: all that it knows of a text.

Each is a text such as `0:suffix3=ing`: where it was looked for, from the token itself,
what was looked at, and what was found.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

#: How many characters prefixes and suffixes have at most.
AFFIXES = 4

#: How far to either side of a token its neighbors are looked at.
WINDOW = 2

#: What stands before the first token and after the last.
EDGE = "<edge>"


class Word(NamedTuple):
    """Parts of a word that are looked at, whatever stands beside it."""

    lower: str
    shape: str
    short_shape: str
    suffix: str
    own: tuple[str, ...]  # features of the token alone


def list_features(words: Sequence[str]) -> list[list[str]]:
    """List the features of each token of a text."""
    edges = [describe_word(EDGE)] * WINDOW
    padded = [*edges, *map(describe_word, words), *edges]
    return [
        list(_list_token(padded[i : i + 2 * WINDOW + 1])) for i in range(len(words))
    ]


@lru_cache(maxsize=2**17)
def describe_word(word: str) -> Word:
    """Describe a word as it is written: its parts, its shape, its kinds of characters.

    In shapes X is upper case, x are other letters, d digits.
    """
    shape = "".join(
        ("X" if c.isupper() else "x") if c.isalpha() else "d" if c.isdigit() else c
        for c in word
    )
    # each run of alike characters once
    short = re.sub(r"(.)\1+", r"\1", shape)
    own = [f"0:word={word}", f"0:shape={shape}", f"0:short={short}"]
    for n in range(1, min(AFFIXES, len(word)) + 1):
        own += [f"0:prefix{n}={word[:n]}", f"0:suffix{n}={word[-n:]}"]
    flags = {
        "digits": word.isdigit(),
        "has_digit": any(c.isdigit() for c in word),
        "title": word.istitle(),
        "upper": word.isupper(),
        "inner_upper": any(c.isupper() for c in word[1:]),
        "punctuation": not any(c.isalnum() for c in word),
        "hyphen": "-" in word,
    }
    own += [f"0:{flag}" for flag, is_set in flags.items() if is_set]
    return Word(word.lower(), shape, short, word.lower()[-3:], tuple(own))


def _list_token(window: Sequence[Word]) -> Iterator[str]:
    """List the features of the token in the middle of a window."""
    before2, before, word, after, after2 = window
    yield "bias"
    yield from word.own
    for place, other in zip((-2, -1, 0, 1, 2), window, strict=True):
        yield f"{place}:lower={other.lower}"
    for place, other in ((-2, before2), (-1, before), (1, after), (2, after2)):
        yield f"{place}:short={other.short_shape}"
    for place, other in ((-1, before), (1, after)):
        yield f"{place}:shape={other.shape}"
        yield f"{place}:suffix3={other.suffix}"
    # bigrams of neighboring words
    yield f"-2,-1:lower={before2.lower}|{before.lower}"
    yield f"-1,0:lower={before.lower}|{word.lower}"
    yield f"0,1:lower={word.lower}|{after.lower}"
    yield f"1,2:lower={after.lower}|{after2.lower}"
    # conjunctions: what is written how, beside what
    shapes = f"{before.short_shape}|{word.short_shape}"
    yield f"-1,0:short={shapes}"
    yield f"0,1:short={word.short_shape}|{after.short_shape}"
    yield f"-1..1:short={shapes}|{after.short_shape}"
    yield f"-1:lower,0:short={before.lower}|{word.short_shape}"
    yield f"0:short,1:lower={word.short_shape}|{after.lower}"
    yield f"0:suffix3,short={word.suffix}|{word.short_shape}"
