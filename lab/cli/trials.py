"""`python -m lab trial`, `baseline`, `sweep`, `collect`, `compare` and `report`."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import typer
from spacy.cli._util import Arg, Opt
from wasabi import Printer, msg

from spacy_hashembeds.files import check_targets, choose_suffix, read_json, replacing
from spacy_hashembeds.tools.cli._app import TAKE_OVERRIDES, failing, read_overrides
from spacy_hashembeds.tools.cli._options import folder_output
from spacy_hashembeds.tools.cli._output import (
    JSON,
    QUIET,
    file_output,
    json_output,
    show_progress,
)
from spacy_hashembeds.tools.display import Message, Part, Table
from spacy_hashembeds.training.scorer import KINDS

from ..baseline import NAME as CRF
from ..baseline import describe_penalties, run_baseline
from ..machine import describe_machine
from ..papers.page import PAPERS, make_page
from ..trials.comparison import compare_trials
from ..trials.configs import locate_grid
from ..trials.grid import narrow, read_grid
from ..trials.results import collect_results
from ..trials.run_trial import check_gpu, run_trial
from ..trials.sweep import Outcome, get_log, plan_sweep, run_sweep
from ..trials.trial import Trial
from ._app import emit, lab_cli

GPU_ID = typer.Option(-1, "--gpu-id", "-g", help="The GPU's ID, or -1 for the CPU.")
FORCE = typer.Option(
    False,
    *("--force", "-F"),
    help="Replace results of other settings, and their pipelines.",
)


@lab_cli.command("trial", context_settings=TAKE_OVERRIDES)
def trial_cli(
    ctx: typer.Context,
    dataset: str = Arg(..., help="The prepared corpus: the folder corpus/DATASET."),
    embedder: str = Arg(..., help="The name of the config, such as multi_embed."),
    seed: int = Opt(0, "--seed", "-s", help="The seed of training."),
    variant: str = Opt("default", help="A name for the config overrides."),
    gpu_id: int = GPU_ID,
    force: bool = FORCE,
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Train a pipeline, evaluate it, and record the results.

    Scores cover seen and unseen entities, or categories for a text classifier. Further
    options change the config, as in `spacy train`. Results are written to
    metrics/DATASET/EMBEDDER/VARIANT/seedSEED.json. Finished trials are skipped.
    """
    settings: dict[str, Any] = {"dataset": dataset, "embedder": embedder, "seed": seed}
    settings |= {"variant": variant, "gpu_id": gpu_id}
    settings["overrides"] = read_overrides(ctx.args)
    with failing("The trial failed", RuntimeError):
        trial = Trial(**settings)
        metrics, is_new = run_trial(trial, force=force, on_output=typer.echo)
    _emit_results(metrics, trial, is_new, as_json)


