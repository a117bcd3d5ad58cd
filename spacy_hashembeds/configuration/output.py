"""Place of a new config, and the commands that come next."""

import os
from collections.abc import Iterable
from pathlib import Path
from shlex import join

from spacy.training.corpus import FILE_TYPE

from ..files import check_targets
from ..systems import find_descriptor
from .base import is_pipeline
from .configure import Configured
from .pretraining import name_weights
from .surroundings import CLASSIFIERS, FACTORIES, find_beside


def check_output(
    output: str | Path,
    *,
    base: str | Path,
    inputs: Iterable[str | Path | None],
    force: bool,
) -> None:
    """Check where a config goes: even with `force` into no pipeline or input."""
    path = Path(output)
    if find_descriptor(path) is not None:
        return
    # as it is named, and where links lead to
    for place in (Path(os.path.abspath(path)), Path(os.path.realpath(path))):
        if folder := next(filter(is_pipeline, place.parents), None):
            raise FileExistsError(
                f"'{path}' is in the saved pipeline '{folder}', whose files belong "
                "together. Name a file elsewhere."
            )
    given = [each for each in inputs if each is not None]
    # the files of a corpus may be links to others
    files = [file for each in given for file in Path(each).rglob(f"*{FILE_TYPE}")]
    check_targets([path], [*given, *files])
    if path.is_file() and not force:
        is_base = Path(base).is_file() and path.samefile(base)
        what = "the config to start from" if is_base else "there already"
        raise FileExistsError(
            f"'{path}' is {what}. Name another file, or have it replaced (--force)."
        )


def check_is_file(output: Path) -> None:
    """Check that there can be a file beside a config."""
    if find_descriptor(output) is not None:
        raise ValueError(
            "With --raw the symbols of the texts are saved beside the config, which "
            "can't go to standard output then. Name a file (--output)."
        )


def list_commands(
    made: Configured,
    output: str | Path,
    train: str | Path | None,
    code: str | Path | None = None,
) -> list[str]:
    """List the commands that train and evaluate, on known splits or made-up names, and
    before them the one that pretrains, if it is to be pretrained. Each imports `code`.
    """
    config = made.config.interpolate()
    paths = config.get("paths", {})
    corpus = str(train or paths.get("train") or "train.spacy")
    name = "config.cfg" if find_descriptor(Path(output)) is not None else str(output)
    folder = Path("training", Path(name).stem)
    training = ["spacy", "train", name, "--output", str(folder)]
    known = {"train": corpus, "dev": paths.get("dev") or _name_beside(corpus, "dev")}
    if made.needs_vectors:
        known["vectors"] = "VECTORS"
    for key, path in known.items():
        if key in paths:
            training += [f"--paths.{key}", str(path)]
    evaluation = ["spacy", "evaluate", str(folder / "model-best")]
    evaluation.append(_name_beside(corpus, "test"))
    factories = {c.get("factory") for c in config["components"].values()}
    if factories & {*FACTORIES, *CLASSIFIERS}:
        evaluation.insert(1, "hashembeds")
    if factories & {*FACTORIES}:
        evaluation += ["--train", corpus]
    commands = [training, evaluation]
    if made.is_pretrained:
        pretraining = ["spacy", "pretrain", name, str(name_weights(name).parent)]
        if "train" in paths and config["initialize"].get("before_init"):
            pretraining += ["--paths.train", corpus]  # which is counted
        commands.insert(0, pretraining)
    imported = [] if code is None else ["--code", str(code)]
    return [join([*command, *imported]) for command in commands]


def _name_beside(corpus: str, split: str) -> str:
    """Name the file of a split beside a corpus, or a made-up one."""
    path = find_beside(corpus, split)
    return str(path) if path.exists() else path.name
