"""The commands of `python -m lab`, and what they have in common."""

import typer

from spacy_hashembeds.cli._output import Group

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