@lab_cli.command("baseline")
def baseline_cli(
    corpus: str = Arg(..., help="The prepared corpus: the folder corpus/CORPUS."),
    lang: str | None = Opt(
        None, "--nlp.lang", help="The language of your own corpus, such as de."
    ),
    force: bool = FORCE,
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Train a linear-chain CRF, evaluate it, and record the results as a trial.

    Features are words, affixes and shapes, also of neighbors. Penalties are chosen from
    a small grid by development data. Results are written to
    metrics/CORPUS/crf/default/seed0.json. Finished trials are skipped.
    """
    with failing("The baseline failed", RuntimeError):
        overrides = {} if lang is None else {"nlp.lang": lang}
        trial = Trial(dataset=corpus, embedder=CRF, overrides=overrides)
        metrics, is_new = run_baseline(trial, force=force, on_output=typer.echo)
    chosen = describe_penalties(metrics["penalties"])
    msg.info(f"Chosen on development data: {chosen}")
    _emit_results(metrics, trial, is_new, as_json)


def _emit_results(
    metrics: dict[str, Any], trial: Trial, is_new: bool, as_json: bool
) -> None:
    """Print the results of a trial, as a table or as JSON, and the path of the file."""
    sizes, timings = metrics["sizes"], metrics["timings"]
    # a CRF has no embedder
    part = "embedding" if sizes["embedding_parameters"] else "pipeline"
    legend = (
        f"Scores in percent. {timings['words_per_second']:,.0f} words/s, trained in "
        f"{timings['train_seconds']:,.0f} s, {sizes['bytes_on_disk'] / 1e6:.2f} MB on "
        f"disk, {sizes[f'{part}_parameters']:,} {part} parameters."
    )
    table = _tabulate_scores(trial.name, legend, "Split", metrics["scores"])
    emit(metrics, lambda _: [table], as_json=as_json)
    done = "Saved results to" if is_new else "Already done, without changes:"
    msg.good(f"{done} {trial.metrics}")


def _tabulate_scores(
    title: str, legend: str, what: str, scores: Mapping[str, Mapping[str, Any]]
) -> Table:
    """Tabulate the scores of entities or of text classifiers, by splits or trials."""
    keys = {f"{kind}: P R F": prefix for kind, prefix in KINDS.items()}
    if "cats_acc" in next(iter(scores.values())):
        keys = {"Accuracy": "cats_acc", "Macro F": "cats_macro_f"}
        keys["Micro F"] = "cats_micro_f"

    def format_cell(of: Mapping[str, Any], key: str) -> str:
        if key in of:
            return _format_score(of[key])
        percents = " ".join(_format_score(of[f"{key}_{x}"]) for x in "prf")
        return f"{percents} ({of[f'{key}_support']:,})"

    rows = [
        (name, *(format_cell(of, key) for key in keys.values()))
        for name, of in scores.items()
    ]
    return Table(title, legend, (what, *keys), rows)


@lab_cli.command("sweep")
def sweep_cli(
    grid: str = Arg(
        ..., help="The grid of trials: a name, such as main, or a .yml file."
    ),
    jobs: int = Opt(1, "--jobs", "-j", help="The number of parallel trials.", min=1),
    gpu_id: int = GPU_ID,
    datasets: str = Opt("", help="Run only these datasets, separated by commas."),
    embedders: str = Opt("", help="Run only these embedders."),
    variants: str = Opt("", help="Run only these variants."),
    seeds: str = Opt("", help="Run only these seeds."),
    dry_run: bool = Opt(False, "--dry-run", help="Only list the unfinished trials."),
    force: bool = FORCE,
    quiet: bool = QUIET,
) -> None:
    """Run the unfinished trials of a grid.

    Run the command again to continue an interrupted sweep and to repeat failed trials.
    The exit status is 1 if a trial failed.
    """
    with failing("Can't run the sweep"):
        check_gpu(gpu_id)
        given = {"dataset": datasets, "embedder": embedders}
        given |= {"variant": variants, "seed": seeds}
        chosen = {name: of.replace(",", " ").split() for name, of in given.items()}
        trials = narrow(read_grid(locate_grid(grid), gpu_id=gpu_id), chosen)
        ready, pending = plan_sweep(trials, force=force)
    done, total = len(ready), len(pending)
    msg.info(f"{done} already done, {total} to run")
    if dry_run:
        for trial, differences in pending:
            msg.text(f"- to run  {trial.name}", "; ".join(differences))
        return
    ended: list[Outcome] = []
    trials = [trial for trial, _ in pending]
    try:
        for each in run_sweep(trials, force=force, jobs=jobs):
            ended.append(each)
            typer.echo(f"{_format_outcome(each)} [{len(ended)}/{total}]")
    except KeyboardInterrupt:
        text = f"Interrupted: {len(ended)} of {total} have ended"
        msg.warn(text, "Run the same command to continue.")
        raise typer.Exit(130) from None
    failed = [each for each in ended if each.error is not None]
    for trial, _, error in failed:
        msg.fail(f"Failed: {trial.name}", f"{error}. Its log: {get_log(trial)}")
    if failed:
        text = "Run the same command to repeat them."
        msg.fail(f"{len(failed)} of {total} failed", text, exits=1)
    msg.good(f"{total + done} of {total + done} trials are done")


def _format_outcome(outcome: Outcome) -> str:
    printer = Printer(no_print=True)
    trial, seconds, error = outcome
    if error is not None:
        return f"{printer.fail(trial.name)} failed after {seconds:,.0f} s"
    splits = read_json(trial.metrics)["scores"]
    key = "cats_acc" if "cats_acc" in next(iter(splits.values())) else "ents_f"
    scores = [f"{split} {_format_score(each[key])}" for split, each in splits.items()]
    name = printer.good(trial.name)
    return f"{name} {key}: {', '.join(scores)}, in {seconds:,.0f} s"


@lab_cli.command("collect")
def collect_cli(
    metrics: Path = Arg(..., help="The folder of results: metrics.", file_okay=False),
    output: Path = folder_output("The folder of tables, DATASET.jsonl."),
    force: bool = FORCE,
    quiet: bool = QUIET,
) -> None:
    """Add the results of trials to a table for each corpus, with a line for each trial.

    Other lines of the tables are kept. `report` reads tables too.
    """
    with failing("Can't collect the results"):
        added, replaced, unchanged = collect_results(metrics, output, force=force)
    msg.good(
        f"Added {added} results to the tables in {output}",
        f"{replaced} replaced, {unchanged} unchanged.",
    )


@lab_cli.command("compare")
def compare_cli(
    metrics: list[Path] = Arg(..., help="Files of trials (seedN.json) of one dataset."),
    corpus: Path = Opt(
        ..., "--corpus", "-c", help="The corpus for timing the pipelines (.spacy)."
    ),
    accelerate: bool = Opt(
        False,
        "--accelerate",
        help="Add an accelerated copy of each pipeline with spaCy's layers, after a "
        "check that predictions are equal.",
    ),
    output: Path | None = json_output("the comparison"),
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Compare the scores, sizes and speeds of trials with the first one.

    Scores cover all, seen and unseen entities, or accuracy and F1 of text classifiers.
    Speeds are measured again, with pipelines in turns. Close other programs, which
    disturb timings. A warning is printed if they do.
    """
    with failing("Can't compare the trials"):
        check_targets([output], [*metrics, corpus])
        progress = partial(show_progress, title="Timing", unit="rounds")
        comparison = compare_trials(
            metrics, corpus, accelerated=accelerate, progress=progress
        )
        emit(comparison, _summarize_comparison, as_json=as_json, output=output)


def _summarize_comparison(comparison: dict[str, Any]) -> Iterator[Part]:
    rows = comparison["rows"]
    title = f"Embedders on {comparison['dataset']}"
    legend = "Scores in percent, with the number of entities in parentheses."
    scores = {row["name"]: row["scores"] for row in rows}
    yield _tabulate_scores(title, legend, "Embedder", scores)
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
    ratios = ("prr", "pcr_all", "pcr_emb", "pcr_tables", "poep")
    yield Table(
        "Relative to the first one",
        "In percent. PRR: the share of F1 or accuracy kept; PCR: the share of "
        "parameters saved, of all, of the embedder and of its tables; PoEP: the "
        "embedder's share of all parameters.",
        ("Embedder", "PRR", "PCR all", "PCR emb", "Tables", "PoEP"),
        [(row["name"], *(_format_score(row[key]) for key in ratios)) for row in rows],
    )
    for disturbance in comparison["disturbances"]:
        yield Message(f"The timings were disturbed. {disturbance}", "warn")


def _format_score(score: float | None) -> str:
    return "-" if score is None else f"{100 * score:.1f}"


@lab_cli.command("report")
def report_cli(
    results: Path = Arg(..., help="The folder of results (metrics), or of tables."),
    output: Path = file_output("The file to write, .md", default=...),
    paper: str = Opt(
        "multi-hash-embeddings", help=f"The paper: one of {', '.join(PAPERS)}."
    ),
    corpus_root: Path = Opt(Path("corpus"), help="The folder of prepared corpora."),
    quiet: bool = QUIET,
) -> None:
    """Fill the tables of a paper with the available results.

    The first table lists all trials. Each figure is a mean over seeds with its standard
    deviation, beside the printed figure, and is marked if the two differ. Rows without
    trials are omitted.
    """
    with failing("Can't make the report"):
        choose_suffix(output, [".md"])
        check_targets([output])
        page = make_page(results, paper, corpus_root=corpus_root, on_progress=msg.info)
        with replacing(output) as temporary:
            temporary.write_text(page.text, "utf8")
    msg.good(f"Wrote {output} from {page.n_results} results", f"{page.differences}.")
