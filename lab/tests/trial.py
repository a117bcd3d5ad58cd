"""A trial that takes seconds."""

from pathlib import Path
from typing import Any

from lab.trials.trial import Trial
from tests.training_runs import SMALL


def make_trial(root: Path, **settings: Any) -> Trial:
    """The trial that was run in a project, or one that differs from it."""
    return Trial(
        **{
            "dataset": "demo",
            "embedder": "multi_fewer_hash_embed",
            "overrides": SMALL,
            "root": root,
            **settings,
        }
    )
