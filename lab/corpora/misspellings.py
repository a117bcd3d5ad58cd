"""Copies of a corpus with a random misspelling in each entity."""

from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from random import Random
from typing import Any, TypeVar

from spacy.tokens import Doc
from spacy.tokens._serialize import ALL_ATTRS

# All token attributes that DocBin saves, except the word.
_ATTRS: list[int | str] = [name for name in ALL_ATTRS if name != "ORTH"]

_Item = TypeVar("_Item")


def misspell(docs: Iterable[Doc], *, seed: int = 0) -> list[Doc]:
    """Copy docs with one random edit in each entity.

    A character is deleted, inserted, substituted or swapped with the next one (Damerau,
    "A technique for computer detection and correction of spelling errors", 1964), with
    equal probabilities of the edits that change the word. The probability of a token is
    proportional to its length. New letters are drawn by their frequency in the corpus,
    and have the case of the letter that they replace or precede.

    Tokens stay separate and nonempty; tokens with white space are not changed. NORM of
    misspelt words is reset. Span groups and `user_data` are dropped.

    An edit depends only on the seed, the index of the document, the start of the entity
    and the letters of the corpus.
    """
    docs = list(docs)
    counts = Counter(c for doc in docs for c in doc.text.lower() if c.isalpha())
    letters = sorted(counts)
    ends = list(accumulate(counts[letter] for letter in letters))
    copies = []
    for number, doc in enumerate(docs):
        words = {}
        for ent in doc.ents:
            # independent of other entities
            random = Random(f"{seed} {number} {ent.start}")
            editable = (t for t in ent if not any(map(str.isspace, t.text)))
            tokens = [token for token in editable for _ in token.text]
            if tokens and letters:
                token = _draw(tokens, random)
                letter = letters[bisect(ends, random.random() * ends[-1])]
                words[token.i] = _edit(token.text, letter, random)
        copies.append(_rewrite(doc, words))
    return copies


def _draw(items: Sequence[_Item], random: Random) -> _Item:
    # Python guarantees the sequence of random() only
    return items[int(random.random() * len(items))]


def _edit(word: str, letter: str, random: Random) -> str:
    """Draw the kind of an edit, then its place."""
    kinds: dict[str, Sequence[int]] = {
        "delete": range(len(word) if word[1:] else 0),
        "insert": range(len(word) + 1),
        "substitute": [
            i for i, old in enumerate(word) if _match_case(letter, old) != old
        ],
        "transpose": [i for i, (a, b) in enumerate(pairwise(word)) if a != b],
    }
    edit, places = _draw([kind for kind in kinds.items() if kind[1]], random)
    i = _draw(places, random)
    before, old, after = word[:i], word[i : i + 1], word[i + 1 :]
    if edit == "delete":
        return before + after
    if edit == "transpose":
        return before + after[0] + old + after[1:]
    new = _match_case(letter, old or word[-1])
    return before + new + (after if edit == "substitute" else old + after)


def _match_case(letter: str, neighbor: str) -> str:
    upper = letter.upper()
    # the upper case of ß has two characters
    return upper if neighbor.isupper() and len(upper) == 1 else letter


def _rewrite(doc: Doc, words: Mapping[int, str]) -> Doc:
    """Copy a doc with other words for some tokens."""
    spaces = [bool(token.whitespace_) for token in doc]
    copy = Doc(
        doc.vocab,
        words=[words.get(token.i, token.text) for token in doc],
        spaces=None if doc.has_unknown_spaces else spaces,
    )
    values: Any = doc.to_array(_ATTRS)
    # 0 means the norm of the word
    values[list(words), _ATTRS.index("NORM")] = 0
    copy.from_array(_ATTRS, values)
    copy.cats = dict(doc.cats)
    return copy
