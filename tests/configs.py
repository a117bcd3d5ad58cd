"""The configs of the project, by which tests are trained."""

from pathlib import Path

CONFIGS = Path(__file__).parents[1] / "configs"
