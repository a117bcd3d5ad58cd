"""`spacy hashembeds evaluate`."""

from pathlib import Path
from typing import Any

from spacy.cli._util import Arg, Opt

from ._app import hashembeds_cli


@hashembeds_cli.command("evaluate")
def evaluate_cli(
    model: str = Arg(..., help="Pipeline: package name or folder"),
    test: Path = Arg(..., help="Gold corpus: a .spacy file or a folder of them"),
    train: Path = Opt(
        ...,
        "--train",
        "-t",
        help="Corpus the pipeline was trained on: a .spacy file or a folder of them",
    ),
    output: Path | None = Opt(
        None, "--output", "-o", help="JSON file to write the scores to", dir_okay=False
    ),
    use_gpu: int = Opt(-1, "--gpu-id", "-g", help="GPU ID or -1 for CPU"),
) -> None:
    """Score a pipeline's entities, apart for texts seen and unseen in training.

    An entity is seen if its exact text stands as an entity in the training corpus.
    The figures are those of `spacy evaluate` on copies of the gold corpus in which
    the other kind's entities are marked missing.
    """
    from wasabi import msg

    from ..experiments.evaluation import evaluate_pipeline
    from ..files import write_json

    try:
        scores = evaluate_pipeline(model, test, train, use_gpu=use_gpu)
        _print_scores(scores)
        if output is not None:
            write_json(output, scores)
            msg.good(f"Saved scores to {output}")
    except (OSError, ValueError) as e:
        msg.fail("Can't evaluate the pipeline", str(e), exits=1)


def _print_scores(scores: dict[str, Any]) -> None:
    from wasabi import msg

    from ..scorers import KINDS

    totals = []
    for kind, prefix in KINDS.items():
        score = {key: scores[f"{prefix}_{key}"] for key in ("p", "r", "f", "support")}
        totals.append((kind.title(), *_format(score)))
    columns = ("P", "R", "F", "Support")
    msg.table(totals, header=("", *columns), aligns=tuple("lrrrr"), title="Entities")
    per_type = [
        (label, kind.title(), *_format((scores[f"{prefix}_per_type"] or {}).get(label)))
        for label in sorted(scores["ents_per_type"] or {})
        for kind, prefix in KINDS.items()
    ]
    if per_type:
        header, aligns = ("Type", "", *columns), tuple("llrrrr")
        msg.table(per_type, header=header, aligns=aligns, title="Entities by type")


def _format(score: dict[str, Any] | None) -> list[str]:
    """Give P, R and F in percent, and the support; "-" where nothing was counted."""
    if score is None:
        return ["-", "-", "-", "0"]
    percents = (score[key] for key in "prf")
    figures = ["-" if value is None else f"{value * 100:.2f}" for value in percents]
    return [*figures, str(score["support"])]
