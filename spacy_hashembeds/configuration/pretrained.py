"""Weights of `spacy pretrain`, and which embedders of a config they are for."""

from collections.abc import Mapping
from typing import Any

from ..acceleration.conversion import OUR_EMBED
from ..architectures.embedders.descriptions import (
    EmbedderDescription,
    get_descriptions,
)
from .draft import Draft

_WEIGHTS = "[initialize] init_tok2vec"


def find_pretrained(
    draft: Draft,
    found: Mapping[str, Mapping[str, Any]],
    embedder: EmbedderDescription,
) -> list[str]:
    """Find the embedders whose weights training starts from, and warn of them.

    found (Mapping[str, Mapping[str, Any]]): For the place of each embedder its block
        without variables.
    embedder (EmbedderDescription): What is to be put in.
    RAISES (ValueError): If the weights don't fit that.
    RETURNS (list[str]): The places of those that [pretraining] may have trained: all,
        where it names no component.
    """
    weights = draft.get_initialize("init_tok2vec")
    if not weights:
        return []
    component = draft.resolve("pretraining.component")
    places = [p for p in found if component in (None, p.split(".")[1])]
    for place in places:
        if not _fits(found[place], embedder):
            raise ValueError(_refuse(place, found[place], embedder, weights))
        draft.warnings.append(
            f"[{place}] keeps its settings: {_WEIGHTS} names weights that were trained "
            f"with them, '{weights}'. To have settings chosen anew, set it to null."
        )
    return places


def _fits(block: Mapping[str, Any], embedder: EmbedderDescription) -> bool:
    name = block["@architectures"]
    if embedder.is_named(name):
        return True
    return embedder.architecture == OUR_EMBED and ".MultiHashEmbed." in name


def _refuse(
    place: str, block: Mapping[str, Any], embedder: EmbedderDescription, weights: str
) -> str:
    fitting = [d.name for d in get_descriptions() if _fits(block, d)]
    instead = f", or put in {fitting[0]} (--embedder)" if fitting else ""
    return (
        f"{embedder.architecture} can't be put into [{place}]: {_WEIGHTS} names "
        f"weights, '{weights}', that were trained for {block['@architectures']} and "
        f"don't fit. Set it to null, to train without them{instead}."
    )
