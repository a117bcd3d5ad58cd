"""The embedders that can be put into a config."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from spacy.util import registry

from ..acceleration.conversion import OUR_EMBED
from ..analysis.advice import Advice
from ..checks import check_attributes
from .tables import (
    HASH_FORMER,
    WEIGHTED_HASHES,
    Setting,
    Tables,
    choose_attributes,
    choose_codes,
    choose_hashing,
    choose_hybrid,
    choose_lookup,
    choose_weighted,
    read_tables,
)


@dataclass(frozen=True)
class Embedder:
    """An embedder that can be put into a config.

    architecture (str): Its registered name.
    why (str): What it is for.
    choose (Callable): Chooses the arguments that nothing in the config gives, by the
        tables that stand there and by what is advised for them, if anything.
    has_symbols (bool): Whether it needs the symbols of the training corpus.
    has_ngrams (bool): Whether it needs the character n-grams of the training corpus.
    get_symbol_width (Callable): Says of its block how many parameters there are for
        each symbol then.
    """

    architecture: str
    why: str
    choose: Callable[[Tables, Advice | None], dict[str, Setting]]
    has_symbols: bool = False
    has_ngrams: bool = False
    get_symbol_width: Callable[[Mapping[str, Any]], int] = itemgetter("width")


_PIECES = "maxout_pieces"

#: By the names that users know.
EMBEDDERS = {
    "multi_fewer_hash_embed": Embedder(
        OUR_EMBED,
        "the same tables, faster on the CPU, with hashes and a seed to choose.",
        choose_hashing,
    ),
    "multi_embed": Embedder(
        "spacy-hashembeds.MultiEmbed.v1",
        "a row for each frequent symbol of the training corpus, one for all others.",
        choose_lookup,
        has_symbols=True,
    ),
    "multi_hybrid_embed": Embedder(
        "spacy-hashembeds.MultiHybridEmbed.v1",
        "a row for each frequent symbol of the training corpus, hashed ones for all "
        "others.",
        choose_hybrid,
        has_symbols=True,
    ),
    "multi_weighted_hash_embed": Embedder(
        "spacy-hashembeds.MultiWeightedHashEmbed.v1",
        "hashed rows, and for each frequent symbol of the training corpus learned "
        "weights of its own for them.",
        choose_weighted,
        has_symbols=True,
        get_symbol_width=lambda block: block.get("num_hashes", WEIGHTED_HASHES),
    ),
    "hash_former_embed": Embedder(
        HASH_FORMER,
        "codes of words, in which similar spellings agree, and no rows at all.",
        choose_codes,
        has_ngrams=True,
    ),
}


def get_embedder(name: str) -> Embedder:
    """Get an embedder by its name.

    RAISES (ValueError): If there is none.
    """
    if name not in EMBEDDERS:
        raise ValueError(
            f"There is no embedder '{name}' to put in. There are: "
            f"{', '.join(EMBEDDERS)}."
        )
    return EMBEDDERS[name]


def write_embedder(
    place: str,
    raw: Mapping[str, Any],
    plain: Mapping[str, Any],
    embedder: Embedder,
    advice: Advice | None,
    *,
    is_pretrained: bool,
) -> tuple[dict[str, Any], dict[str | None, str]]:
    """Write the block of an embedder that takes another's place.

    place (str): Its place in the config.
    raw (Mapping[str, Any]): The block that stands there, with variables.
    plain (Mapping[str, Any]): The same without.
    embedder (Embedder): What to put there.
    advice (Advice, optional): What is advised for the tables that stand there.
    is_pretrained (bool): Whether training starts from weights for these tables.
    RETURNS (tuple): The block, and the reasons for what may be new in it.
    """
    read = read_tables(place, plain, embedder.architecture)
    known = replace(read, is_pretrained=is_pretrained)
    tables, attrs = choose_attributes(known, advice)
    settings = {
        "@architectures": Setting(
            embedder.architecture,
            f"In place of {plain['@architectures']}: {embedder.why}",
        ),
        "attrs": attrs,
        **embedder.choose(tables, advice),
    }
    values = {**raw, **{k: _keep(k, s.value, raw, plain) for k, s in settings.items()}}
    function = registry.architectures.get(embedder.architecture)
    arguments = ["@architectures", *inspect.signature(function).parameters]
    if not tables.is_ours and plain.get(_PIECES, 0) is None:
        del values[_PIECES]  # nothing mixes in that embedder: in others something does
    block = {key: values[key] for key in arguments if key in values}
    return block, {key: s.why for key, s in settings.items() if s.why and key in block}


def _keep(
    key: str, value: Any, raw: Mapping[str, Any], plain: Mapping[str, Any]
) -> Any:
    """Keep a variable, or an attribute's number, that says what was chosen."""
    given = plain.get(key)
    if key == "attrs" and given is not None:
        given = check_attributes(given)
    return raw[key] if key in raw and value == given else value
