"""What stands around the models: callbacks, and the path of the corpus."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from spacy.util import dot_to_object

from ..acceleration.conversion import BLAS
from ..analysis.pipelines import COUNT_SYMBOLS
from .draft import Draft

#: The default of the callback, and what the report used.
_MIN_FREQ = 10

#: The layer whose n-grams are counted.
_HASHER = "spacy-hashembeds.LSHHasher.v1"

COUNT_NGRAMS = "spacy-hashembeds.count_character_ngrams.v1"
#: What each callback of ours counts.
_COUNTED = {COUNT_SYMBOLS: "symbols", COUNT_NGRAMS: "n-grams"}
#: What they have in common.
_SHARED = ("corpus", "limit")
_BEFORE_INIT = "initialize.before_init"


def put_in_blas(draft: Draft) -> None:
    """Have the pipeline choose the fastest BLAS, unless another callback is there."""
    nlp = draft.resolve("nlp")
    before, after = nlp.get("before_creation"), nlp.get("after_pipeline_creation")
    if BLAS in (_get_name(before), _get_name(after)):
        return
    if after:
        draft.warnings.append(
            f"[nlp.after_pipeline_creation] stays as it is, {_get_name(after)}. It "
            f"holds one callback, so that {BLAS} is not put in."
        )
        return
    draft.replace(
        "nlp.after_pipeline_creation",
        {"@callbacks": BLAS},
        {
            None: "Multiplies with numpy's BLAS where that is measured to be faster "
            "than Thinc's. Results differ by rounding alone."
        },
    )


def put_in_symbol_counting(
    draft: Draft, waiting: list[str], min_freq: int | None, why: str
) -> None:
    """Have the symbols of the training corpus counted for embedders that need them.

    waiting (list[str]): Where these embedders stand.
    min_freq (int, optional): How often a symbol must be seen to have a row. Default:
        what the config says, or the callback's default.
    why (str): The reason for that number.
    RAISES (ValueError): If another callback stands in the only place for it.
    """
    if not waiting:
        return
    other = _find_other_callback(draft)
    if other is not None:
        raise ValueError(_refuse_callback(other, waiting))
    counts = "each symbol that is seen often enough gets a row"
    _write_counting(
        draft,
        COUNT_SYMBOLS,
        {None: _explain_counting(waiting, counts), "min_freq": why},
        defaults={"min_freq": _MIN_FREQ},
        chosen={} if min_freq is None else {"min_freq": min_freq},
    )


def put_in_ngram_counting(
    draft: Draft, places: Sequence[str], known: Sequence[str]
) -> None:
    """Have the character n-grams of the training corpus counted for hashers.

    Where another callback stands in the only place for it, any n-gram counts instead.

    places (Sequence[str]): Where their embedders stand.
    known (Sequence[str]): Where these stood before. Their hashers stay as they are.
    """
    hashers = {place: list(_find_hashers(draft, place)) for place in places}
    if not any(hashers.values()):
        remove_counting(draft)
        return
    other = _find_other_callback(draft)
    if other is None:
        waiting = [place for place, found in hashers.items() if found]
        counts = "its most frequent character n-grams count, and no others"
        _write_counting(
            draft,
            COUNT_NGRAMS,
            {None: _explain_counting(waiting, counts)},
            defaults={},
            chosen={},
        )
        return
    reason = (
        f"Any n-gram counts, not only those of the training corpus: {other} stands in "
        f"[{_BEFORE_INIT}], which holds one callback, so that none can count these."
    )
    for place in set(places) - set(known):
        for hasher in hashers[place]:
            if isinstance(draft.get(hasher), dict):  # variables are as what they name
                draft.set(hasher, "max_ngrams", None, reason)


def _find_hashers(draft: Draft, place: str) -> Iterator[str]:
    """Find the sections of hashers for which n-grams are to be counted."""
    block = draft.resolve(place)
    for key, value in block.items():
        if isinstance(value, Mapping):
            yield from _find_hashers(draft, f"{place}.{key}")
    is_hasher = block.get("@architectures") == _HASHER
    if is_hasher and block.get("max_ngrams", 1) is not None:
        yield place


def _find_other_callback(draft: Draft) -> str | None:
    """Find the callback that stands in the place of ours."""
    current = draft.resolve(_BEFORE_INIT)
    name = _get_name(current)
    return name if current and name not in _COUNTED else None


def _write_counting(
    draft: Draft,
    callback: str,
    why: Mapping[str | None, str],
    *,
    defaults: Mapping[str, Any],
    chosen: Mapping[str, Any],
) -> None:
    """Put in a callback that counts the training corpus, and keep what it has.

    why (Mapping[str | None, str]): The reasons, under None that for the callback.
    defaults (Mapping[str, Any]): What to set where nothing is set.
    chosen (Mapping[str, Any]): What to set in any case.
    """
    draft.config.setdefault("initialize", {})
    raw, current = draft.get(_BEFORE_INIT), draft.resolve(_BEFORE_INIT)
    # a variable that stands for one gives its values
    known = next((block for block in (raw, current) if isinstance(block, dict)), {})
    is_other = _get_name(known) != callback
    kept = {k: v for k, v in known.items() if not is_other or k in _SHARED}
    section = {"@callbacks": callback, "corpus": _find_corpus(draft)}
    reasons = dict(why)
    of_callback = reasons.pop(None)
    if is_other:
        reasons["@callbacks" if known else None] = of_callback
    draft.replace(_BEFORE_INIT, {**section, **defaults, **kept, **chosen}, reasons)


def remove_counting(draft: Draft) -> None:
    """Remove our callbacks, where there is nothing left to count for."""
    counted = _COUNTED.get(_get_name(draft.resolve(_BEFORE_INIT)))
    if counted is not None:
        draft.set(
            "initialize", "before_init", None, f"No embedder needs {counted} now."
        )


def complete_training(draft: Draft) -> None:
    """Write out what `spacy train` wants to read in a config, and does not fill in."""
    training = draft.config.setdefault("training", {})
    seed = "${system.seed}" if "seed" in draft.config.get("system", {}) else 0
    for key, value in {"seed": seed, "gpu_allocator": None}.items():
        if key not in training:
            why = "`spacy train` needs it, and does not fill it in."
            draft.set("training", key, value, why)


def put_in_path(draft: Draft, train: str | Path) -> None:
    """Name the training corpus in [paths], if that leaves it open."""
    paths = draft.resolve("paths") or {}
    if "train" in paths and paths["train"] is None:
        why = "The corpus that --train names."
        draft.set("paths", "train", str(train), why)


def warn_of_vectors(draft: Draft, places: list[str]) -> bool:
    """Warn of embedders that shall mix in vectors where the config names none.

    places (list[str]): Where the embedders stand.
    RETURNS (bool): Whether there are any.
    """
    config = draft.interpolate()
    # what spaCy fills in
    default = config.get("paths", {}).get("vectors")
    if config.get("initialize", {}).get("vectors", default):
        return False
    waiting = [
        place
        for place in places
        if dot_to_object(config, place).get("include_static_vectors")
    ]
    draft.warnings += [
        f"[{place}] include_static_vectors is true, but [initialize] vectors names "
        "none, and without them training stops. Name some (--paths.vectors), or set "
        "include_static_vectors to false."
        for place in waiting
    ]
    return bool(waiting)


def _find_corpus(draft: Draft) -> str:
    if "train_corpus" in draft.config.get("training", {}):
        return "${training.train_corpus}"
    return "corpora.train"


def _explain_counting(waiting: list[str], counts: str) -> str:
    places = " and ".join(f"[{place}]" for place in waiting)
    return f"Counts the training corpus when training starts. In {places} {counts}."


def _refuse_callback(name: str, waiting: list[str]) -> str:
    places = " and ".join(f"[{place}]" for place in waiting)
    return (
        f"[initialize] before_init holds one callback, and {name} stands there, so "
        f"that {COUNT_SYMBOLS} can't count the symbols for {places}. Take it out of "
        "the config and run this again. Then count the symbols into a file with "
        "`spacy hashembeds tables`, name that as 'tables' in the embedder's section, "
        "and put the callback back in the place of ours."
    )


def _get_name(callback: Any) -> str:
    """Name a callback, which may be its name alone."""
    if isinstance(callback, dict):
        return str(callback.get("@callbacks"))
    return str(callback)
