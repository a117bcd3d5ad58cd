"""`python -m lab sweep`."""

from typing import TYPE_CHECKING, Any

import typer
from spacy.cli._util import Arg, Opt

from spacy_hashembeds.cli._app import describe
from spacy_hashembeds.cli._output import QUIET
from spacy_hashembeds.cli._progress import hide_progress

from ._app import lab_cli

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..trials.progress import Finished, Progress
    from ..trials.sweep import Executor, Plan


@lab_cli.command("sweep")
def sweep_cli(
    grid: str = Arg(
        ..., help="The grid of trials: a name, such as main, or a .yml file."
    ),
    jobs: int | None = Opt(
        None,
        "--jobs",
        "-j",
        help="How many trials to run at once. Default: 1 here, all of a Ray cluster.",
        min=1,
    ),
    executor: str = Opt(
        "local", "--executor", help="Where to run them: 'local' or 'ray'."
    ),
    gpu_id: int = Opt(-1, "--gpu-id", "-g", help="The GPU's ID, or -1 for the CPU."),
    datasets: str = Opt(
        "", "--datasets", help="Run only these datasets, with commas between."
    ),
    embedders: str = Opt("", "--embedders", help="Run only these embedders."),
    variants: str = Opt("", "--variants", help="Run only these variants."),
    seeds: str = Opt("", "--seeds", help="Run only these seeds."),
    dry_run: bool = Opt(False, "--dry-run", help="Only list what is done and to run."),
    force: bool = Opt(
        False,
        "--force",
        "-F",
        help="Replace results of other settings, or that can't be read, and "
        "their pipelines.",
    ),
    quiet: bool = QUIET,
) -> None:
    """Run all trials of a grid that are not done, several at once.

    A sweep that was interrupted goes on where it stopped when it is run again. Trials
    that failed are then tried again too. Exits with 1 if a trial failed.
    """
    from wasabi import msg

    from ..trials.configs import locate_grid
    from ..trials.grid import read_grid
    from ..trials.sweep import plan_sweep

    try:
        run = _make_executor(executor, jobs, gpu_id)
        chosen = read_grid(locate_grid(grid)).narrow(
            datasets=_split(datasets),
            embedders=_split(embedders),
            variants=_split(variants),
            seeds=[_read_seed(seed) for seed in _split(seeds)],
        )
        plan = plan_sweep(chosen.expand(gpu_id=gpu_id), force=force)
    except (ImportError, OSError, ValueError) as e:
        msg.fail("Can't run the sweep", describe(e), exits=1)
    if dry_run:
        _print_plan(plan)
    else:
        _run(plan, run)


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _read_seed(seed: str) -> int:
    try:
        return int(seed)
    except ValueError:
        raise ValueError(f"--seeds should be numbers, but has '{seed}'.") from None


def _make_executor(name: str, jobs: int | None, gpu_id: int) -> "Executor":
    from functools import partial

    from ..trials.executors import import_ray, run_local, run_on_ray
    from ..trials.run_trial import check_gpu

    if name == "local":
        check_gpu(gpu_id)
        return partial(run_local, jobs=jobs or 1)
    if name == "ray":
        if gpu_id > 0:
            raise ValueError(
                f"--gpu-id should be 0 or -1 with --executor ray, but is {gpu_id}: Ray "
                "shows each trial one GPU of its own, which is number 0 there."
            )
        import_ray()  # now, or its absence shows after all else was checked
        return partial(run_on_ray, jobs=jobs, num_gpus=int(gpu_id >= 0))
    raise ValueError(f"--executor should be 'local' or 'ray', but is '{name}'.")


