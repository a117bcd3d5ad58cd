"""`spacy hashembeds …`: one module for each command.

spaCy imports this package on every `spacy` command, so nothing here may import
more than typer and spaCy's own CLI: each command imports what it needs when run.
"""

import typer
from spacy.cli._util import app

hashembeds_cli = typer.Typer(
    name="hashembeds",
    help="Prepare corpora, count symbols, train and compare token embeddings.",
    no_args_is_help=True,
)
app.add_typer(hashembeds_cli)

from . import compare, evaluate, prepare, tables, trial  # noqa: E402, F401
