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
