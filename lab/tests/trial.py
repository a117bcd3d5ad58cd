"""A trial that runs in seconds."""

from pathlib import Path
from typing import Any

from lab.trials.trial import Trial
from tests.training_runs import SMALL


def make_trial(root: Path, **settings: Any) -> Trial:
    """Make the trial of `trained_root`, or one with other settings."""
    names = {"dataset": "demo", "embedder": "multi_fewer_hash_embed"}
    return Trial(**{**names, "overrides": SMALL, "root": root, **settings})
