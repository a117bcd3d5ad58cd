"""Loading configs and trained pipelines, with errors that say more than spaCy's."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from confection import ConfigValidationError
from spacy import util
from spacy.language import Language
from spacy.util import load_model
from thinc.api import Config

from .expansion import ExpansionError, check_variables

#: Those that say what is wrong.
_CLEAR_ERRORS = (OSError, ImportError, ConfigValidationError, ExpansionError)


def load_config(path: str | Path, overrides: Mapping[str, Any] | None = None) -> Config:
    """Load a config with its variables, unless these have no end.

    overrides (Mapping[str, Any], optional): Settings to change, with dotted keys.
    RAISES (OSError): If there is no such file.
    RAISES (ValueError): If it is no config, or there is no section of an override.
    RAISES (ExpansionError): If variables stand for too much: see `check_variables`.
    """
    config = util.load_config(path, overrides=dict(overrides or {}))
    try:
        check_variables(config)
    except ExpansionError as error:
        message = f"'{path}' should be a spaCy config, but {error}"
        raise ExpansionError(message) from error
    return config


def load_trained(model: str | Path) -> Language:
    """Load a trained pipeline, and say more than spaCy does of what is none.

    model (str | Path): The pipeline, name or folder.
    RAISES (OSError): If there is no such pipeline.
    RAISES (ValueError): If it is a file, a folder that has pipelines in it, or a
        pipeline whose weights are those of other layers than its config names, or
        whose config has variables without an end.
    """
    path = Path(model)
    if path.is_file():
        remedy = {
            ".cfg": "A config is for `spacy hashembeds analyze --config`.",
            ".spacy": "A corpus is another argument: see --help for their order.",
        }.get(path.suffix, "Give the folder that `spacy train` wrote, model-best.")
        raise ValueError(
            f"'{model}' should be a pipeline, a package name or a folder, but is a "
            f"file. {remedy}"
        )
    if path.is_dir() and not (path / "meta.json").is_file():
        inside = sorted(meta.parent for meta in path.glob("*/meta.json"))
        if inside:
            raise ValueError(
                f"The folder '{model}' is no pipeline itself, but holds some. Give the "
                "one that is meant: " + " or ".join(f"'{p}'" for p in inside) + "."
            )
    try:
        if (config := path / "config.cfg").is_file():
            load_config(config)
        return load_model(model)
    except Exception as error:  # of whatever reads the file that is damaged
        if isinstance(error, _CLEAR_ERRORS):
            raise
        if str(error).startswith("[E"):  # spaCy says what is wrong
            raise
        raise ValueError(_describe(model, error)) from error


def _describe(model: str | Path, error: Exception) -> str:
    if "mismatched structure" not in str(error):
        reason = f"{type(error).__name__}: {error}".strip(": ")
        return (
            f"The pipeline '{model}' can't be loaded ({reason}). Is a file in it "
            "damaged? Save it anew, or install its package again."
        )
    return (
        f"The weights in '{model}' are those of other layers than its config makes "
        f"here ({error}): a function that it names is not the one it was trained "
        "with. 'spacy.MultiEmbed.v1', for one, is that of spacy-hashembeds unless "
        "code registers another. If the pipeline has code of its own, put both "
        "into a package (`spacy package --code`), install that and give its name."
    )
