"""Commands that come after `config`."""

from pathlib import Path
from shlex import join

from ...files import find_descriptor
from .corpus import find_beside
from .edits import Edits
from .presets import CLASSIFIERS, RECOGNIZERS
from .pretraining import name_weights


def list_commands(
    made: Edits,
    output: str | Path,
    *,
    train: str | Path | None,
    raw: str | Path | None = None,
    code: str | Path | None = None,
) -> list[str]:
    """List the commands that pretrain, if there is pretraining, train and evaluate.
    Splits that are not known have names in capitals, such as DEV.spacy.
    """
    paths = made.plain.get("paths", {})
    corpus = str(train or paths.get("train") or "TRAIN.spacy")
    name = "config.cfg" if find_descriptor(Path(output)) is not None else str(output)
    folder = Path("training", Path(name).stem)
    training = ["spacy", "train", name, "--output", str(folder)]
    dev = _name_beside(corpus, "dev")
    # beside the corpus of --train, even if the config has that of another corpus
    is_beside = train is not None and find_beside(corpus, "dev").exists()
    known = {"train": corpus, "dev": dev if is_beside else paths.get("dev") or dev}
    if made.needs_vectors:
        known["vectors"] = "VECTORS"
    for key, path in known.items():
        if key in paths:
            training += [f"--paths.{key}", str(path)]
    evaluation = ["spacy", "evaluate", str(folder / "model-best")]
    evaluation.append(_name_beside(corpus, "test"))
    factories = {c.get("factory") for c in made.plain["components"].values()}
    if factories & {*RECOGNIZERS, *CLASSIFIERS}:
        evaluation.insert(1, "hashembeds")
    if factories & {*RECOGNIZERS}:
        evaluation += ["--train", corpus]
    commands = [training, evaluation]
    if raw is not None:
        pretraining = ["spacy", "pretrain", name, str(name_weights(name).parent)]
        if "train" in paths and made.plain["initialize"].get("before_init"):
            pretraining += ["--paths.train", corpus]  # which is counted
        commands.insert(0, pretraining)
    imported = [] if code is None else ["--code", str(code)]
    return [join([*command, *imported]) for command in commands]


def _name_beside(corpus: str, split: str) -> str:
    """Return the file of a split beside a corpus, or a name in capitals for it."""
    path = find_beside(corpus, split)
    return str(path) if path.exists() else f"{split.upper()}.spacy"
