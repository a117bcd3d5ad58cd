"""`python -m lab ratios`."""

from functools import partial
from pathlib import Path
from typing import Any

from spacy.cli._util import Arg, Opt

from spacy_hashembeds.cli._app import failing
from spacy_hashembeds.cli._output import JSON, QUIET, json_output, show_progress

from ._app import lab_cli
from .compare import (
    RATIOS,
    RATIOS_LEGEND,
    format_count,
    format_ratios,
    format_score,
    give_comparison,
)

# How much of a name is shown, from its end.
_MAX_NAME = 26


@lab_cli.command("ratios")
def ratios_cli(
    models: list[str] = Arg(
        ..., help="Pipelines, package names or folders; the first is the baseline."
    ),
    corpus: Path | None = Opt(
        None,
        "--corpus",
        "-c",
        help="A gold corpus to score and to time the pipelines on (.spacy).",
    ),
    score: str | None = Opt(
        None,
        "--score",
        help="The score to compare, by spaCy's name for it, such as ents_f. By default "
        "the one that the baseline was chosen by in training.",
    ),
    output: Path | None = json_output("the comparison"),
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Set pipelines beside a baseline: parameters, size, score and speed.

    The ratios are those of HashFormers (Xue and Aletras 2022). Scores and speed need a
    corpus. For trials, `python -m lab compare` has the same, and F1 on seen
    and unseen entities.
    """
    from spacy_hashembeds.files import check_targets

    from ..trials.pipelines import compare_pipelines

    with failing("Can't compare the pipelines"):
        check_targets([output], [*models, corpus])
        comparison = compare_pipelines(
            models,
            corpus,
            score=score,
            progress=partial(show_progress, title="Timing", unit="rounds"),
        )
        give_comparison(comparison, _print_comparison, output, as_json=as_json)


def _print_comparison(comparison: dict[str, Any]) -> None:
    from wasabi import msg

    from spacy_hashembeds.acceleration.machine import describe_machine
    from spacy_hashembeds.display import Table, show

    rows, machine = comparison["rows"], comparison["machine"]
    sizes = Table(
        "Pipelines",
        None if machine is None else f"{describe_machine(machine)}.",
        ("Pipeline", comparison["score"] or "Score", "Params", "Emb", "MB", "Words/s"),
        [_format_measures(row) for row in rows],
    )
    ratios = Table(
        f"Beside {_shorten(rows[0]['name'])}",
        f"In percent, but for times as fast. PRR: score kept; {RATIOS_LEGEND}",
        ("Pipeline", *RATIOS, "Times"),
        [_format_ratios(row) for row in rows],
    )
    show([sizes, ratios], msg)
    for row in rows:
        if n := row["vector_values"]:
            msg.info(
                f"Not counted, since not trained: {n:,} numbers in word vectors of "
                f"{row['name']}"
            )
    for disturbance in comparison["disturbances"] or ():
        msg.warn("The timings were disturbed", disturbance)


def _shorten(name: str) -> str:
    return name if len(name) <= _MAX_NAME else f"…{name[1 - _MAX_NAME :]}"


def _format_measures(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        _shorten(row["name"]),
        format_score(row["score"]),
        format_count(row["pipeline_parameters"]),
        format_count(row["embedding_parameters"]),
        f"{row['bytes_on_disk'] / 1e6:.2f}",
        f"{row['words_per_second']:,.0f}" if "words_per_second" in row else "-",
    )


def _format_ratios(row: dict[str, Any]) -> tuple[str, ...]:
    times = f"{row['times_as_fast']:.2f}" if "times_as_fast" in row else "-"
    return (_shorten(row["name"]), *format_ratios(row), times)
