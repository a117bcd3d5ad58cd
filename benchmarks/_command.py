"""What the commands of all benchmarks do before and after they measure."""

from collections.abc import Callable, Mapping
from pathlib import Path
from time import sleep
from typing import Any

from wasabi import msg

from spacy_hashembeds.acceleration.machine import (
    Spread,
    find_disturbances,
    watch_machine,
)
from spacy_hashembeds.files import write_json

from ._machine import check_one_thread, describe_machine

Results = dict[str, Any]

#: How long to see whether the machine is idle, before work of many minutes.
_SECONDS_TO_WATCH = 2.0


def run_benchmark(
    measure: Callable[[], Results],
    find_baselines: Callable[[Results], Mapping[str, Spread]],
    draw: Callable[[Results, Path], None],
    show: Callable[[Results], None],
    output: Path,
) -> None:
    """Measure on one thread, and write, draw and print what comes of it.

    Warns before and after, and in the results, where the machine was not idle.

    measure (Callable): Gives the results, as JSON data.
    find_baselines (Callable): Finds in them what all else is compared with.
    draw (Callable): Draws them, with the machine's description, to a PNG file.
    show (Callable): Prints them.
    output (Path): The JSON file to write. The chart stands beside it.
    RAISES (RuntimeError): If a library uses more than one thread.
    """
    machine = describe_machine()
    check_one_thread(machine["processors_busy"])
    _warn_of_other_work()
    with watch_machine() as watched:
        measured = measure()
    machine.update(watched)
    disturbances = find_disturbances(machine, find_baselines(measured))
    results = {"machine": machine, "disturbances": disturbances, **measured}
    chart = output.with_suffix(".png")
    write_json(output, results)
    draw(results, chart)
    show(results)
    for disturbance in disturbances:
        msg.warn("The timings were disturbed", disturbance)
    msg.good(f"Results: {output}, {chart}")


def _warn_of_other_work() -> None:
    with watch_machine() as machine:
        sleep(_SECONDS_TO_WATCH)
    for disturbance in find_disturbances(machine, {}):
        msg.warn("The machine is not idle: results may be worthless", disturbance)
