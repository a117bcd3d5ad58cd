"""The commands of `python -m lab`, and what they have in common."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from spacy_hashembeds.cli._output import Group, print_json

if TYPE_CHECKING:
    from spacy_hashembeds.display import Part

lab_cli = typer.Typer(
    cls=Group,
    name="python -m lab",
    help="Reproduce papers, and compare embedders over seeds.",
    no_args_is_help=True,
    # as spaCy shows its own
    add_completion=False,
    rich_markup_mode=None,
)

MODEL = typer.Argument(..., help="The pipeline: a package name or a folder.")

#: Options of `trial` and `sweep`.
GPU_ID = typer.Option(-1, "--gpu-id", "-g", help="The GPU's ID, or -1 for the CPU.")
FORCE = typer.Option(
    False,
    "--force",
    "-F",
    help="Replace results of other settings, or that can't be read, and their "
    "pipelines.",
)


def give(
    data: dict[str, Any],
    summarize: Callable[[dict[str, Any]], Iterable["Part"]],
    *,
    as_json: bool,
    output: Path | None = None,
) -> None:
    """Show data, or print it as JSON, and save it where a path is given."""
    from wasabi import msg

    from spacy_hashembeds.display import show
    from spacy_hashembeds.files import write_json

    if as_json:
        print_json(data)
    else:
        show(summarize(data), msg)
    if output is not None:
        write_json(output, data)
        msg.good(f"Saved it to {output}")
