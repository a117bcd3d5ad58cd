"""The commands of `python -m lab`, and what they have in common."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import typer
from wasabi import msg

from spacy_hashembeds.files import write_json
from spacy_hashembeds.tools.cli._output import Group, print_json
from spacy_hashembeds.tools.display import Part, show

lab_cli = typer.Typer(
    cls=Group,
    name="python -m lab",
    help="Reproduce papers, and compare embedders over seeds.",
    no_args_is_help=True,
    # as spaCy shows its own
    add_completion=False,
    rich_markup_mode=None,
)


def give(
    data: dict[str, Any],
    summarize: Callable[[dict[str, Any]], Iterable[Part]],
    *,
    as_json: bool,
    output: Path | None = None,
) -> None:
    """Show data, or print it as JSON, and save it where a path is given."""
    if as_json:
        print_json(data)
    else:
        show(summarize(data), msg)
    if output is not None:
        write_json(output, data)
        msg.good(f"Saved it to {output}")
