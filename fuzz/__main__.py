"""Damage files of all kinds, and see what becomes of them: `python -m fuzz`."""

import os
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import typer
from tqdm import tqdm  # type: ignore[import-untyped]
from wasabi import msg

from spacy_hashembeds.files import write_json

from .cases import Outcome, make_material
from .summary import has_failures, make_table, summarize, write_table
from .target import Target
from .targets import TARGETS
from .verdict import FAILURES
from .workers import Limits, run_cases


def fuzz(
    targets: Sequence[Target],
    numbers: Sequence[int],
    *,
    seed: int,
    limits: Limits | None = None,
    jobs: int = 1,
) -> list[Outcome]:
    """Run cases of some targets.

    targets (Sequence[Target]): What is damaged.
    numbers (Sequence[int]): The numbers of the cases, of each target.
    seed (int): The seed. With the same one, a case is the same damage.
    limits (Limits, optional): What a case may take.
    jobs (int): How many processes run cases side by side.
    RETURNS (list[Outcome]): The outcomes, by target and number.
    """
    cases = [(target, number) for target in targets for number in numbers]
    outcomes: dict[tuple[str, int], Outcome] = {}
    with (
        tempfile.TemporaryDirectory(prefix="fuzz-") as folder,
        ThreadPoolExecutor(jobs) as pool,
        tqdm(total=len(cases), disable=None) as bar,
    ):
        for target in targets:
            make_material(target, Path(folder))

        def note(outcome: Outcome) -> None:
            outcomes[outcome.target, outcome.case] = outcome
            bar.update()

        run = partial(
            run_cases,
            seed=seed,
            material=Path(folder),
            limits=limits or Limits(),
            on_outcome=note,
        )
        for _ in pool.map(run, (cases[job::jobs] for job in range(jobs))):
            pass
    return [outcomes[target.name, number] for target, number in cases]


def main(
    seed: int = 0,
    cases: int = 1000,
    only: str = "",
    case: int = -1,
    seconds: float = Limits.seconds,
    jobs: int = os.cpu_count() or 1,
    output: str = "",
    page: str = "",
) -> None:
    """Damage files of all kinds, and see what becomes of them.

    Exits with 1 if one crashes, hangs, fails opaquely, or is wrong in silence.
    --only NAME takes files of one kind, and --case NUMBER a single case. --output FILE
    writes everything as JSON, --page FILE puts the table into a page of Markdown.
    """
    if only and only not in TARGETS:
        raise typer.BadParameter(f"There is no {only}, only {', '.join(TARGETS)}.")
    numbers = range(cases) if case < 0 else [case]
    found = fuzz(
        [TARGETS[only]] if only else list(TARGETS.values()),
        numbers,
        seed=seed,
        limits=Limits(seconds=seconds),
        jobs=jobs,
    )
    summary = summarize(found, seed=seed)
    if case >= 0:
        for outcome in found:
            _print_case(outcome)
    else:
        print(make_table(summary))  # noqa: T201
    _print_failures(summary)
    if output:
        write_json(output, summary)
    if page:
        write_table(summary, Path(page))
    raise typer.Exit(int(has_failures(summary)))


def _print_case(outcome: Outcome) -> None:
    verdict = outcome.verdict
    msg.text(f"{outcome.target} {outcome.case}: {outcome.part}, {outcome.damage}")
    msg.text(f"{verdict.kind}: {verdict.cause}\n{verdict.message}")


def _print_failures(summary: dict[str, Any]) -> None:
    for failure in summary["failures"]:
        target, kind, first = failure["target"], failure["kind"], failure["shown"][0]
        msg.fail(f"{target}, {failure['cases']} times: {kind}: {failure['cause']}")
        msg.text(f"{first['file']}: {first['damage']}. {first['message']}")
        case = f"--seed {summary['seed']} --only {target} --case {first['case']}"
        msg.text(f"python -m fuzz {case}")
    if not summary["failures"]:
        msg.good(f"None of: {', '.join(FAILURES)}")


if __name__ == "__main__":
    typer.run(main)