def _print_plan(plan: "Plan") -> None:
    from wasabi import msg

    from ..trials.recorded import find_upgrades

    for trial, _ in plan.done:
        msg.good(f"done    {trial.name}")
    for trial, identity, error in plan.pending:
        if error is None:
            msg.text(f"- to run  {trial.name}")
            if upgrades := find_upgrades(trial, identity):
                msg.text(f"Done before, under other versions: {upgrades}.")
        else:
            style = "fail"  # but it is no error of this command, for stderr
            cause = f"Failed before: {error}"
            msg.text(f"to run  {trial.name}", cause, color=style, icon=style)
    msg.info(f"{len(plan.done)} done, {len(plan.pending)} to run")


def _run(plan: "Plan", executor: "Executor") -> None:
    from tqdm import tqdm  # type: ignore[import-untyped]
    from wasabi import msg

    from ..trials.sweep import get_log, run_sweep

    total = len(plan.pending)
    msg.info(f"{len(plan.done)} done before, {total} to run")
    # No bar where nobody looks at it; one line for each trial, everywhere.
    layout = "{n}/{total} {bar:20} {elapsed}{postfix}"
    bar: tqdm[Any] = tqdm(
        total=total, disable=hide_progress(), bar_format=layout, leave=False
    )
    n_ended = 0

    def show(progress: "Progress") -> None:
        nonlocal n_ended
        left = _format_left(progress)
        for ended in progress.finished[n_ended:]:
            n_ended += 1
            bar.write(f"{_format_ended(ended)} [{n_ended}/{total}{left}]")
        bar.n = n_ended
        bar.set_postfix_str(f"{len(progress.running)} running{left}", refresh=True)

    try:
        with bar:
            finished = run_sweep(plan, executor=executor, on_progress=show)
    except KeyboardInterrupt:
        msg.warn(
            f"Interrupted: {n_ended} of {total} have ended",
            "The same command goes on from here.",
        )
        raise typer.Exit(130) from None
    except (OSError, ValueError) as e:
        msg.fail("The sweep was stopped", describe(e), exits=1)
    failed = [ended for ended in finished if ended.error is not None]
    for ended in failed:
        log = get_log(ended.trial)
        cause = str(ended.error).rstrip(".")
        msg.fail(f"Failed: {ended.trial.name}", f"{cause}. Its log: {log}")
    if failed:
        msg.fail(
            f"{len(failed)} of {total} failed",
            "The same command tries them again.",
            exits=1,
        )
    n_done = total + len(plan.done)
    msg.good("The trial is done" if n_done == 1 else f"All {n_done} trials are done")


def _format_left(progress: "Progress") -> str:
    seconds = progress.estimate_seconds_left()
    if seconds is None or not (progress.running or progress.waiting):
        return ""
    return f", about {_format_seconds(seconds)} left"


def _format_ended(ended: "Finished") -> str:
    from wasabi import Printer

    printer = Printer(no_print=True)
    took = _format_seconds(ended.seconds)
    if ended.results is None:
        return f"{printer.fail(ended.trial.name)} failed after {took}"
    scores = _format_scores(ended.results)
    return f"{printer.good(ended.trial.name)} {scores}, in {took}"


def _format_scores(results: "Mapping[str, Any]") -> str:
    from spacy_hashembeds.comparison.metrics import get_task
    from spacy_hashembeds.evaluation.categories import name_accuracy
    from spacy_hashembeds.evaluation.tasks import TEXTCAT

    splits = results["scores"]
    name, key = "F1", "ents_f"
    if get_task(results) == TEXTCAT:
        name, key = name_accuracy(next(iter(splits.values()))), "cats_acc"
    scores = (f"{split} {_format(score[key])}" for split, score in splits.items())
    return f"{name} {', '.join(scores)}"


def _format(score: float | None) -> str:
    return "none" if score is None else f"{100 * score:.1f}"


def _format_seconds(seconds: float) -> str:
    minutes, hours = seconds / 60, seconds / 3600
    if minutes < 1:
        return f"{seconds:.0f} s"
    return f"{minutes:.0f} min" if hours < 1 else f"{hours:.1f} h"
