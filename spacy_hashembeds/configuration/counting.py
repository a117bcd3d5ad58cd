"""The callback that counts the training corpus for embedders that need it."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..analysis.advice import Advice
from ..analysis.pipelines import COUNT_SYMBOLS
from ..analysis.recommendation import EMBEDDER
from ..files import quote
from ..loading import find_architectures
from .draft import Draft, get_name
from .embedders import EXPLAIN_DEFAULT, EXPLAIN_SMALL, Tables

#: The default of the callback, and what the report used.
_MIN_FREQ = 10
#: What lookup was measured with.
_MIN_FREQ_OF_LOOKUP = 2

#: The layer whose n-grams are counted.
_HASHER = "spacy-hashembeds.LSHHasher.v1"

COUNT_NGRAMS = "spacy-hashembeds.count_character_ngrams.v1"
#: What each callback of ours counts.
_COUNTED = {COUNT_SYMBOLS: "symbols", COUNT_NGRAMS: "n-grams"}
#: What gave symbols to spacy.MultiEmbed.v1 (docs/report-project.md), and ours count.
_SET_TABLES = {"@callbacks": "set_attr", "attr": "tables"}
#: What they have in common.
_SHARED = ("corpus", "limit")
_BEFORE_INIT = "initialize.before_init"


def put_in_counting(
    draft: Draft,
    tables: Sequence[Tables],
    advice: Mapping[str, Advice],
) -> None:
    """Have the training corpus counted, if the embedder that was put in needs it."""
    measure = tables[0].embedder.symbol_width
    if measure is None:
        _put_in_ngram_counting(draft, tables)
        return
    blocks = {each.place: draft.resolve(each.place) for each in tables}
    widths = {place: measure(block) for place, block in blocks.items()}
    waiting = [p for p, b in blocks.items() if widths[p] and not b.get("tables")]
    if not waiting:
        return
    other = _find_other_callback(draft)
    if other is not None:
        raise ValueError(
            f"[initialize] before_init holds one callback, and {other} stands there, "
            f"so that {COUNT_SYMBOLS} can't count the symbols for {_join(waiting)}. "
            "Take it out of the config and run this again. Then count the symbols into "
            "a file with `spacy hashembeds tables`, name that as 'tables' in the "
            "embedder's section, and put the callback back in the place of ours."
        )
    where = f"In {_join(waiting)} each symbol that is seen often enough gets a row."
    is_lookup = tables[0].embedder == EMBEDDER
    default = _MIN_FREQ_OF_LOOKUP if is_lookup else _MIN_FREQ
    chosen = _choose_min_freq(advice, widths)
    _write_counting(draft, COUNT_SYMBOLS, where, default, *chosen)


def _choose_min_freq(
    advice: Mapping[str, Advice], widths: Mapping[str, int]
) -> tuple[int | None, str]:
    """Choose one `min_freq` for all embedders. `widths`: parameters of a symbol."""
    if not advice:
        return None, EXPLAIN_DEFAULT
    chosen = [a.lookup.min_freq for a in advice.values() if a.lookup is not None]
    if not chosen:
        return None, EXPLAIN_SMALL
    min_freq = max(chosen)  # which gives none of them more rows than were advised
    size = sum(
        sum(option.rows) * widths[place]
        for place, found in advice.items()
        for option in found.lookup_options
        if option.min_freq == min_freq
    )
    return min_freq, (
        "A rule of size, not of scores: the lowest from 2, so that rarer symbols train "
        "what all of them share, with no more rows than stood here, or spaCy's. The "
        f"rows of symbols have some {size:,} parameters: a higher number gives fewer."
    )


def _put_in_ngram_counting(draft: Draft, tables: Sequence[Tables]) -> None:
    hashers = [
        (each, place)
        for place, block in find_architectures(draft.config).items()
        for each in tables
        if place.startswith(f"{each.place}.")
        and block["@architectures"] == _HASHER
        and block.get("max_ngrams", 1) is not None
    ]
    waiting = list(dict.fromkeys(each.place for each, _ in hashers))
    other = _find_other_callback(draft)
    if not waiting:
        counted = _COUNTED.get(get_name(draft.resolve(_BEFORE_INIT)))
        if counted is not None:
            why = f"No embedder needs {counted} now."
            draft.set("initialize", "before_init", None, why)
    elif other is None:
        counts = "its most frequent character n-grams count, and no others"
        _write_counting(draft, COUNT_NGRAMS, f"In {_join(waiting)} {counts}.")
    else:
        why = (
            f"Any n-gram counts, not only those of the training corpus: {other} stands "
            f"in [{_BEFORE_INIT}], which holds one callback, so that none can count "
            "these."
        )
        for each, place in hashers:
            # hashers that were there stay, and variables are as they name
            if not each.is_ours and isinstance(draft.get(place), dict):
                draft.set(place, "max_ngrams", None, why)


def _write_counting(
    draft: Draft,
    callback: str,
    where: str,
    default: int | None = None,
    min_freq: int | None = None,
    why_min_freq: str = "",
) -> None:
    """Put in a callback, or keep what it has. `where`: what counts, and in which.

    `min_freq` is what is advised for it, and `default` what a new one gets without.
    """
    raw, current = draft.get(_BEFORE_INIT), draft.resolve(_BEFORE_INIT)
    # a variable that stands for one gives its values
    known = next((block for block in (raw, current) if isinstance(block, dict)), {})
    is_other = get_name(known) != callback
    has_corpus = "train_corpus" in draft.config.get("training", {})
    block: dict[str, Any] = {
        "@callbacks": callback,
        "corpus": "${training.train_corpus}" if has_corpus else "corpora.train",
    }
    if is_other and default is not None:
        block["min_freq"] = default
    block |= {k: v for k, v in known.items() if not is_other or k in _SHARED}
    if min_freq is not None:
        block["min_freq"] = min_freq
    reasons: dict[str | None, str] = {"min_freq": why_min_freq}
    if is_other:
        why = f"Counts the training corpus when training starts. {where}"
        if _sets_tables(current):
            why += " So nothing needs the file that set_attr read here."
        reasons["@callbacks" if known else None] = why
    draft.replace(_BEFORE_INIT, block, reasons)


def _find_other_callback(draft: Draft) -> str | None:
    """Find the callback that stands in the place of ours."""
    current = draft.resolve(_BEFORE_INIT)
    if not current or get_name(current) in _COUNTED or _sets_tables(current):
        return None
    return quote(get_name(current))


def _sets_tables(callback: Any) -> bool:
    return isinstance(callback, dict) and _SET_TABLES.items() <= callback.items()


def _join(places: Sequence[str]) -> str:
    return " and ".join(f"[{place}]" for place in places)
