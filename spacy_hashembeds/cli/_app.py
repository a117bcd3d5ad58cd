"""The command group that `spacy hashembeds` names."""

import typer
from spacy.cli._util import app

from ._output import Group

hashembeds_cli = typer.Typer(
    cls=Group,
    name="hashembeds",
    help="Prepare corpora, count symbols, train and compare token embeddings.",
    no_args_is_help=True,
)
app.add_typer(hashembeds_cli)


def describe(error: Exception) -> str:
    """Give an error's message, without the middle if long: spaCy quotes configs."""
    from ..controls import show_controls

    text = show_controls(str(error))
    return text if len(text) <= 1800 else f"{text[:1500]} … {text[-300:]}"
