"""The kernels, the embedders and whole pipelines on a GPU.

Run as `python -m benchmarks.gpu` from the checkout. What needs no spaCy is measured
without it too: this module and most behind it import none.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from wasabi import msg

from spacy_hashembeds.files import write_json

from ._gpu_device import Device, NoGpuError, find_device
from ._gpu_distinct import measure_distinct
from ._gpu_kernels import GATHER, measure_copy, measure_kernels
from ._gpu_measure import Json, Sizes
from ._gpu_tables import OURS, THINC, measure_equality, measure_tables
from ._machine import describe_machine
from ._timing import Schedule

RESULTS = Path(__file__).parent / "results"

#: Rounds of kernels and tables for one of embedders and pipelines, which take longer.
SHORT_ROUNDS = 10

#: Measures one part, given what was measured before.
Part = Callable[[Mapping[str, Any]], Any]


def measure_gpu(
    device: Device,
    schedule: Schedule,
    sizes: Sizes,
    corpus: Path | None = None,
    **pipeline_sizes: int,
) -> Iterator[Json]:
    """Measure all parts, one after the other.

    sizes (Sizes): What kernels, tables and embedders are measured on.
    corpus (Path, optional): A `.spacy` file, or else that of the other benchmarks.
    pipeline_sizes (int): Settings of `measure_pipelines`.
    YIELDS (Json): The results so far, after each part: those of some minutes are not
        lost if a later part fails.
    """
    results: Json = {
        "machine": describe_machine(),
        "device": device.describe(),
        "blocks": schedule.blocks,
        "rounds": schedule.rounds,
    }
    parts: dict[str, Part] = {
        "copy": lambda _: measure_copy(device, sizes, schedule),
        "kernels": lambda done: measure_kernels(
            device, sizes, schedule, done["copy"]["gb_per_s"]
        ),
        "tables": lambda _: measure_tables(device, sizes, schedule),
        "equal_runs": lambda _: measure_equality(device, sizes),
        "distinct_rows": lambda _: measure_distinct(device, sizes, schedule),
        **_plan_with_spacy(device, schedule, sizes, corpus, pipeline_sizes),
    }
    for name, measure in parts.items():
        msg.text(f"measuring: {name}")
        results[name] = measure(results)
        results["goals"] = check_goals(results)
        yield results


def check_goals(results: Mapping[str, Any]) -> list[Json]:
    """Hold what was measured so far against what we set out for."""
    goals = []
    for row in results.get("kernels", ()):
        if row["kernel"] == GATHER:
            where = f"{row['tokens']} tokens, {row['tables']} tables"
            what = f"{GATHER}, {where}: percent of the bandwidth of a copy"
            goals.append(_check(what, row["percent_of_copy"], 50))
    for row in results.get("tables", ()):
        wanted = {1000: 3, 100_000: 10}.get(row["tokens"])
        if wanted:
            what = f"tables forward and backward, {row['tokens']} tokens: times Thinc"
            ratio = row["train"]["times_as_fast_as_thinc"]["called"]
            goals.append(_check(what, ratio, wanted))
    cost = results.get("pipelines", {}).get("cost_of_fixed_order")
    if cost:
        what = "nlp.update: percent that a fixed order costs"
        goals.append(_check(what, cost["percent"], 5, at_least=False))
    return goals


def print_results(results: Mapping[str, Any]) -> None:
    """Print the rooflines, how ours compares with Thinc's layers, and the goals."""
    copy = results["copy"]["gb_per_s"]
    msg.text(f"{results['device']['name']}: a copy moves {copy:,.0f} GB/s")
    table: list[tuple[str, ...]] = []
    for row in results["kernels"]:
        ms, percent = row[row["clock"]]["ms"], row["percent_of_copy"]
        about = row["kernel"], row["tables"], str(row["tokens"])
        table.append((*about, f"{1e3 * ms:.1f}", f"{percent:.0f}"))
    _print_table("kernel, tables, tokens, us, % of copy", table)
    table = []
    for row in results["tables"]:
        for kind in ("train", "predict"):
            times = row[kind]["contenders"]
            ratio = row[kind]["times_as_fast_as_thinc"]["called"]
            ms = [f"{times[name]['called']['ms']:.3f}" for name in (THINC, OURS)]
            table.append((kind, str(row["tokens"]), *ms, f"{ratio:.1f}"))
    _print_table("tables, tokens, Thinc ms, ours ms, times as fast", table)
    table = []
    for goal in results["goals"]:
        reached = "yes" if goal["reached"] else "no"
        measured = f"{goal['measured']:.1f}"
        table.append((goal["goal"], goal["wanted"], measured, reached))
    _print_table("goal, wanted, measured, reached", table)


def _print_table(header: str, rows: list[tuple[str, ...]]) -> None:
    msg.table(rows, header=header.split(", "), divider=True)


def main(
    corpus: Path | None = None,
    output: Path | None = None,
    blocks: int = 3,
    rounds: int = 30,
) -> None:
    """Time our kernels and layers beside Thinc's and spaCy's, on a GPU."""
    try:
        device = find_device()
    except NoGpuError as e:
        msg.fail("There is no GPU to measure", str(e), exits=1)
    path = output or RESULTS / f"gpu-{make_slug(device.describe()['name'])}.json"
    results: Json = {}
    for results in measure_gpu(device, Schedule(blocks, rounds), Sizes(), corpus):
        write_json(path, results)
    print_results(results)
    msg.good(f"Results: {path}")


def make_slug(name: str) -> str:
    """Make the name of a device a part of a file name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _check(goal: str, measured: float, wanted: float, *, at_least: bool = True) -> Json:
    return {
        "goal": goal,
        "wanted": f"at {'least' if at_least else 'most'} {wanted:g}",
        "measured": measured,
        "reached": measured >= wanted if at_least else measured <= wanted,
    }


def _plan_with_spacy(
    device: Device,
    schedule: Schedule,
    sizes: Sizes,
    corpus: Path | None,
    pipeline_sizes: dict[str, int],
) -> dict[str, Part]:
    """Plan the parts that need spaCy, or to say why they are not measured."""
    names = ("corpus", "embedders", "pipelines")
    if find_spec("spacy") is None:
        skipped = {"skipped": "spaCy is not installed, which this part needs."}
        return {name: lambda _: skipped for name in names}
    data = import_module("benchmarks._data")
    pipelines = import_module("benchmarks._gpu_pipelines")
    loaded = data.load_corpus(corpus or data.CORPUS)
    short = Schedule(schedule.blocks, max(1, schedule.rounds // SHORT_ROUNDS))
    measures: list[Part] = [
        lambda _: loaded.to_json(),
        lambda _: pipelines.measure_embedders(device, loaded, sizes, short),
        lambda _: pipelines.measure_pipelines(device, loaded, short, **pipeline_sizes),
    ]
    return dict(zip(names, measures, strict=True))


if __name__ == "__main__":
    import typer

    typer.run(main)
