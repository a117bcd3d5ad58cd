"""The scorer for seen and unseen entities, and its weights."""

from pathlib import Path

from .draft import Draft
from .models import find_left

SCORER = "spacy-hashembeds.seen_unseen_ner_scorer.v1"
#: The factories of components that it scores.
FACTORIES = ("ner", "beam_ner")
_ALL, _SEEN, _UNSEEN = "ents_f", "ents_seen_f", "ents_unseen_f"


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
    components = draft.config["components"]
    left = find_left(draft.config)
    names = [
        name
        for name, component in components.items()
        if isinstance(component, dict) and component.get("factory") in FACTORIES
    ]
    if not names:
        sourced = "".join(f" '{name}' is left: {why}." for name, why in left.items())
        raise ValueError(
            "--scorer scores entities, but no component has the factory 'ner' or "
            f"'beam_ner' (there are: {', '.join(components)}).{sourced} Leave out "
            "--scorer."
        )
    return names


def _find_train(draft: Draft, train: str | Path | None) -> str:
    """Find where the config says what the training corpus is."""
    for section, key in (("paths", "train"), ("corpora.train", "path")):
        block = draft.get(section)
        if isinstance(block, dict) and key in block:
            return f"${{{section}.{key}}}"
    if train is None:
        raise ValueError(
            "--scorer needs the training corpus, but the config has neither 'train' in "
            "[paths] nor 'path' in [corpora.train]. Name it with --train."
        )
    return str(train)


def _put_in_weights(draft: Draft) -> None:
    """Show both F-scores in training, and give the unseen one half of the weight."""
    weights = draft.config.setdefault("training", {}).get("score_weights") or {}
    if _UNSEEN in weights:
        return
    # what is not there gets spaCy's weight
    half = round((weights.get(_ALL, 1.0) or 0.0) / 2, 4)
    draft.replace(
        "training.score_weights",
        {**weights, _ALL: half, _SEEN: 0.0, _UNSEEN: half},
        {
            _ALL: "Half of the weight goes to ents_unseen_f, so that checkpoints are "
            "chosen by entities that training has not shown, too."
        },
    )
