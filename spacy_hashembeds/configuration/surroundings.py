"""What stands around the models: callbacks, and the path of the corpus."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spacy.util import dot_to_object

from ..acceleration.conversion import BLAS
from ..analysis.pipelines import COUNT_SYMBOLS
from .draft import Draft

#: The default of the callback, and what the report used.
_MIN_FREQ = 10


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
    draft: Draft, places: list[str], min_freq: int | None, why: str
) -> None:
    """Have the symbols of the training corpus counted for embedders that need them.

    places (list[str]): Where these embedders stand.
    min_freq (int, optional): How often a symbol must be seen to have a row. Default:
        what the config says, or the callback's default.
    why (str): The reason for that number.
    RAISES (ValueError): If another callback stands in the only place for it.
    """
    waiting = [place for place in places if _needs_symbols(draft.resolve(place))]
    if not waiting:
        return
    draft.config.setdefault("initialize", {})
    current = draft.resolve("initialize.before_init")
    if current and _get_name(current) != COUNT_SYMBOLS:
        raise ValueError(_refuse_callback(_get_name(current), waiting))
    raw = draft.get("initialize.before_init")
    # a variable that stands for one gives its values
    known = next((block for block in (raw, current) if isinstance(block, dict)), {})
    block = {"corpus": _find_corpus(draft), "min_freq": _MIN_FREQ, **known}
    if min_freq is not None:
        block["min_freq"] = min_freq
    of_section = "" if known else _explain_counting(waiting)
    draft.replace(
        "initialize.before_init",
        {"@callbacks": COUNT_SYMBOLS, **block},
        {None: of_section, "min_freq": why},
    )


def _needs_symbols(block: Mapping[str, Any]) -> bool:
    """Say whether the symbols of an embedder are to be counted.

    They may come from a file, or be hashed to the weights of a MultiWeightedHashEmbed.
    """
    return not block.get("tables") and block.get("importance_rows") is None


def remove_symbol_counting(draft: Draft) -> None:
    """Remove our callback, where there is nothing left to count for."""
    if _get_name(draft.resolve("initialize.before_init")) == COUNT_SYMBOLS:
        draft.set("initialize", "before_init", None, "No embedder needs symbols now.")


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


def _explain_counting(waiting: list[str]) -> str:
    places = " and ".join(f"[{place}]" for place in waiting)
    return (
        f"Counts the training corpus when training starts. In {places} each symbol "
        "that is seen often enough gets a row."
    )


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
