"""`python -m lab sweep`."""

from typing import TYPE_CHECKING

import typer
from spacy.cli._util import Arg, Opt

from spacy_hashembeds.cli._app import describe, failing
from spacy_hashembeds.cli._output import QUIET, hide_progress

from ._app import FORCE, GPU_ID, lab_cli

if TYPE_CHECKING:
    from ..trials.sweep import Ended, Executor, Plan


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
    gpu_id: int = GPU_ID,
    datasets: str = Opt(
        "", "--datasets", help="Run only these datasets, with commas between."
    ),
    embedders: str = Opt("", "--embedders", help="Run only these embedders."),
    variants: str = Opt("", "--variants", help="Run only these variants."),
    seeds: str = Opt("", "--seeds", help="Run only these seeds."),
    dry_run: bool = Opt(False, "--dry-run", help="Only list what is done and to run."),
    force: bool = FORCE,
    quiet: bool = QUIET,
) -> None:
    """Run all trials of a grid that are not done, several at once.

    A sweep that was interrupted goes on where it stopped when it is run again. Trials
    that failed are then tried again too. Exits with 1 if a trial failed.
    """
    from ..trials.configs import locate_grid
    from ..trials.grid import read_grid
    from ..trials.sweep import plan_sweep

    with failing("Can't run the sweep"):
        run = _make_executor(executor, jobs, gpu_id, force)
        chosen = read_grid(locate_grid(grid)).narrow(
            datasets=_split(datasets),
            embedders=_split(embedders),
            variants=_split(variants),
            seeds=[int(n) if n.isdecimal() else n for n in _split(seeds)],
        )
        plan = plan_sweep(chosen.expand(gpu_id=gpu_id), force=force)
    if dry_run:
        _print_plan(plan)
    else:
        _run(plan, run)


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _make_executor(name: str, jobs: int | None, gpu_id: int, force: bool) -> "Executor":
    from functools import partial

    from ..trials.run_trial import check_gpu
    from ..trials.sweep import import_ray, run_here, run_on_ray

    if name == "local":
        check_gpu(gpu_id)
        return partial(run_here, force=force, jobs=jobs or 1)
    if name != "ray":
        raise ValueError(f"--executor should be 'local' or 'ray', but is '{name}'.")
    if gpu_id > 0:
        raise ValueError(
            f"--gpu-id should be 0 or -1 with --executor ray, but is {gpu_id}: Ray "
            "shows each trial one GPU of its own, which is number 0 there."
        )
    import_ray()  # now, or its absence shows after all else was checked
    return partial(run_on_ray, force=force, jobs=jobs, num_gpus=int(gpu_id >= 0))


def _print_plan(plan: "Plan") -> None:
    from wasabi import msg

    for trial in plan.done:
        msg.good(f"done    {trial.name}")
    for trial, differences in plan.pending:
        msg.text(f"- to run  {trial.name}", "; ".join(differences))
    msg.info(
        f"{len(plan.done)} done, {len(plan.pending)} to run",
        "Done is what has results of the same settings in the folder metrics.",
    )


def _run(plan: "Plan", executor: "Executor") -> None:
    from tqdm import tqdm  # type: ignore[import-untyped]
    from wasabi import msg

    from ..trials.sweep import get_log, run_sweep

    total, ended = len(plan.pending), []
    msg.info(f"{len(plan.done)} done before, {total} to run")
    try:
        # No bar where nobody looks at it; one line for each trial, everywhere.
        with tqdm(
            total=total, unit="trial", disable=hide_progress(), leave=False
        ) as bar:
            for each in run_sweep([trial for trial, _ in plan.pending], executor):
                ended.append(each)
                bar.write(f"{_format_ended(each)} [{len(ended)}/{total}]")
                bar.update()
    except KeyboardInterrupt:
        msg.warn(
            f"Interrupted: {len(ended)} of {total} have ended",
            "The same command goes on from here.",
        )
        raise typer.Exit(130) from None
    except (OSError, ValueError) as e:
        msg.fail("The sweep was stopped", describe(e), exits=1)
    failed = [each for each in ended if each.error is not None]
    for trial, _, error in failed:
        msg.fail(f"Failed: {trial.name}", f"{error}. Its log: {get_log(trial)}")
    if failed:
        msg.fail(
            f"{len(failed)} of {total} failed",
            "The same command tries them again.",
            exits=1,
        )
    msg.good(f"{total + len(plan.done)} of {total + len(plan.done)} trials are done")


def _format_ended(ended: "Ended") -> str:
    from wasabi import Printer

    from spacy_hashembeds.files import read_json

    from .compare import format_score

    printer = Printer(no_print=True)
    trial, seconds, error = ended
    if error is not None:
        return f"{printer.fail(trial.name)} failed after {seconds:,.0f} s"
    splits = read_json(trial.metrics)["scores"]
    key = "cats_acc" if "cats_acc" in next(iter(splits.values())) else "ents_f"
    scores = [f"{split} {format_score(each[key])}" for split, each in splits.items()]
    name = printer.good(trial.name)
    return f"{name} {key}: {', '.join(scores)}, in {seconds:,.0f} s"
