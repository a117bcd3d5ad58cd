"""Embedders that take the place of others in a config."""

import inspect
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from spacy.util import registry

from ..analysis.advice import BOUND, Advice, format_bound, get_usual_rows
from ..analysis.codes import DEGENERATE_SEED, SOUND_SEED
from ..analysis.recommendation import EMBEDDER, LOOKUP
from ..architectures.embedders.descriptions import EmbedderDescription, find_description
from ..architectures.embedders.distinct_words import TEXT_ATTRIBUTES
from ..hashing.murmur import MAX_HASHES
from ..inputs import check_attributes

#: spaCy's own that ours can take the place of.
REPLACED = ("spacy.MultiHashEmbed", "spacy.HashEmbedCNN", "spacy.CharacterEmbed")
_REPLACED = re.compile(r"spacy(-legacy)?\.(MultiHashEmbed|CharacterEmbed)\.v[12]")

#: What stands for the characters of a CharacterEmbed.
_SUBWORDS = ("PREFIX", "SUFFIX", "SHAPE")

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


@dataclass(frozen=True)
class Tables:
    """The tables of an embedder that stands in a config."""

    place: str
    plain: Mapping[str, Any]  #: The block that stands there, without variables.
    embedder: EmbedderDescription  #: What is to be put in.
    attrs: list[str]  #: Those of the tables that it can have.
    rows: list[int]  #: Of these, or what spaCy would give them.
    no_text: list[str]  #: Attributes without a table, since they are no text.
    is_pretrained: bool  #: Whether training starts from weights for these tables.
    settable: Collection[str]  #: Attributes that a component ahead may set.

    @property
    def is_ours(self) -> bool:
        """Tell whether it is the embedder that is to be put in, already."""
        return self.embedder.is_named(self.plain["@architectures"])


class _Setting(NamedTuple):
    """Setting of an argument, with its reason, if it may be new."""

    value: Any
    why: str = ""


def is_replaced(architecture: str) -> bool:
    """Tell whether an embedder of ours can stand for this one, or is this one."""
    is_ours = find_description(architecture) is not None
    return is_ours or _REPLACED.fullmatch(architecture) is not None


def read_tables(
    place: str,
    plain: Mapping[str, Any],
    embedder: EmbedderDescription,
    *,
    is_pretrained: bool = False,
    settable: Collection[str] = (),
) -> Tables:
    """Read the tables of an embedder, whose settable attributes must stay."""
    if "nC" in plain:  # a CharacterEmbed
        attrs = list(dict.fromkeys([plain.get("feature", "LOWER"), *_SUBWORDS]))
        given = [plain["rows"]]
    else:
        attrs, given = plain["attrs"], plain.get("rows", [])
    names = check_attributes(attrs)
    rows = [*given, *map(get_usual_rows, names[len(given) :])]
    kept, no_text = list(range(len(names))), []
    if embedder.is_of_text:
        no_text = [name for name in names if name not in TEXT_ATTRIBUTES]
        if lost := [name for name in no_text if name in settable]:
            raise ValueError(
                f"[{place}] embeds {', '.join(lost)}, which components ahead of it may "
                f"set and {embedder.architecture} can't embed: it is no text. Put in "
                "another embedder (--embedder), or take it out of 'attrs'."
            )
        # the first table of each
        kept = [names.index(n) for n in dict.fromkeys(names) if n not in no_text]
        if not kept:
            raise ValueError(
                f"[{place}] should embed some text, such as NORM, for "
                f"{embedder.architecture} to take its place, but has only "
                f"{', '.join(names)}."
            )
    return Tables(
        place=place,
        plain=plain,
        embedder=embedder,
        attrs=[names[i] for i in kept],
        rows=[rows[i] for i in kept],
        no_text=no_text,
        is_pretrained=is_pretrained,
        settable=settable,
    )


