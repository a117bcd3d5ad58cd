"""`python -m lab …`: one module for each command."""

from . import (  # noqa: F401
    ablation,
    attention,
    baseline,
    collect,
    compare,
    floret,
    importance,
    misspell,
    prepare,
    rawtext,
    report,
    sweep,
    trial,
)
from ._app import lab_cli

__all__ = ["lab_cli"]
