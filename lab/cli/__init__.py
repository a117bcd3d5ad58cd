"""`python -m lab …`: one module for each command."""

from . import (
    attention,
    floret,
    importance,
    misspell,
    prepare,
    ratios,
    rawtext,
    report,
    sweep,
    trial,
)
from ._app import lab_cli

__all__ = [
    "attention",
    "floret",
    "importance",
    "lab_cli",
    "misspell",
    "prepare",
    "ratios",
    "rawtext",
    "report",
    "sweep",
    "trial",
]
