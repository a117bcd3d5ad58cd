"""Where a new config may be written."""

from pathlib import Path

from ..files import find_descriptor
from .base import is_config_of_pipeline


def check_output(
    output: str | Path, *, base: str | Path, train: str | Path | None, force: bool
) -> None:
    """Check that a config may be written without a loss.

    output (str | Path): The file to write.
    base (str | Path): The config to start from.
    train (str | Path, optional): The training corpus.
    force (bool): Whether a file may be replaced.
    RAISES (FileExistsError): If something is there that is not to be replaced.
    """
    path = Path(output)
    if find_descriptor(path) is not None or not path.is_file():
        return
    if is_config_of_pipeline(path):
        raise FileExistsError(
            f"'{path}' is the config of a saved pipeline, whose weights would not fit "
            "another. Name a file elsewhere."
        )
    if train is not None and Path(train).exists() and path.samefile(train):
        raise FileExistsError(
            f"'{path}' is the training corpus, and would be replaced. Name another "
            "file for the config."
        )
    if not force:
        is_base = Path(base).is_file() and path.samefile(base)
        what = "the config to start from" if is_base else "there already"
        raise FileExistsError(
            f"'{path}' is {what}. Name another file, or have it replaced (--force)."
        )
