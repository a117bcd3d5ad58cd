"""The tables of an embedder that stands in a config, and what to make of them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..analysis.advice import BOUND, Advice
from ..analysis.codes import DEGENERATE_SEED, SOUND_SEED
from ..analysis.reasons import format_bound
from ..architectures.embedders.distinct_words import TEXT_ATTRIBUTES
from ..checks import check_attributes
from ..hashing.murmur import MAX_HASHES

EXPLAIN_DEFAULT = "The default: --train would have it chosen by the training corpus."
EXPLAIN_SMALL = "The default: the training corpus is too small to choose by."

_ROWS_BY_DEFAULT = "Those that were there; for other attributes, spaCy's."
_ROWS_RAISED_FOR_SYMBOLS = (
    "Raised to have room for the frequent symbols of the training corpus, and the "
    "lower limit for the others. Rows that these don't reach are left out."
)
_ROWS_RAISED = (
    f"Raised to the lower limit: in fewer, more than {format_bound(BOUND)} of an "
    "attribute's values in the training corpus would share all their rows with another."
)

_OF_WEIGHTS = (
    "spaCy's: the weights that [initialize] init_tok2vec names were trained with it."
)

_REPLACED = re.compile(
    r"spacy(-legacy|-hashembeds)?\."
    r"(MultiHashEmbed|CharacterEmbed|MultiFewerHashEmbed|MultiEmbed|MultiHybridEmbed"
    r"|MultiWeightedHashEmbed|HashFormerEmbed)\.v[12]"
)

#: The rows of `spacy init config`. It has no other attributes: for those, as for NORM.
_ROWS = {"PREFIX": 1000, "SUFFIX": 2500, "SHAPE": 2500}
_MOST_ROWS = 5000

#: The default of MultiHybridEmbed, which hashes only the symbols that are not frequent.
_HYBRID_HASHES = 2

#: The default of MultiWeightedHashEmbed.
WEIGHTED_HASHES = 2
_EXPLAIN_WEIGHTED = (
    "As in the paper (Svenstrup et al. 2017), which found no use in more than 3."
)

HASH_FORMER = "spacy-hashembeds.HashFormerEmbed.v1"
HASHER = "spacy-hashembeds.LSHHasher.v1"
_COMPRESSOR = "spacy-hashembeds.ProjCompressor.v1"
_EXPLAIN_HASHERS = (
    "128 bits for each attribute, of which similar spellings have most in common."
)
_EXPLAIN_COMPRESSORS = (
    "128 parameters for each dimension, whatever the number of words."
)
_AS_THE_FIRST = " All are as the first: what is changed there is changed for them too."

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


class Setting(NamedTuple):
    """What to set an argument to, and why, if it may be new."""

    value: Any
    why: str | None = None


def is_replaced(architecture: str) -> bool:
    """Tell whether an embedder of ours can stand for this one, or is this one."""
    return _REPLACED.fullmatch(architecture) is not None


def find_attributes(
    place: str, plain: Mapping[str, Any], architecture: str
) -> list[str]:
    """Find the attributes of an embedder that another one can embed, each once.

    See `read_tables`.
    """
    return list(dict.fromkeys(read_tables(place, plain, architecture).attrs))


def read_tables(place: str, plain: Mapping[str, Any], architecture: str) -> Tables:
    """Read the tables of an embedder.

    place (str): Its place in the config.
    plain (Mapping[str, Any]): Its block, without variables.
    architecture (str): The name of the embedder that is to be put in.
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
    is_of_text = is_same(architecture, HASH_FORMER)
    fitting = _find_text(place, names) if is_of_text else range(len(names))
    return Tables(
        attrs=[names[i] for i in fitting],
        rows=[rows[i] for i in fitting],
        place=place,
        plain=plain,
        is_ours=is_same(plain["@architectures"], architecture),
        no_text=[n for n in names if is_of_text and n not in TEXT_ATTRIBUTES],
    )


def _find_text(place: str, attrs: Sequence[str]) -> list[int]:
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
            f"[{place}] should embed some text, such as NORM, for {HASH_FORMER} to "
            f"take its place, but has only {', '.join(attrs)}."
        )
    return found


def choose_attributes(tables: Tables, advice: Advice | None) -> tuple[Tables, Setting]:
    """Leave out the tables of attributes that say nothing.

    advice (Advice, optional): What is advised for these tables.
    RETURNS (tuple): The tables that stay, and their attributes.
    """
    kept = set(advice.attrs if advice else ()) or set(tables.attrs)
    indices = [i for i, attr in enumerate(tables.attrs) if attr in kept]
    attrs = [tables.attrs[i] for i in indices]
    rows = [tables.rows[i] for i in indices]
    return replace(tables, attrs=attrs, rows=rows), Setting(
        attrs, _explain_attributes(tables, advice)
    )


def _explain_attributes(tables: Tables, advice: Advice | None) -> str:
    reasons = [
        *(f"{attr} is left out: it is no text to hash." for attr in tables.no_text),
    ]
    reasons += [
        f"{use.attr} is left out: in the training corpus {use.says_nothing}."
        for use in (advice.attributes if advice else ())
        if use.says_nothing is not None
    ]
    if "nC" in tables.plain:
        reasons.insert(0, "The subwords stand for the characters of CharacterEmbed.")
    return " ".join(reasons)


