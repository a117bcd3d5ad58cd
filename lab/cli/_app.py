"""The group of the lab's commands, and the output of their data."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import typer
from wasabi import msg

from spacy_hashembeds.files import write_json
from spacy_hashembeds.tools.cli._output import CommandGroup, print_json
from spacy_hashembeds.tools.display import Part, show

lab_cli = typer.Typer(
    cls=CommandGroup,
    name="python -m lab",
    help="Reproduce papers, and compare embedders over seeds.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


def emit(
    data: dict[str, Any],
    summarize: Callable[[dict[str, Any]], Iterable[Part]],
    *,
    as_json: bool,
    output: Path | None = None,
) -> None:
    """Print data as tables or as JSON, and save them if there is a path."""
    if as_json:
        print_json(data)
    else:
        show(summarize(data), msg)
    if output is not None:
        write_json(output, data)
        msg.good(f"Saved it to {output}")
