"""Packages that not every installation has."""

from importlib import import_module
from typing import Any


def import_extra(module: str, purpose: str, install: str) -> Any:
    """Import a module, or raise an ImportError that says what pip has to install."""
    try:
        return import_module(module)
    except ImportError as e:
        raise ImportError(f"{purpose}: pip install {install}.") from e


def import_figure() -> Any:
    """Import matplotlib's class of figures, which need no screen."""
    extra = "'spacy-hashembeds[report]'"
    return import_extra("matplotlib.figure", "Charts need matplotlib", extra).Figure