def choose_hashing(tables: Tables, advice: Advice | None) -> dict[str, Setting]:
    """Choose the hashes, rows and seed of a MultiFewerHashEmbed."""
    if tables.is_ours and advice is None:
        return {}
    if tables.is_pretrained:
        return _keep_hashing(tables)
    limit = None if advice is None else advice.hashing
    if advice is None or limit is None:
        hashes = Setting(
            # a MultiWeightedHashEmbed may have more
            min(tables.plain.get("num_hashes", MAX_HASHES), MAX_HASHES),
            EXPLAIN_DEFAULT if advice is None else EXPLAIN_SMALL,
        )
        rows = Setting(tables.rows, _ROWS_BY_DEFAULT)
    else:
        hashes = Setting(limit.num_hashes, _explain_hashes(limit.rows))
        least = dict(zip(advice.attrs, limit.rows, strict=True))
        rows = _raise_rows(tables, least, _ROWS_RAISED)
    return {"num_hashes": hashes, "rows": rows, "seed": _choose_seed(tables)}


def choose_hybrid(tables: Tables, advice: Advice | None) -> dict[str, Setting]:
    """Choose the hashes, rows and seed of a MultiHybridEmbed.

    The hashes and rows are those that would keep all values apart, beside a row for
    each frequent symbol: more than enough for the others.
    """
    if tables.is_pretrained or (tables.is_ours and advice is None):
        return {}
    settings = choose_hashing(tables, advice)
    if advice is None or advice.lookup is None or advice.hashing is None:
        if "num_hashes" not in tables.plain:
            settings["num_hashes"] = Setting(_HYBRID_HASHES, settings["num_hashes"].why)
        return settings
    pairs = zip(advice.lookup.rows, advice.hashing.rows, strict=True)
    least = dict(zip(advice.attrs, map(sum, pairs), strict=True))
    return {**settings, "rows": _raise_rows(tables, least, _ROWS_RAISED_FOR_SYMBOLS)}


def _raise_rows(tables: Tables, least: Mapping[str, int], why: str) -> Setting:
    """Raise the rows that there are to the least for each attribute."""
    raised = [
        max(n, least[attr]) for attr, n in zip(tables.attrs, tables.rows, strict=True)
    ]
    return Setting(raised, _ROWS_BY_DEFAULT if raised == tables.rows else why)


def _keep_hashing(tables: Tables) -> dict[str, Setting]:
    """Keep the hashing by which rows of weights were trained: spaCy's."""
    return {
        "num_hashes": Setting(MAX_HASHES, _OF_WEIGHTS),
        "rows": Setting(tables.rows, _OF_WEIGHTS),
        "seed": Setting(DEGENERATE_SEED, _OF_WEIGHTS),
    }


def _explain_hashes(rows: list[int]) -> str:
    return (
        "Advised for the training corpus: so many keep its values apart in the least "
        f"memory, in {rows} rows. That is a lower limit and not a size to use."
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


def choose_weighted(tables: Tables, advice: Advice | None) -> dict[str, Setting]:
    """Choose the hashes, rows and seed of a MultiWeightedHashEmbed.

    Rows are never raised: values that share component vectors have other weights, and
    the frequent ones share these with none.
    """
    if tables.is_ours:
        return {"rows": Setting(tables.rows), **_cut_importance_rows(tables)}
    return {
        "num_hashes": Setting(WEIGHTED_HASHES, _EXPLAIN_WEIGHTED),
        "rows": Setting(tables.rows, _ROWS_BY_DEFAULT),
        "seed": _choose_seed(tables),
    }


def _cut_importance_rows(tables: Tables) -> dict[str, Setting]:
    """Leave out those of attributes that are left out, if there are any at all."""
    given = tables.plain.get("importance_rows")
    if given is None:
        return {}
    pairs = zip(check_attributes(tables.plain["attrs"]), given, strict=True)
    kept = [rows for attr, rows in pairs if attr in tables.attrs]
    return {"importance_rows": Setting(kept)}


def choose_lookup(tables: Tables, advice: Advice | None) -> dict[str, Setting]:
    """Choose nothing more for a MultiEmbed: its rows come of the symbols."""
    return {}


def choose_codes(tables: Tables, advice: Advice | None) -> dict[str, Setting]:
    """Choose the hashers and compressors of a HashFormerEmbed."""
    arguments = ("hashers", "compressors")
    if tables.is_ours:
        return {
            name: Setting({attr: tables.plain[name][attr] for attr in tables.attrs})
            for name in arguments
        }
    first, *others = tables.attrs
    more = _AS_THE_FIRST if others else ""
    blocks = {
        name: {first: {"@architectures": architecture}}
        | dict.fromkeys(others, f"${{{tables.place}.{name}.{first}}}")
        for name, architecture in zip(arguments, (HASHER, _COMPRESSOR), strict=True)
    }
    return {
        "hashers": Setting(blocks["hashers"], _EXPLAIN_HASHERS + more),
        "compressors": Setting(blocks["compressors"], _EXPLAIN_COMPRESSORS + more),
    }


def is_same(architecture: str, other: str) -> bool:
    """Tell whether two names are of one embedder: 'spacy.MultiEmbed.v1' is ours."""
    return architecture.split(".", 1)[1] == other.split(".", 1)[1]
