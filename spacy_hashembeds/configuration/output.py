"""Where a new config may be written."""

import os
from pathlib import Path

from spacy.training.corpus import FILE_TYPE

from ..files import find_descriptor
from .base import is_pipeline


def check_output(
    output: str | Path, *, base: str | Path, train: str | Path | None, force: bool
) -> None:
    """Check that a config may be written without a loss.

    output (str | Path): The file to write.
    base (str | Path): The config to start from.
    train (str | Path, optional): The training corpus.
    force (bool): Whether a file may be replaced. Nothing in a saved pipeline, and
        nothing of the training corpus, ever is.
    RAISES (FileExistsError): If something is there that is not to be replaced.
    """
    path = Path(output)
    if find_descriptor(path) is not None:
        return
    _check_is_in_no_pipeline(path)
    if train is not None:
        _check_is_not_of_corpus(path, Path(train))
    if path.is_file() and not force:
        is_base = Path(base).is_file() and path.samefile(base)
        what = "the config to start from" if is_base else "there already"
        raise FileExistsError(
            f"'{path}' is {what}. Name another file, or have it replaced (--force)."
        )


def _check_is_in_no_pipeline(path: Path) -> None:
    for folder in _find_folders(path):
        if is_pipeline(folder):
            raise FileExistsError(
                f"'{path}' is in the saved pipeline '{folder}', whose files belong "
                "together. Name a file elsewhere."
            )


def _check_is_not_of_corpus(path: Path, train: Path) -> None:
    if not train.exists():
        return
    if any(folder.samefile(train) for folder in _find_folders(path)):
        raise FileExistsError(
            f"'{path}' is in the folder of the training corpus, '{train}'. Name a file "
            "elsewhere."
        )
    # its files may be links to others
    corpus = [train, *train.rglob(f"*{FILE_TYPE}")]
    if path.exists() and any(f.exists() and path.samefile(f) for f in corpus):
        raise FileExistsError(
            f"'{path}' is the training corpus, and would be replaced. Name another "
            "file for the config."
        )


def _find_folders(path: Path) -> list[Path]:
    """Find the folders that a file is in, as it is named and where links lead to."""
    places = (os.path.abspath(path), os.path.realpath(path))
    folders = dict.fromkeys(f for place in places for f in Path(place).parents)
    return [folder for folder in folders if folder.is_dir()]
