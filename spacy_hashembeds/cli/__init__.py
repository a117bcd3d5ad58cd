"""`spacy hashembeds …`: one module for each command.

spaCy imports this package on every `spacy` command, so nothing here may import
more than typer and spaCy's own CLI: each command imports what it needs when run.
"""

from . import (
    accelerate,
    analyze,
    attention,
    compare,
    config,
    doctor,
    evaluate,
    floret,
    importance,
    misspell,
    prepare,
    ratios,
    rawtext,
    report,
    sweep,
    tables,
    trial,
)
from ._app import hashembeds_cli

__all__ = [
    "accelerate",
    "analyze",
    "attention",
    "compare",
    "config",
    "doctor",
    "evaluate",
    "floret",
    "hashembeds_cli",
    "importance",
    "misspell",
    "prepare",
    "ratios",
    "rawtext",
    "report",
    "sweep",
    "tables",
    "trial",
]
