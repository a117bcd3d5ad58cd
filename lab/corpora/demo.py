"""A made-up corpus of news sentences, so that everything can be tried offline.

Names are put together from syllables, with endings that hint at their type. The dev
and test splits make half of theirs anew, so that seen and unseen entities are scored
on the same sentences. No embedder gets everything right.
"""

import random
from collections.abc import Iterator

Sentence = tuple[list[str], list[str]]

#: Sentences in each split.
SIZES = {"train": 1200, "dev": 400, "test": 800}

#: Names of each type, and ordinary nouns, that the training split draws from.
NAMES_PER_TYPE = 250
NOUNS = 400

_SYLLABLES = """
    ba be bra ca cor da del do el fa fen ga gre ha il jo ka kel la lin lo ma mar mi na
    nor o pa per qui ra ren ri ro sa sel ta tor tu ul va vel vi wen xa ya zo
""".split()

# The first endings of a type are its own; the last four may be any type's, or a noun's.
_ANY_ENDING = ("ro", "li", "ga", "wen")
_ENDINGS = {
    "PERSON": ("son", "ova", "mann", "etti", *_ANY_ENDING),
    "LOC": ("burg", "ville", "ford", "stad", *_ANY_ENDING),
    "ORG": ("tech", "corp", "soft", "dyne", *_ANY_ENDING),
}

_SECOND_WORDS = {
    "PERSON": ("", "", "", "Jr"),
    "LOC": ("", "", "", "Bay", "Island"),
    "ORG": ("", "", "", "Group", "Bank"),
}

# {NAME} takes a name of any type; {noun} and {Noun} an ordinary noun.
_TEMPLATES = """
    {PERSON} of {ORG} said on {day} that the {noun} was {adjective} .
    In {LOC} , {PERSON} met the {noun} of {ORG} .
    {ORG} opened a {adjective} {noun} near {LOC} on {day} .
    Shares of {ORG} fell after {PERSON} left the {noun} .
    Why is {NAME} so {adjective} these days ?
    Why is {Noun} so {adjective} these days ?
    Nobody had heard of {NAME} before {day} .
    Nobody had heard of {noun} before {day} .
    {NAME} and {NAME} were the {noun} of the week .
    {Noun} and {noun} were the {noun} of the week .
    On {day} we read about {NAME} again .
    On {day} we read about {Noun} again .
    A {adjective} {noun} : {NAME} .
    {Noun} and {noun} : what {NAME} means for {NAME} .
    {Noun} , {NAME} , {Noun} .
    {NAME} , {Noun} , {NAME} .
    Was the {noun} {adjective} , or was it {NAME} ?
    The {Noun} , a {adjective} {noun} about {NAME} , opens in {NAME} .
""".strip().splitlines()

_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_ADJECTIVES = "quiet costly early sudden famous broken modern strange golden".split()


def make_demo_corpus() -> dict[str, Iterator[Sentence]]:
    """Make the words and BIO tags of each split's sentences, always the same."""
    rng = random.Random("0/names")
    sizes = dict.fromkeys(_ENDINGS, NAMES_PER_TYPE) | {"NOUN": NOUNS}
    names = {
        label: [_make_name(rng, label) for _ in range(size)]
        for label, size in sizes.items()
    }
    return {
        split: _make_sentences(random.Random(f"0/{split}"), split, names)
        for split in SIZES
    }


def _make_name(rng: random.Random, label: str) -> list[str]:
    if label == "NOUN":
        return [_make_word(rng, rng.choice(_ANY_ENDING)).lower()]
    words = [_make_word(rng, rng.choice(_ENDINGS[label]))]
    if label == "PERSON" and rng.random() < 0.5:
        words.insert(0, _make_word(rng, rng.choice(_SYLLABLES)))
    return words + rng.choice(_SECOND_WORDS[label]).split()


def _make_word(rng: random.Random, ending: str) -> str:
    stem = "".join(rng.choices(_SYLLABLES, k=rng.randint(1, 3)))
    return (stem + ending).capitalize()


def _make_sentences(
    rng: random.Random, split: str, names: dict[str, list[list[str]]]
) -> Iterator[Sentence]:
    share_of_new_names = 0.0 if split == "train" else 0.5
    for _ in range(SIZES[split]):
        words: list[str] = []
        tags: list[str] = []
        for slot in rng.choice(_TEMPLATES).split():
            is_new = rng.random() < share_of_new_names
            filled, label = _fill(rng, slot, names, is_new)
            words += filled
            bio = [f"B-{label}", *[f"I-{label}"] * (len(filled) - 1)]
            tags += bio if label else ["O"] * len(filled)
        if rng.random() < 0.15:
            words = [word.lower() for word in words]
        yield words, tags


def _fill(
    rng: random.Random, slot: str, names: dict[str, list[list[str]]], is_new: bool
) -> tuple[list[str], str]:
    """Give the words for a slot of a template, and the label of the entity, if any."""
    kind = slot.strip("{}")
    if slot == kind:
        return [slot], ""
    if kind == "day":
        return [rng.choice(_DAYS)], ""
    if kind == "adjective":
        return [rng.choice(_ADJECTIVES)], ""
    label = rng.choice(list(_ENDINGS)) if kind == "NAME" else kind.upper()
    name = _make_name(rng, label) if is_new else rng.choice(names[label])
    if label == "NOUN":
        return [name[0].capitalize() if kind == "Noun" else name[0]], ""
    return name, label
