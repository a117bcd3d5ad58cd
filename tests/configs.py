"""The folder of our configs."""

from pathlib import Path

CONFIGS = Path(__file__).parents[1] / "configs"
