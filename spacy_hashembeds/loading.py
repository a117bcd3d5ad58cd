"""Loading configs and trained pipelines, with errors that say more than spaCy's."""

import json
from collections.abc import Mapping
from configparser import Error as ConfigParserError
from pathlib import Path
from typing import Any

from confection import ConfigValidationError
from spacy import util
from spacy.language import Language
from spacy.util import load_model
from thinc.api import Config

#: Those that say what is wrong.
_CLEAR_ERRORS = (OSError, ImportError, ConfigValidationError)


def load_config(path: str | Path, overrides: Mapping[str, Any] | None = None) -> Config:
    """Load a config with its variables, as spaCy does, but for `check_variables`."""
    try:
        config = util.load_config(path, overrides=dict(overrides or {}))
        check_variables(config)
    except ConfigParserError as error:  # a section or a key that is there twice
        raise ValueError(f"'{path}' should be a spaCy config, but {error}") from error
    return config


def check_variables(config: Config) -> None:
    """Refuse a config, by configparser's errors, with a variable that stands for
    something that it stands in itself: spaCy would follow it. They don't name the file.
    """
    try:
        json.dumps(config.interpolate(), default=str)
    except ConfigValidationError:
        pass  # spaCy says what is wrong
    except ValueError as error:  # what is circular is no JSON
        raise ConfigParserError(
            "a variable puts a section into itself. Write out what is meant."
        ) from error


def load_trained(model: str | Path) -> Language:
    """Load a trained pipeline, and say more than spaCy does of what is none."""
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
        # spaCy says what is wrong after the number of an error
        if isinstance(error, _CLEAR_ERRORS) or str(error).startswith("[E"):
            raise
        if "mismatched structure" in str(error):
            raise ValueError(
                f"The weights in '{model}' are those of other layers than its config "
                f"makes here ({error}): a function that it names is not the one it was "
                "trained with. 'spacy.MultiEmbed.v1', for one, is that of "
                "spacy-hashembeds unless code registers another. If the pipeline has "
                "code of its own, put both into a package (`spacy package --code`), "
                "install that and give its name."
            ) from error
        reason = f"{type(error).__name__}: {error}".strip(": ")
        raise ValueError(
            f"The pipeline '{model}' can't be loaded ({reason}). Is a file in it "
            "damaged? Save it anew, or install its package again."
        ) from error
