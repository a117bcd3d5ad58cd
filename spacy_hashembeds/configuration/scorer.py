"""The scorer for seen and unseen entities, and its weights."""

from pathlib import Path

from .draft import Draft
from .models import find_left

SCORER = "spacy-hashembeds.seen_unseen_ner_scorer.v1"
#: The factories of components that it scores.
FACTORIES = ("ner", "beam_ner", "token_ner")
_ALL, _SEEN, _UNSEEN = "ents_f", "ents_seen_f", "ents_unseen_f"
_WEIGHTS = "training.score_weights"

_SHARED = (
    "Half of the weight goes to ents_unseen_f, so that checkpoints are chosen by "
    "entities that training has not shown, too."
)
_NOTHING_TO_SHARE = (
    "ents_f has no weight to share, so that checkpoints are chosen by other scores "
    "alone. Give ents_unseen_f a weight to have them chosen by entities that training "
    "has not shown."
)


def put_in_scorer(draft: Draft, train: str | Path | None) -> None:
    """Score seen and unseen entities apart, and select checkpoints by both F-scores.

    train (str | Path, optional): The training corpus, for a config that names none.
    RAISES (ValueError): If the pipeline recognizes no entities.
    """
    path = _find_train(draft, train)
    for name in _find_recognizers(draft):
        draft.replace(
            f"components.{name}.scorer",
            {"@scorers": SCORER, "train": path},
            {
                "@scorers": "Scores entities whose text the training corpus has shown "
                "apart from others."
            },
        )
    _put_in_weights(draft)


def _find_recognizers(draft: Draft) -> list[str]:
    components = draft.resolve("components")
    raw = draft.config["components"]
    names = [
        name
        for name, component in components.items()
        if component.get("factory") in FACTORIES and isinstance(raw[name], dict)
    ]
    if not names:
        left = "".join(
            f" '{name}' is left: {why}."
            for name, why in find_left(draft.config).items()
        )
        raise ValueError(
            "--scorer scores entities, but no component has the factory 'ner', "
            f"'beam_ner' or 'token_ner' (there are: {', '.join(components)}).{left} "
            "Leave out --scorer."
        )
    return names


def _find_train(draft: Draft, train: str | Path | None) -> str:
    """Find where the config says what the training corpus is."""
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
    draft.config.setdefault("training", {})
    plain = draft.resolve(_WEIGHTS) or {}
    if _UNSEEN in plain:
        return
    raw = draft.get(_WEIGHTS)
    weights = raw if isinstance(raw, dict) else plain
    # what is not there gets spaCy's weight
    weight = plain.get(_ALL, 1.0)
    if weight:
        half = round(weight / 2, 4)
        new = {_ALL: half, _SEEN: 0.0, _UNSEEN: half}
        draft.replace(_WEIGHTS, {**weights, **new}, {_ALL: _SHARED})
    else:
        new = {_SEEN: 0.0, _UNSEEN: 0.0}
        draft.replace(_WEIGHTS, {**weights, **new}, {_UNSEEN: _NOTHING_TO_SHARE})
        draft.warnings.append(f"[{_WEIGHTS}] {_UNSEEN} is 0. {_NOTHING_TO_SHARE}")
