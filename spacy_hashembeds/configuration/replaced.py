"""The tables of an embedder that stands in a config."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..architectures.embedders.descriptions import (
    EmbedderDescription,
    find_description,
)
from ..architectures.embedders.distinct_words import TEXT_ATTRIBUTES
from ..checks import check_attributes

#: spaCy's own that ours can take the place of.
REPLACED = ("spacy.MultiHashEmbed", "spacy.HashEmbedCNN", "spacy.CharacterEmbed")
_REPLACED = re.compile(r"spacy(-legacy)?\.(MultiHashEmbed|CharacterEmbed)\.v[12]")

#: The rows of `spacy init config`. It has no other attributes: for those, as for NORM.
_ROWS = {"PREFIX": 1000, "SUFFIX": 2500, "SHAPE": 2500}
_MOST_ROWS = 5000

#: What stands for the characters of a CharacterEmbed.
_SUBWORDS = ("PREFIX", "SUFFIX", "SHAPE")


@dataclass(frozen=True)
class Tables:
    """The tables of an embedder that stands in a config.

    attrs (list[str]): Their attributes.
    rows (list[int]): Their rows, or what spaCy would give them.
    place (str): The embedder's place in the config.
    plain (Mapping[str, Any]): Its block without variables.
    is_ours (bool): Whether it is the embedder that is to be put in, already.
    no_text (list[str]): Attributes whose tables are not among them, since they are no
        text, as the embedder that is to be put in needs it.
    is_pretrained (bool): Whether training starts from weights for these tables.
    """

    attrs: list[str]
    rows: list[int]
    place: str
    plain: Mapping[str, Any]
    is_ours: bool
    no_text: list[str]
    is_pretrained: bool = False

    def cut_arguments(self) -> Iterator[tuple[str, Any]]:
        """Leave out what arguments have for attributes that are left out."""
        names = check_attributes(self.plain["attrs"])
        for key, value in self.plain.items():
            if isinstance(value, list) and len(value) == len(names) and key != "attrs":
                pairs = zip(names, value, strict=True)
                yield key, [item for attr, item in pairs if attr in self.attrs]
            elif isinstance(value, Mapping) and set(value) == set(names):
                yield key, {attr: value[attr] for attr in self.attrs}


def is_replaced(architecture: str) -> bool:
    """Tell whether an embedder of ours can stand for this one, or is this one."""
    is_ours = find_description(architecture) is not None
    return is_ours or _REPLACED.fullmatch(architecture) is not None


def find_attributes(
    place: str, plain: Mapping[str, Any], embedder: EmbedderDescription
) -> list[str]:
    """Find the attributes of an embedder that another one can embed, each once.

    See `read_tables`.
    """
    return list(dict.fromkeys(read_tables(place, plain, embedder).attrs))


def read_tables(
    place: str, plain: Mapping[str, Any], embedder: EmbedderDescription
) -> Tables:
    """Read the tables of an embedder.

    place (str): Its place in the config.
    plain (Mapping[str, Any]): Its block, without variables.
    embedder (EmbedderDescription): What is to be put in.
    RAISES (ValueError): If an attribute is none, or none can be embedded.
    """
    if "nC" in plain:  # a CharacterEmbed
        attrs = list(dict.fromkeys([plain.get("feature", "LOWER"), *_SUBWORDS]))
        given = [plain["rows"]]
    else:
        attrs, given = plain["attrs"], plain.get("rows", [])
    names = check_attributes(attrs)
    usual = [_ROWS.get(name, _MOST_ROWS) for name in names]
    rows = [*given, *usual[len(given) :]]
    is_of_text = embedder.is_of_text
    fitting = _find_text(place, names, embedder) if is_of_text else range(len(names))
    return Tables(
        attrs=[names[i] for i in fitting],
        rows=[rows[i] for i in fitting],
        place=place,
        plain=plain,
        is_ours=embedder.is_named(plain["@architectures"]),
        no_text=[n for n in names if is_of_text and n not in TEXT_ATTRIBUTES],
    )


def _find_text(
    place: str, attrs: Sequence[str], embedder: EmbedderDescription
) -> list[int]:
    """Find the first of each of the attributes that are text.

    RAISES (ValueError): If there is none.
    """
    found = [
        i
        for i, attr in enumerate(attrs)
        if attr in TEXT_ATTRIBUTES and attr not in attrs[:i]
    ]
    if not found:
        raise ValueError(
            f"[{place}] should embed some text, such as NORM, for "
            f"{embedder.architecture} to take its place, but has only "
            f"{', '.join(attrs)}."
        )
    return found
