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

#: Characters of an error that are shown from its beginning, and from its end.
_N_FIRST, _N_LAST = 1500, 300


def describe(error: Exception) -> str:
    """Say what went wrong, but never at length: spaCy quotes configs whole.

    error (Exception): The error.
    RETURNS (str): Its message, without the middle if that is long.
    """
    from ..controls import show_controls

    text = show_controls(str(error))
    if len(text) <= _N_FIRST + _N_LAST:
        return text
    return f"{text[:_N_FIRST]} … {text[-_N_LAST:]}"
