"""Weights of `spacy pretrain`, and which embedders of a config they are for."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..acceleration.conversion import OUR_EMBED
from ..architectures.embedders.descriptions import (
    EmbedderDescription,
    get_descriptions,
)
from .draft import Draft

_WEIGHTS = "[initialize] init_tok2vec"


def find_pretrained(draft: Draft, places: Iterable[str]) -> list[str]:
    """Find the embedders whose weights training starts from.

    places (Iterable[str]): Where embedders stand.
    RETURNS (list[str]): The places of those that [pretraining] may have trained: all,
        where it names no component.
    """
    if _find_weights(draft) is None:
        return []
    component = draft.resolve("pretraining.component")
    return [p for p in places if component in (None, p.split(".")[1])]


def check_pretrained(
    draft: Draft,
    pretrained: Mapping[str, Mapping[str, Any]],
    embedder: EmbedderDescription,
) -> None:
    """Check that weights fit the embedder that is to be put in, and warn of them.

    pretrained (Mapping[str, Mapping[str, Any]]): For the place of each embedder whose
        weights training starts from, its block without variables.
    RAISES (ValueError): If they don't.
    """
    weights = _find_weights(draft)
    for place, block in pretrained.items():
        if not _fits(block, embedder):
            raise ValueError(_refuse(place, block, embedder, weights))
        draft.warnings.append(
            f"[{place}] keeps its settings: {_WEIGHTS} names weights that were trained "
            f"with them, '{weights}'. To have settings chosen anew, set it to null."
        )


def _find_weights(draft: Draft) -> str | None:
    # what spaCy fills in
    default = draft.resolve("paths.init_tok2vec")
    section = draft.resolve("initialize") or {}
    return section.get("init_tok2vec", default) or None


def _fits(block: Mapping[str, Any], embedder: EmbedderDescription) -> bool:
    name = block["@architectures"]
    if embedder.is_named(name):
        return True
    return embedder.architecture == OUR_EMBED and ".MultiHashEmbed." in name


def _refuse(
    place: str,
    block: Mapping[str, Any],
    embedder: EmbedderDescription,
    weights: str | None,
) -> str:
    fitting = [d.name for d in get_descriptions() if _fits(block, d)]
    instead = f", or put in {fitting[0]} (--embedder)" if fitting else ""
    return (
        f"{embedder.architecture} can't be put into [{place}]: {_WEIGHTS} names "
        f"weights, '{weights}', that were trained for {block['@architectures']} and "
        f"don't fit. Set it to null, to train without them{instead}."
    )
