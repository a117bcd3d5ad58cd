"""What the commands of all benchmarks do before and after they measure."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from wasabi import msg

from spacy_hashembeds.files import write_json

from ._machine import check_one_thread, describe_machine

Results = dict[str, Any]


def run_benchmark(
    measure: Callable[[], Results],
    draw: Callable[[Results, Path], None],
    show: Callable[[Results], None],
    output: Path,
) -> None:
    """Measure on one thread, and write, draw and print what comes of it.

    measure (Callable): Gives the results, as JSON data.
    draw (Callable): Draws them, with the machine's description, to a PNG file.
    show (Callable): Prints them.
    output (Path): The JSON file to write. The chart stands beside it.
    RAISES (RuntimeError): If a library uses more than one thread.
    """
    machine = describe_machine()
    check_one_thread(machine["processors_busy"])
    results = {"machine": machine, **measure()}
    chart = output.with_suffix(".png")
    write_json(output, results)
    draw(results, chart)
    show(results)
    msg.good(f"Results: {output}, {chart}")
