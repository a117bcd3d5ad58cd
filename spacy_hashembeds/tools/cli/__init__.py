"""`spacy hashembeds …`.

spaCy imports this package on every `spacy` command. At import, it may load only typer
and spaCy's CLI; each command imports its dependencies when run.
"""

from . import configs, corpora, pipelines  # noqa: F401
from ._app import hashembeds_cli

__all__ = ["hashembeds_cli"]
