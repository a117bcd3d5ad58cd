"""A random corpus of news sentences, to use offline.

Names consist of syllables, with endings that depend on their type. Half of the names in
the dev and test splits are new, so that there are seen and unseen entities.
"""

import random
from collections.abc import Iterator

from spacy_hashembeds.tools.prepare.columns import Document, Sentence

#: Sentences in each split.
SIZES = {"train": 1200, "dev": 400, "test": 800}

#: Numbers of names of each type, and of nouns, in the training split.
NAMES_PER_TYPE = 250
NOUNS = 400

_SYLLABLES = """
    ba be bra ca cor da del do el fa fen ga gre ha il jo ka kel la lin lo ma mar mi na
    nor o pa per qui ra ren ri ro sa sel ta tor tu ul va vel vi wen xa ya zo
""".split()

# Each type has four distinct endings, and four that all types and nouns share.
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

# {NAME} is a name of any type; {noun} and {Noun} are nouns.
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

_WORDS = {
    "day": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "adjective": "quiet costly early sudden famous broken modern strange golden",
}


def make_demo_corpus() -> dict[str, Iterator[Document]]:
    """Make documents of one sentence for each split, from fixed seeds."""
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
) -> Iterator[Document]:
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
        yield [Sentence(words, tags)]


def _fill(
    rng: random.Random, slot: str, names: dict[str, list[list[str]]], is_new: bool
) -> tuple[list[str], str]:
    """Return the words for a slot of a template, and the label of an entity or ""."""
    kind = slot.strip("{}")
    if slot == kind:
        return [slot], ""
    if kind in _WORDS:
        return [rng.choice(_WORDS[kind].split())], ""
    label = rng.choice(list(_ENDINGS)) if kind == "NAME" else kind.upper()
    name = _make_name(rng, label) if is_new else rng.choice(names[label])
    if label == "NOUN":
        return [name[0].capitalize() if kind == "Noun" else name[0]], ""
    return name, label
