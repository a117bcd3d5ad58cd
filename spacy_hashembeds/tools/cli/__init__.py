"""`spacy hashembeds …`.

spaCy imports this package on every `spacy` command, so nothing here may import
more than typer and spaCy's own CLI: each command imports what it needs when run.
"""

from . import configs, corpora, pipelines  # noqa: F401
from ._app import hashembeds_cli

__all__ = ["hashembeds_cli"]
