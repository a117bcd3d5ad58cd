"""Train small pipelines that find some entities, in seconds."""

from pathlib import Path
from typing import Any

from spacy.cli.train import train

from .configs import CONFIGS

SMALL: dict[str, Any] = {
    "components.tok2vec.model.encode.width": 32,
    "components.tok2vec.model.encode.depth": 1,
    "components.tok2vec.model.embed.rows": [500, 100, 200, 50],
    "training.max_steps": 40,
    "training.eval_frequency": 20,
    "training.optimizer.learn_rate": 0.01,
}


def train_small(
    embedder: str,
    corpus: Path,
    output: Path,
    settings: dict[str, Any] = SMALL,
    *,
    use_gpu: int = -1,
) -> Path:
    """Train a pipeline of one of our configs, and return the best model's folder."""
    paths = {
        f"paths.{split}": str(corpus / f"{split}.spacy") for split in ("train", "dev")
    }
    config = CONFIGS / f"{embedder}.cfg"
    train(config, output, use_gpu=use_gpu, overrides={**paths, **settings})
    return output / "model-best"
