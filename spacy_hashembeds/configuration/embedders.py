"""Embedders that take the place of others in a config."""

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from spacy.util import registry

from ..analysis.advice import BOUND, Advice, format_bound
from ..analysis.codes import DEGENERATE_SEED, SOUND_SEED
from ..architectures.embedders.descriptions import EmbedderDescription
from ..checks import check_attributes
from ..hashing.murmur import MAX_HASHES
from .replaced import Tables, read_tables

EXPLAIN_DEFAULT = "The default: --train would have it chosen by the training corpus."
EXPLAIN_SMALL = "The default: the training corpus is too small to choose by."

_ROWS_BY_DEFAULT = "Those that were there; for other attributes, spaCy's."
_ROWS_RAISED = {
    "symbols": "Raised to have room for the frequent symbols of the training corpus, "
    "and the lower limit for the others. Rows that these don't reach are left out.",
    "values": f"Raised to the lower limit: in fewer, more than {format_bound(BOUND)} "
    "of an attribute's values in the training corpus would share all their rows with "
    "another.",
}
_OF_WEIGHTS = (
    "spaCy's: the weights that [initialize] init_tok2vec names were trained with it."
)
_AS_THE_FIRST = " All are as the first: what is changed there is changed for them too."

_PIECES = "maxout_pieces"


class Setting(NamedTuple):
    """What to set an argument to, and why, if it may be new."""

    value: Any
    why: str = ""


def write_embedder(
    place: str,
    raw: Mapping[str, Any],
    plain: Mapping[str, Any],
    embedder: EmbedderDescription,
    advice: Advice | None,
    *,
    is_pretrained: bool,
) -> tuple[dict[str, Any], dict[str | None, str]]:
    """Write the block of an embedder that takes another's place.

    place (str): Its place in the config.
    raw (Mapping[str, Any]): The block that stands there, with variables.
    plain (Mapping[str, Any]): The same without.
    embedder (EmbedderDescription): What to put there.
    advice (Advice, optional): What is advised for the tables that stand there.
    is_pretrained (bool): Whether training starts from weights for these tables.
    RETURNS (tuple): The block, and the reasons for what may be new in it.
    """
    read = read_tables(place, plain, embedder)
    known = replace(read, is_pretrained=is_pretrained)
    tables, attrs = _choose_attributes(known, advice)
    function = registry.architectures.get(embedder.architecture)
    parameters = inspect.signature(function).parameters
    settings = {
        "@architectures": Setting(
            embedder.architecture,
            f"In place of {plain['@architectures']}: {embedder.purpose}",
        ),
        "attrs": attrs,
        **_choose_settings(tables, embedder, advice, parameters),
    }
    values = {**raw, **{k: _keep(k, s.value, raw, plain) for k, s in settings.items()}}
    if not tables.is_ours and plain.get(_PIECES, 0) is None:
        del values[_PIECES]  # nothing mixes in that embedder: in others something does
    arguments = ["@architectures", *parameters]
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


def _choose_attributes(tables: Tables, advice: Advice | None) -> tuple[Tables, Setting]:
    """Leave out the tables of attributes that say nothing.

    advice (Advice, optional): What is advised for these tables.
    RETURNS (tuple): The tables that stay, and their attributes.
    """
    kept = set(advice.attrs if advice else ()) or set(tables.attrs)
    indices = [i for i, attr in enumerate(tables.attrs) if attr in kept]
    attrs = [tables.attrs[i] for i in indices]
    rows = [tables.rows[i] for i in indices]
    why = _explain_attributes(tables, advice)
    return replace(tables, attrs=attrs, rows=rows), Setting(attrs, why)


