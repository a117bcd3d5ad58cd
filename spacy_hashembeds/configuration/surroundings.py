"""Sections around the models: BLAS, optimizers, scorer, vectors, corpus."""

from collections.abc import Iterable, Mapping
from inspect import signature
from pathlib import Path
from typing import Any

from ..acceleration.conversion import BLAS
from ..optimizers import Adam
from .draft import Draft, get_name

SCORER = "spacy-hashembeds.seen_unseen_ner_scorer.v1"
#: The factories of components that it scores.
FACTORIES = ("ner", "beam_ner", "token_ner")
CLASSIFIERS = ("textcat", "textcat_multilabel")
_ALL, _SEEN, _UNSEEN = "ents_f", "ents_seen_f", "ents_unseen_f"
_WEIGHTS = "training.score_weights"

_SHARED = (
    "Half of the weight goes to ents_unseen_f, so that checkpoints are chosen by "
    "entities that training has not shown, too."
)


def put_in_blas(draft: Draft) -> None:
    """Have the pipeline choose the fastest BLAS, unless another callback is there."""
    place = "nlp.after_pipeline_creation"
    before, after = draft.resolve("nlp.before_creation"), draft.resolve(place)
    if BLAS in (get_name(before), get_name(after)):
        return
    if after:
        draft.warnings.append(
            f"[{place}] stays as it is, {get_name(after)}. It holds one callback, so "
            f"that {BLAS} is not put in."
        )
    else:
        why = (
            "Multiplies with numpy's BLAS where that is measured to be faster than "
            "Thinc's. Results differ by rounding alone."
        )
        draft.replace(place, {"@callbacks": BLAS}, {None: why})


def put_in_adam(draft: Draft, section: str, filled_in: Mapping[str, Any]) -> None:
    """Put our Adam in the place of Thinc's, with the same arguments.

    filled_in: Those that spaCy fills in, for Thinc's alone.
    """
    before = draft.get(section) or filled_in
    name = get_name(before, "@optimizers")
    if name != "Adam.v1":
        return
    defaults = signature(Adam).parameters
    block = {**before, "@optimizers": "spacy-hashembeds.Adam.v1"}
    why = f"In place of {name}: the same numbers, faster on the CPU."
    reasons: dict[str | None, str] = {"@optimizers": why}
    for key, value in filled_in.items():
        if key not in before and value != defaults[key].default:
            block[key], reasons[key] = value, f"spaCy fills it in for {name} alone."
    draft.replace(section, block, reasons)


def complete_training(draft: Draft) -> None:
    """Write out what `spacy train` wants to read in a config, and does not fill in."""
    training = draft.get("training") or {}
    seed = "${system.seed}" if "seed" in draft.config.get("system", {}) else 0
    for key, value in {"seed": seed, "gpu_allocator": None}.items():
        if key not in training:
            why = "`spacy train` needs it, and does not fill it in."
            draft.set("training", key, value, why)


def put_in_paths(draft: Draft, train: str | Path | None) -> None:
    """Name the training corpus, if there is one, and the development corpus beside it,
    in [paths] that leave them open.
    """
    paths = draft.resolve("paths") or {}
    if train is None or paths.get("train", train) is not None:
        return
    draft.set("paths", "train", str(train), "The corpus that --train names.")
    dev = find_beside(train, "dev")
    if dev.exists() and paths.get("dev", dev) is None:
        draft.set("paths", "dev", str(dev), "It stands beside the training corpus.")


def find_beside(corpus: str | Path, split: str) -> Path:
    """Find where `spacy hashembeds prepare` writes a split beside a corpus."""
    return Path(corpus).with_name(f"{split}.spacy")


def warn_of_vectors(draft: Draft, places: Iterable[str]) -> bool:
    """Warn of embedders that shall mix in vectors where the config names none."""
    if draft.get_initialize("vectors"):
        return False
    waiting = [p for p in places if draft.resolve(p).get("include_static_vectors")]
    draft.warnings += [
        f"[{place}] include_static_vectors is true, but [initialize] vectors names "
        "none, and without them training stops. Name some (--paths.vectors), or set "
        "include_static_vectors to false."
        for place in waiting
    ]
    return bool(waiting)


def warn_of_recognizers(draft: Draft, train: str | Path) -> None:
    """Warn of components that would learn entities of a corpus without any."""
    draft.warnings += [
        f"The training corpus '{train}' has no entities (doc.ents), so that '{name}' "
        "can't learn any. Is it the corpus that is meant?"
        for name, component in draft.resolve("components").items()
        if component.get("factory") in FACTORIES and name not in draft.left
    ]


def put_in_scorer(draft: Draft, train: str | Path | None) -> None:
    """Score seen and unseen entities apart, and select checkpoints by both F-scores."""
    block = {"@scorers": SCORER, "train": _find_train(draft, train)}
    why = "Scores entities whose text the training corpus has shown apart from others."
    components = draft.resolve("components")
    names = [
        name
        for name, component in components.items()
        if component.get("factory") in FACTORIES
        and isinstance(draft.config["components"][name], dict)
    ]
    for name in names:
        draft.replace(f"components.{name}.scorer", block, {"@scorers": why})
    if not names:
        left = "".join(f" '{n}' is left: {why}." for n, why in draft.left.items())
        raise ValueError(
            "--scorer scores entities, but no component has the factory 'ner', "
            f"'beam_ner' or 'token_ner' (there are: {', '.join(components)}).{left} "
            "Leave out --scorer."
        )
    _put_in_weights(draft)


def _find_train(draft: Draft, train: str | Path | None) -> str:
    """Find where the config says what the training corpus is, or else name `train`."""
    for section, key in (("paths", "train"), ("corpora.train", "path")):
        known = draft.get(section)
        if isinstance(known, dict) and key in known:
            return f"${{{section}.{key}}}"
    # no variable can reach into a section that is one itself
    path = train or draft.resolve("corpora.train.path")
    if path is None:
        raise ValueError(
            "--scorer needs the training corpus, but the config has neither 'train' in "
            "[paths] nor 'path' in [corpora.train]. Name it with --train."
        )
    return str(path)


def _put_in_weights(draft: Draft) -> None:
    """Show both F-scores in training, and give the unseen one half of the weight."""
    plain = draft.resolve(_WEIGHTS) or {}
    if _UNSEEN in plain:
        return
    raw = draft.get(_WEIGHTS)
    weights = raw if isinstance(raw, dict) else plain
    # what is not there gets spaCy's weight
    weight = plain.get(_ALL, 1.0)
    half = round((weight or 0.0) / 2, 4)
    new = {_ALL: half if weight else weight, _SEEN: 0.0, _UNSEEN: half}
    draft.replace(_WEIGHTS, {**weights, **new}, {_ALL: _SHARED})
