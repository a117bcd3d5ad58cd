"""`python -m lab compare`."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.cli._util import Arg, Opt

from spacy_hashembeds.cli._app import failing
from spacy_hashembeds.cli._output import JSON, QUIET, json_output, show_progress

from ._app import give, lab_cli

if TYPE_CHECKING:
    from spacy_hashembeds.display import Part

#: In the order of their columns.
_RATIOS = ("prr", "pcr_all", "pcr_emb", "pcr_tables", "poep")


@lab_cli.command("compare")
def compare_cli(
    metrics: list[Path] = Arg(
        ..., help="The files of trials (seedN.json), all of one dataset."
    ),
    corpus: Path = Opt(
        ..., "--corpus", "-c", help="The corpus to time the pipelines on (.spacy)."
    ),
    accelerate: bool = Opt(
        False,
        "--accelerate",
        help="Add each pipeline with spaCy's layers once more, accelerated and checked "
        "for equal predictions.",
    ),
    output: Path | None = json_output("the comparison"),
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Compare trials: their scores, size and speed.

    Scores are those on all, seen and unseen entities, or, of text classifiers,
    accuracy and F1. Speed is measured anew, with all pipelines taking turns in one
    run. Close other programs: where timings were disturbed, it says so. The first
    trial is what the others are set beside: how fast they are, how much smaller, and
    what they keep of its score.
    """
    from spacy_hashembeds.files import check_targets

    from ..trials.comparison import compare_trials, find_models

    with failing("Can't compare the trials"):
        inputs = [*metrics, corpus, *find_models(metrics)]
        check_targets([output], inputs)
        comparison = compare_trials(
            metrics,
            corpus,
            accelerated=accelerate,
            progress=partial(show_progress, title="Timing", unit="rounds"),
        )
        give(comparison, _summarize, as_json=as_json, output=output)


def _summarize(comparison: dict[str, Any]) -> Iterator["Part"]:
    from spacy_hashembeds.acceleration.machine import describe_machine
    from spacy_hashembeds.display import Sentence, Table

    from ..trials.comparison import is_of_categories, name_accuracies

    rows = comparison["rows"]
    if is_of_categories(comparison):
        score, keys = name_accuracies(comparison), ("accuracy", "macro_f", "micro_f")
        legend = f"Scores in percent, of {rows[0]['documents']:,} documents."
        header = [score.capitalize(), "Macro F", "Micro F"]
        format_cell: Callable[[Any], str] = format_score
    else:
        score, keys = "F1", ("all", "seen", "unseen")
        legend = (
            "Precision, recall and F1 in percent, by kind of entity (their number)."
        )
        header = [f"{kind} ({rows[0][kind]['support']})" for kind in keys]
        format_cell = _format_scores
    yield Table(
        f"Embedders on {comparison['dataset']}",
        legend,
        ("Embedder", *header),
        [(row["name"], *(format_cell(row[key]) for key in keys)) for row in rows],
    )
    yield Table(
        "Size and speed",
        f"{describe_machine(comparison['machine'])}.",
        ("Embedder", "Params", "MB", "Words/s", "Quartiles", "Times"),
        [
            (
                row["name"],
                f"{row['embedding_parameters']:,}",
                f"{row['bytes_on_disk'] / 1e6:.2f}",
                f"{row['words_per_second']:,.0f}",
                "..".join(f"{n:,.0f}" for n in row["words_per_second_quartiles"]),
                f"{row['times_as_fast']:.2f}",
            )
            for row in rows
        ],
    )
    yield Table(
        "Beside the first one",
        f"In percent. PRR: {score} kept; PCR: parameters saved, of all, the "
        "embedder's, and its tables' alone; PoEP: all that are the embedder's.",
        ("Embedder", "All params", "PRR", "PCR all", "PCR emb", "Tables", "PoEP"),
        [
            (
                row["name"],
                _format_count(row["pipeline_parameters"]),
                *(format_score(row[key]) for key in _RATIOS),
            )
            for row in rows
        ],
    )
    for disturbance in comparison["disturbances"]:
        yield Sentence(f"The timings were disturbed. {disturbance}", "warn")


def _format_scores(scores: dict[str, Any]) -> str:
    return " ".join(
        "   -" if scores[key] is None else f"{100 * scores[key]:4.1f}" for key in "prf"
    )


def format_score(score: float | None) -> str:
    """Format a fraction in percent, without the sign; what is not there is '-'."""
    return "-" if score is None else f"{100 * score:.1f}"


def _format_count(count: int | None) -> str:
    return "-" if count is None else f"{count:,}"
