"""What to do with a config once it is written."""

from pathlib import Path
from shlex import join

from ..files import find_descriptor
from .configure import Configured
from .scorer import FACTORIES

#: Where training saves its best pipeline, below the folder that it is given.
_FOLDER, _BEST = "training", "training/model-best"


def list_commands(
    made: Configured, output: str | Path, train: str | Path | None
) -> list[str]:
    """List the commands that train a config and evaluate what comes of it.

    made (Configured): The config.
    output (str | Path): Where it was written.
    train (str | Path, optional): The training corpus. Default: that of the config.
    RETURNS (list[str]): The commands. Files that nobody has named are named after what
        they hold.
    """
    config = made.config.interpolate()
    paths = config.get("paths", {})
    corpus = str(train or paths.get("train") or "train.spacy")
    name = "config.cfg" if find_descriptor(Path(output)) is not None else str(output)
    training = ["spacy", "train", name, "--output", _FOLDER]
    known = {"train": corpus, "dev": str(paths.get("dev") or "dev.spacy")}
    if made.needs_vectors:
        known["vectors"] = "VECTORS"
    for key, path in known.items():
        if key in paths:
            training += [f"--paths.{key}", path]
    evaluation = ["spacy", "evaluate", _BEST, "test.spacy"]
    if any(c.get("factory") in FACTORIES for c in config["components"].values()):
        evaluation = ["spacy", "hashembeds", *evaluation[1:], "--train", corpus]
    return [join(training), join(evaluation)]
