"""Tags of tokens: O outside of entities, or S, B, I or E of an entity type.

With P types there are 4P + 1 tags. Number 0 is O, and type k has the four numbers from
1 + 4k on. New types come last, so that the tags that there are keep their numbers.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ..files import quote

OUTSIDE = 0
#: The sole token of an entity, and the first, a middle and the last of several: with 4k
#: more, the numbers of type k.
SOLE, BEGIN, INSIDE, END = KINDS = (1, 2, 3, 4)
#: Stands for the tag of a token of which nothing is known.
MISSING = -1

# Of spaCy's names, U(nit) and L(ast) differ from the paper's.
_SPACY = {SOLE: "U", BEGIN: "B", INSIDE: "I", END: "L"}


def count_tags(n_types: int) -> int:
    """Say how many tags there are for so many entity types."""
    return len(KINDS) * n_types + 1


def number_tags(labels: Iterable[str]) -> dict[str | None, int]:
    """Number the tags of entity types by spaCy's names, which has two for `MISSING`."""
    numbers: dict[str | None, int] = {None: MISSING, "-": MISSING, "O": OUTSIDE}
    for k, label in enumerate(labels):
        for kind in KINDS:
            numbers[f"{_SPACY[kind]}-{label}"] = len(KINDS) * k + kind
    return numbers


def encode_tags(
    tags: Iterable[str | None], numbers: Mapping[str | None, int]
) -> list[int]:
    """Give the number of each tag that `Example.get_aligned_ner` has given."""
    try:
        return [numbers[tag] for tag in tags]
    except KeyError as error:
        _, _, label = error.args[0].partition("-")
        raise refuse_label(label) from None


def refuse_label(label: str) -> ValueError:
    """Make the error of an entity type in the data that is not among the labels."""
    return ValueError(
        f"The training data has entities of type {quote(label)}, which is not among "
        "the labels of the component. Call its `add_label` before training goes on, "
        "or leave out its 'labels' in [initialize.components] to have them read from "
        "the training data."
    )


def check_label(label: Any) -> str:
    """Check an entity type, and give it back."""
    try:
        # not halves of surrogate pairs, which JSON may hold
        is_name = bool(label.encode("utf8")) and label == label.strip()
    except (AttributeError, UnicodeEncodeError):
        is_name = False
    if not is_name:
        raise ValueError(
            "'label' should be the name of an entity type, a text in UTF-8 without "
            f"white space around it, but is {quote(label)}. Correct the annotation or "
            "the file that it comes from."
        )
    return label


def check_labels(labels: Any) -> list[str]:
    """Check that entity types are a list of names, each there once."""
    if not isinstance(labels, list | tuple):
        raise ValueError(
            "'labels' should be a list of entity types, as `spacy init labels` writes "
            f"it for this component (not for 'ner'), but is {quote(labels)}."
        )
    for label, times in Counter(map(check_label, labels)).items():
        if times > 1:
            raise ValueError(
                f"'labels' should have each entity type once, but has {quote(label)} "
                f"{times} times. Remove what is there too often."
            )
    return list(labels)
