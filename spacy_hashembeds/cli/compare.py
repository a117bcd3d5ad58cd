"""`spacy hashembeds compare`."""

from pathlib import Path
from typing import Any

from spacy.cli._util import Arg, Opt

from ._app import describe, hashembeds_cli
from ._output import name_output


@hashembeds_cli.command("compare")
def compare_cli(
    metrics: list[Path] = Arg(..., help="Results of trials, all of one dataset"),
    corpus: Path = Opt(
        ..., "--corpus", "-c", help="Corpus to time the pipelines on (.spacy)"
    ),
    output: Path | None = Opt(
        None,
        "--output",
        "-o",
        help="JSON file to write the comparison to; - is standard output",
        dir_okay=False,
        callback=name_output,
    ),
    chart: Path | None = Opt(
        None,
        "--chart",
        help="PNG file to draw a chart to; - is standard output",
        dir_okay=False,
        callback=name_output,
    ),
) -> None:
    """Compare trials: scores on all, seen and unseen entities, size and speed.

    Speed is measured anew, with the pipelines of all trials taking turns in one run.
    """
    from wasabi import msg

    from ..experiments.comparison import compare_trials
    from ..files import write_json
    from ..report.charts import draw_comparison, import_figure

    try:
        if chart is not None:
            # before pipelines are timed for minutes
            import_figure()
        rows = compare_trials(metrics, corpus)
        _print_rows(rows)
        if output is not None:
            write_json(output, rows)
            msg.good(f"Saved the comparison to {output}")
        if chart is not None:
            draw_comparison(rows, chart)
            msg.good(f"Drew a chart to {chart}")
    except (OSError, ValueError, ImportError) as e:
        msg.fail("Can't compare the trials", describe(e), exits=1)


def _print_rows(rows: list[dict[str, Any]]) -> None:
    from wasabi import msg

    kinds = ("all", "seen", "unseen")
    counts = [f"{kind} ({rows[0][kind]['support']})" for kind in kinds]
    header = ("Embedder", *(f"P/R/F {count}" for count in counts))
    header += ("Embedding params", "MB on disk", "Words/s")
    data = [
        (
            row["name"],
            *(_format_scores(row[kind]) for kind in kinds),
            f"{row['embedding_parameters']:,}",
            f"{row['bytes_on_disk'] / 1e6:.2f}",
            f"{row['words_per_second']:,.0f}",
        )
        for row in rows
    ]
    title = f"Embedders on {rows[0]['dataset']} (percent; number of entities)"
    msg.divider(title)
    msg.table(data, header=header, divider=True, aligns=tuple("lrrrrrr"))


def _format_scores(scores: dict[str, Any]) -> str:
    return " ".join(
        "   -" if scores[key] is None else f"{100 * scores[key]:4.1f}" for key in "prf"
    )
