"""Lazy imports of the extra `tools`."""

from importlib import import_module
from typing import Any


def import_extra(name: str) -> Any:
    """Import a module of the extra `tools`."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(
            f"This needs '{name}', of the extra 'tools': pip install '.[tools]' in the "
            "clone, as README.md says."
        ) from error
