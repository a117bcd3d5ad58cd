"""`spacy hashembeds evaluate`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spacy.cli._util import Arg, Opt

from ._app import describe, hashembeds_cli
from ._layout import print_table
from ._output import name_output

#: Confusions that are printed; the JSON and the page have more.
_N_CONFUSIONS = 10


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
    against: str | None = Opt(
        None, "--against", "-a", help="Second pipeline, to test the difference to"
    ),
    output: Path | None = Opt(
        None,
        "--output",
        "-o",
        help="JSON file to write everything to; - is standard output",
        dir_okay=False,
        callback=name_output,
    ),
    html: Path | None = Opt(
        None,
        "--html",
        help="HTML page to write, with the errors; - is standard output",
        dir_okay=False,
        callback=name_output,
    ),
    samples: int = Opt(
        5000, "--samples", "-n", help="Draws for intervals and significance", min=1
    ),
    seed: int = Opt(0, "--seed", "-s", help="Seed of these draws", min=0),
    use_gpu: int = Opt(-1, "--gpu-id", "-g", help="GPU ID or -1 for CPU"),
) -> None:
    """Score a pipeline's entities, apart for texts seen and unseen in training.

    An entity is seen if its exact text stands as an entity in the training corpus.
    The figures are those of `spacy evaluate` on copies of the gold corpus in which
    the other kind's entities are marked missing. Intervals are drawn over documents,
    for the pipeline as it is: they don't say what another training seed would give.
    """
    from wasabi import msg

    from ..evaluation.in_depth import evaluate_in_depth
    from ..evaluation.page import write_page
    from ..files import write_json

    try:
        evaluation = evaluate_in_depth(
            model,
            test,
            train,
            against=against,
            samples=samples,
            seed=seed,
            use_gpu=use_gpu,
        )
        _print_evaluation(evaluation)
        if output is not None:
            write_json(output, evaluation)
            msg.good(f"Saved scores to {output}")
        if html is not None:
            write_page(html, evaluation)
            msg.good(f"Saved the page to {html}")
    except (ImportError, OSError, ValueError) as e:
        msg.fail("Can't evaluate the pipeline", describe(e), exits=1)


def _print_evaluation(evaluation: dict[str, Any]) -> None:
    from wasabi import msg

    _print_scores(evaluation)
    if evaluation["comparison"] is not None:
        _print_comparison(evaluation)
    _print_groups(evaluation)
    _print_confusions(evaluation)
    _print_draws(evaluation["setting"])
    for warning in evaluation["warnings"]:
        msg.warn(warning)


def _print_draws(setting: dict[str, Any]) -> None:
    from wasabi import msg

    drawn, read = setting["documents"], setting["documents_read"]
    documents = f"{drawn:,} document{'s' * (drawn != 1)}"
    annotated = f" with entity annotation, of {read:,} in all" * (drawn < read)
    if drawn:
        msg.info(
            f"Intervals hold {setting['confidence']:.0%} of {setting['samples']:,} "
            f"draws of the {documents}{annotated}, seed {setting['seed']}"
        )


def _print_scores(evaluation: dict[str, Any]) -> None:
    from ..evaluation.scorer import KINDS

    totals = []
    for kind, prefix in KINDS.items():
        keys = (*"prf", "support", "p_interval", "r_interval", "f_interval")
        score = {key: evaluation[f"{prefix}_{key}"] for key in keys}
        totals.append((kind.title(), *_format(score)))
    columns = ("P", "R", "F", "Support", "P from-to", "R from-to", "F from-to")
    print_table("Entities", None, ("", *columns), totals)
    per_type = [
        (
            label,
            kind.title(),
            *_format((evaluation[f"{prefix}_per_type"] or {}).get(label)),
        )
        for label in sorted(evaluation["ents_per_type"] or {})
        for kind, prefix in KINDS.items()
    ]
    header = ("Type", "", *columns)
    print_table("Entities by type", None, header, per_type, aligns="ll")


def _print_comparison(evaluation: dict[str, Any]) -> None:
    from ..evaluation.scorer import KINDS

    comparison = evaluation["comparison"]
    rows = [
        (
            kind.title(),
            key.upper(),
            _percent(evaluation[f"{prefix}_{key}"]),
            _percent(comparison[kind][key]["other"]),
            f"{comparison[kind][key]['difference'] * 100:+.2f}",
            _range(comparison[kind][key]["interval"]),
            f"{comparison[kind][key]['p_value']:.4f}",
        )
        for kind, prefix in KINDS.items()
        if comparison[kind] is not None
        for key in "prf"
    ]
    header = ("", "", "This", "Other", "Difference", "From-to", "p")
    print_table(f"Against {comparison['model']}", None, header, rows, aligns="ll")


def _print_groups(evaluation: dict[str, Any]) -> None:
    from ..evaluation.groups import GROUPINGS

    for name, groups in evaluation["groups"].items():
        grouping = GROUPINGS[name]
        rows = [
            (
                grouping.groups[group["group"]],
                _percent(group["recall"]),
                str(group["support"]),
                _range(group["interval"]),
            )
            for group in groups
        ]
        print_table(grouping.title, None, ("", "R", "Support", "R from-to"), rows)


def _print_confusions(evaluation: dict[str, Any]) -> None:
    confusions = evaluation["confusions"]
    rows = [
        (
            confusion["gold"] or "-",
            confusion["predicted"] or "-",
            confusion["error"],
            str(confusion["count"]),
            _quote(confusion["examples"][0]),
        )
        for confusion in confusions[:_N_CONFUSIONS]
    ]
    header = ("Gold", "Predicted", "Error", "Count", "For example")
    title = f"Confusions ({len(rows)} of {len(confusions)} kinds)"
    print_table(title, None, header, rows, aligns="lllrl")


def _quote(example: dict[str, Any]) -> str:
    """Give an error's surroundings in one line, the error itself in brackets."""
    marks = [m for m in (*example["gold"], *example["predicted"]) if m["is_error"]]
    start, end = min(m["start"] for m in marks), max(m["end"] for m in marks)
    text = example["text"]
    before, after = text[max(0, start - 15) : start], text[end : end + 15]
    return " ".join(f"{before}[{text[start:end]}]{after}".split())


def _format(score: dict[str, Any] | None) -> list[str]:
    """Give P, R and F in percent, the support, and the intervals."""
    if score is None:
        return ["-", "-", "-", "0", "-", "-", "-"]
    percents = [_percent(score[key]) for key in "prf"]
    ranges = [_range(score[f"{key}_interval"]) for key in "prf"]
    return [*percents, str(score["support"]), *ranges]


def _percent(value: float | None) -> str:
    """Give a figure in percent; "-" where nothing was counted."""
    return "-" if value is None else f"{value * 100:.2f}"


def _range(interval: Sequence[float] | None) -> str:
    return "-" if interval is None else "..".join(map(_percent, interval))
