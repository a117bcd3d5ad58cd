"""The commands of `python -m lab`."""

from . import corpora, pipelines, trials, vectors  # noqa: F401
from ._app import lab_cli

__all__ = ["lab_cli"]