def write_embedder(
    raw: Mapping[str, Any], tables: Tables, advice: Advice | None
) -> tuple[dict[str, Any], dict[str | None, str]]:
    """Write an embedder's block in place of `raw`, and reasons for what may be new."""
    plain, embedder = tables.plain, tables.embedder
    if advice and advice.attrs:
        kept = [i for i, attr in enumerate(tables.attrs) if attr in advice.attrs]
        tables = replace(
            tables,
            attrs=[tables.attrs[i] for i in kept],
            rows=[tables.rows[i] for i in kept],
        )
    function = registry.architectures.get(embedder.architecture)
    parameters = inspect.signature(function).parameters
    settings = {
        "@architectures": _Setting(
            embedder.architecture,
            f"In place of {plain['@architectures']}: {embedder.purpose}"
            + f" {LOOKUP}" * (embedder == EMBEDDER),
        ),
        "attrs": _Setting(tables.attrs, _explain_attributes(tables, advice)),
        **_choose_settings(tables, advice, parameters),
    }
    values = {**raw, **{k: _keep(k, s.value, raw, plain) for k, s in settings.items()}}
    if not tables.is_ours and plain.get("maxout_pieces", 0) is None:
        del values["maxout_pieces"]  # nothing mixes in that embedder
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
    advice: Advice | None,
    parameters: Mapping[str, inspect.Parameter],
) -> dict[str, _Setting]:
    """Choose settings for tables, of which the embedder takes those that it has."""
    if tables.is_ours and (advice is None or not tables.embedder.rows_for):
        return {key: _Setting(value) for key, value in _cut_arguments(tables)}
    if tables.is_pretrained:
        return {
            "num_hashes": _Setting(MAX_HASHES, _OF_WEIGHTS),
            "rows": _Setting(tables.rows, _OF_WEIGHTS),
            "seed": _Setting(DEGENERATE_SEED, _OF_WEIGHTS),
        }
    hashes = parameters.get("num_hashes")
    default = MAX_HASHES if hashes is None else hashes.default
    return {
        "num_hashes": _choose_hashes(tables, advice, default),
        "rows": _choose_rows(tables, advice),
        "seed": _choose_seed(tables),
        **_choose_blocks(tables),
    }


def _cut_arguments(tables: Tables) -> Iterator[tuple[str, Any]]:
    """Leave out what arguments have for attributes that are left out."""
    names = check_attributes(tables.plain["attrs"])
    for key, value in tables.plain.items():
        if isinstance(value, list) and len(value) == len(names) and key != "attrs":
            pairs = zip(names, value, strict=True)
            yield key, [item for attr, item in pairs if attr in tables.attrs]
        elif isinstance(value, Mapping) and set(value) == set(names):
            yield key, {attr: value[attr] for attr in tables.attrs}


def _choose_hashes(tables: Tables, advice: Advice | None, default: int) -> _Setting:
    if not tables.embedder.rows_for:
        return _Setting(default, tables.embedder.why_hashes)
    if advice is None or advice.hashing is None:
        # a MultiWeightedHashEmbed may have more
        given = min(tables.plain.get("num_hashes", default), MAX_HASHES)
        return _Setting(given, EXPLAIN_DEFAULT if advice is None else EXPLAIN_SMALL)
    return _Setting(
        advice.hashing.num_hashes,
        "Advised for the training corpus: so many keep its values apart in the least "
        "memory.",
    )


def _choose_rows(tables: Tables, advice: Advice | None) -> _Setting:
    """Raise the rows that there are to the least for each attribute."""
    rows_for = tables.embedder.rows_for
    if not rows_for or advice is None or advice.hashing is None:
        return _Setting(tables.rows, _ROWS_BY_DEFAULT)
    limits = [advice.hashing.rows]
    if rows_for == "symbols" and advice.lookup is not None:
        limits.append(advice.lookup.rows)
    sums = map(sum, zip(*limits, strict=True))
    least = dict(zip(advice.attrs, sums, strict=True))
    pairs = zip(tables.attrs, tables.rows, strict=True)
    raised = [max(n, least[attr]) for attr, n in pairs]
    is_same = raised == tables.rows
    return _Setting(raised, _ROWS_BY_DEFAULT if is_same else _ROWS_RAISED[rows_for])


def _choose_seed(tables: Tables) -> _Setting:
    seed = tables.plain.get("seed", DEGENERATE_SEED)
    if seed != DEGENERATE_SEED:
        return _Setting(seed)
    return _Setting(
        SOUND_SEED,
        "With spaCy's seed, 8, hash 1 reaches half of the first table. Only weights "
        "that were trained with it need it.",
    )


def _choose_blocks(tables: Tables) -> dict[str, _Setting]:
    """Put in blocks for the first attribute, and variables for it for the others."""
    first, *others = tables.attrs
    more = " All are as the first: what is changed there is changed for them too."
    return {
        name: _Setting(
            {first: {"@architectures": architecture}}
            | dict.fromkeys(others, f"${{{tables.place}.{name}.{first}}}"),
            why + more * bool(others),
        )
        for name, (architecture, why) in tables.embedder.blocks.items()
    }
