"""What to do with a config once it is written."""

from pathlib import Path
from shlex import join

from ..files import find_descriptor
from .configure import Configured
from .scorer import FACTORIES

#: Where pipelines are trained, each in a folder named after its config.
_FOLDER = Path("training")
#: Where training saves its best pipeline, below the folder that it is given.
_BEST = "model-best"


def list_commands(
    made: Configured, output: str | Path, train: str | Path | None
) -> list[str]:
    """List the commands that train a config and evaluate what comes of it.

    made (Configured): The config.
    output (str | Path): Where it was written.
    train (str | Path, optional): The training corpus. Default: that of the config.
    RETURNS (list[str]): The commands. Splits that nobody has named are those beside the
        training corpus, or else files named after what they hold.
    """
    config = made.config.interpolate()
    paths = config.get("paths", {})
    corpus = str(train or paths.get("train") or "train.spacy")
    name = "config.cfg" if find_descriptor(Path(output)) is not None else str(output)
    folder = _FOLDER / Path(name).stem
    training = ["spacy", "train", name, "--output", str(folder)]
    known = {"train": corpus, "dev": paths.get("dev") or _find_beside(corpus, "dev")}
    if made.needs_vectors:
        known["vectors"] = "VECTORS"
    for key, path in known.items():
        if key in paths:
            training += [f"--paths.{key}", str(path)]
    evaluation = ["spacy", "evaluate", str(folder / _BEST)]
    evaluation.append(_find_beside(corpus, "test"))
    if any(c.get("factory") in FACTORIES for c in config["components"].values()):
        evaluation = ["spacy", "hashembeds", *evaluation[1:], "--train", corpus]
    return [join(training), join(evaluation)]


def _find_beside(corpus: str, split: str) -> str:
    """Find the file of a split where `spacy hashembeds prepare` has written it."""
    path = Path(corpus).with_name(f"{split}.spacy")
    return str(path) if path.is_file() else path.name
