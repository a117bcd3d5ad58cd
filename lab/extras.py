"""Import packages that are not always installed."""

from typing import Any


def import_figure() -> Any:
    """Import matplotlib's class of figures, which needs no screen."""
    try:
        from matplotlib.figure import Figure
    except ImportError as e:
        extra = "pip install 'spacy-hashembeds[report]'"
        raise ImportError(f"Charts need matplotlib: {extra}.") from e
    return Figure
