"""Load configs and trained pipelines, with more helpful errors than spaCy's."""

import json
from collections.abc import Mapping
from configparser import Error as ConfigParserError
from pathlib import Path
from typing import Any

from confection import ConfigValidationError
from spacy import util
from spacy.language import Language
from spacy.util import dot_to_object, load_model
from thinc.api import Config

#: Errors that are raised unchanged: their messages are clear.
_CLEAR_ERRORS = (OSError, ImportError, ConfigValidationError)
#: spaCy's error codes for an unknown component, function and language.
_MISSING_CODE = ("[E002]", "[E893]", "[E048]")


def load_config(path: str | Path, overrides: Mapping[str, Any] | None = None) -> Config:
    """Load a config as spaCy does, and check its variables."""
    try:
        config = util.load_config(path, overrides=dict(overrides or {}))
        check_variables(config)
    except ConfigParserError as error:  # a duplicate section or key
        raise ValueError(f"'{path}' should be a spaCy config, but {error}") from error
    return config


def find_architectures(config: Config) -> dict[str, dict[str, Any]]:
    """Map names ("components.ner.model") to sections that have `@architectures`."""
    plain, name = interpolate(config), "@architectures"
    keys = util.walk_dict(plain.get("components", {}), ["components"])
    places = [".".join(parts[:-1]) for parts, _ in keys if parts[-1] == name]
    return {place: dict(dot_to_object(plain, place)) for place in places}


def interpolate(config: Config) -> Config:
    """Replace the variables of a config by their values, unless already replaced."""
    return config if config.is_interpolated else config.interpolate()


def check_variables(config: Config) -> None:
    """Raise a configparser error for a circular variable. It does not name the file."""
    try:
        json.dumps(config.interpolate(), default=str)
    except ConfigValidationError:
        pass  # spaCy raises a clear error later
    except ValueError as error:  # circular values can't be written as JSON
        raise ConfigParserError(
            "a variable inserts a section into itself. Write out the value instead."
        ) from error


def load_trained(model: str | Path) -> Language:
    """Load a trained pipeline, with more helpful errors than spaCy's."""
    path = Path(model)
    if not path.exists() and (path.suffix or len(path.parts) > 1):  # not a package
        raise FileNotFoundError(f"There is no file or folder '{model}'.")
    if path.is_file():
        raise ValueError(
            f"'{model}' should be a pipeline, a package name or a folder, but is a "
            "file. Pass the folder that `spacy train` wrote, model-best; see --help "
            "for the order of arguments."
        )
    if path.is_dir() and not (path / "meta.json").is_file():
        inside = sorted(meta.parent for meta in path.glob("*/meta.json"))
        if inside:
            raise ValueError(
                f"The folder '{model}' is not a pipeline, but contains pipelines. Pass "
                "one of them: " + " or ".join(f"'{p}'" for p in inside) + "."
            )
    try:
        if (config := path / "config.cfg").is_file():
            load_config(config)
        return load_model(model)
    except Exception as error:  # a damaged file may raise any error
        if (explained := _explain(model, error)) is None:
            raise
        raise ValueError(explained) from error


def describe_config_error(error: Exception) -> str:
    """Describe on one line why a config can't be read."""
    if isinstance(error, KeyError):
        section = str(error.args[0])[:500]
        return f"the section [{section}] should stand above its subsections."
    reason = " ".join(str(error).split())
    if "found conflicting values" in reason:
        reason += (
            ": a section and a value have the same name, such as `before_init = null` "
            "in [initialize]. Delete the line with the value."
        )
    return reason


def explain_missing_code(error: Exception) -> str | None:
    """Explain how to provide missing code, or return None for another error."""
    if not str(error).startswith(_MISSING_CODE):
        return None
    return (
        # the rest of the message only lists known names
        f"{str(error).partition('. ')[0]}. Pass the file that defines it (--code; in "
        "Python, import it first), or install the package that provides it"
    )


def _explain(model: str | Path, error: Exception) -> str | None:
    """Explain why a pipeline can't be loaded, or return None if the error is clear."""
    if (missing := explain_missing_code(error)) is not None:
        return f"The pipeline '{model}' needs code that is missing: {missing}."
    # spaCy's numbered errors have clear messages
    is_clear = isinstance(error, ValueError) and str(error).startswith("[E")
    if is_clear or isinstance(error, _CLEAR_ERRORS):
        return None
    if "mismatched structure" in str(error):
        return (
            f"The weights in '{model}' don't fit the layers built from its config "
            f"({error}): a registered function differs from the one used in training. "
            "If the pipeline has custom code, pass it (--code), or install the package "
            "that provides it."
        )
    reason = f"{type(error).__name__}: {error}".strip(": ")
    return (
        f"The pipeline '{model}' can't be loaded ({reason}). Is one of its files "
        "damaged, or does a package it needs have another version?"
    )
