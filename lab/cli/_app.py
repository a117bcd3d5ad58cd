"""The commands of `python -m lab`."""

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