def _explain_attributes(tables: Tables, advice: Advice | None) -> str:
    reasons = [f"{attr} is left out: it is no text to hash." for attr in tables.no_text]
    reasons += [
        f"{use.attr} is left out: in the training corpus {use.says_nothing}."
        for use in (advice.attributes if advice else ())
        if use.says_nothing is not None
    ]
    if "nC" in tables.plain:
        reasons.insert(0, "The subwords stand for the characters of CharacterEmbed.")
    return " ".join(reasons)


def _choose_settings(
    tables: Tables,
    embedder: EmbedderDescription,
    advice: Advice | None,
    parameters: Mapping[str, inspect.Parameter],
) -> dict[str, Setting]:
    """Choose the arguments that belong to tables. Those that it has not are left out.

    parameters (Mapping[str, inspect.Parameter]): The embedder's arguments.
    """
    if tables.is_ours and (advice is None or not embedder.rows_for):
        return {key: Setting(value) for key, value in tables.cut_arguments()}
    if tables.is_pretrained:
        return {
            "num_hashes": Setting(MAX_HASHES, _OF_WEIGHTS),
            "rows": Setting(tables.rows, _OF_WEIGHTS),
            "seed": Setting(DEGENERATE_SEED, _OF_WEIGHTS),
        }
    hashes = parameters.get("num_hashes")
    default = MAX_HASHES if hashes is None else hashes.default
    return {
        "num_hashes": _choose_hashes(tables, embedder, advice, default),
        "rows": _choose_rows(tables, embedder, advice),
        "seed": _choose_seed(tables),
        **_choose_blocks(tables, embedder),
    }


def _choose_hashes(
    tables: Tables, embedder: EmbedderDescription, advice: Advice | None, default: int
) -> Setting:
    if not embedder.rows_for:
        return Setting(default, embedder.why_hashes)
    if advice is None or advice.hashing is None:
        # a MultiWeightedHashEmbed may have more
        given = min(tables.plain.get("num_hashes", default), MAX_HASHES)
        return Setting(given, EXPLAIN_DEFAULT if advice is None else EXPLAIN_SMALL)
    return Setting(
        advice.hashing.num_hashes,
        "Advised for the training corpus: so many keep its values apart in the least "
        f"memory, in {advice.hashing.rows} rows. That is a lower limit and not a size "
        "to use.",
    )


def _choose_rows(
    tables: Tables, embedder: EmbedderDescription, advice: Advice | None
) -> Setting:
    """Raise the rows that there are to the least for each attribute."""
    if not embedder.rows_for or advice is None or advice.hashing is None:
        return Setting(tables.rows, _ROWS_BY_DEFAULT)
    limits = [advice.hashing.rows]
    if embedder.rows_for == "symbols" and advice.lookup is not None:
        limits.append(advice.lookup.rows)
    sums = map(sum, zip(*limits, strict=True))
    least = dict(zip(advice.attrs, sums, strict=True))
    pairs = zip(tables.attrs, tables.rows, strict=True)
    raised = [max(n, least[attr]) for attr, n in pairs]
    is_same = raised == tables.rows
    return Setting(
        raised, _ROWS_BY_DEFAULT if is_same else _ROWS_RAISED[embedder.rows_for]
    )


def _choose_seed(tables: Tables) -> Setting:
    seed = tables.plain.get("seed", DEGENERATE_SEED)
    if seed != DEGENERATE_SEED:
        return Setting(seed)
    return Setting(
        SOUND_SEED,
        "With spaCy's seed, 8, hash 1 reaches half of the first table. Only weights "
        "that were trained with it need it.",
    )


def _choose_blocks(tables: Tables, embedder: EmbedderDescription) -> dict[str, Setting]:
    """Put in blocks for the first attribute, and variables for it for the others."""
    first, *others = tables.attrs
    more = _AS_THE_FIRST if others else ""
    return {
        name: Setting(
            {first: {"@architectures": architecture}}
            | dict.fromkeys(others, f"${{{tables.place}.{name}.{first}}}"),
            why + more,
        )
        for name, (architecture, why) in embedder.blocks.items()
    }
