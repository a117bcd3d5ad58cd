"""Results of text classifiers that were never trained."""

import json
from pathlib import Path

from ...trials.test_results import write_categories


def write_accuracies(
    root: Path,
    dataset: str,
    trials: tuple[str, str],
    values: list[float],
    *,
    parameters: int = 1000,
) -> None:
    """Write results that have an accuracy, of each seed, and a size."""
    for seed, value in enumerate(values):
        path = write_categories(root, dataset, *trials, seed, {"cats_acc": value})
        metrics = json.loads(path.read_text())
        metrics["sizes"]["embedding_parameters"] = parameters
        path.write_text(json.dumps(metrics))
