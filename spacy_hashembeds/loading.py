"""Loading configs and trained pipelines, with errors that say more than spaCy's."""

import json
import sys
from collections.abc import Mapping
from configparser import Error as ConfigParserError
from contextlib import suppress
from pathlib import Path
from traceback import walk_tb
from typing import Any

from confection import VARIABLE_RE, ConfigValidationError
from spacy import util
from spacy.language import Language
from spacy.util import dot_to_object, load_model
from thinc.api import Config

#: The values that a config holds at most, its variables written out.
MAX_VALUES = 100_000

#: Those that say what is wrong.
_CLEAR_ERRORS = (OSError, ImportError, ConfigValidationError)
#: And those of spaCy that lack the code of a component, a function, a language.
_MISSING_CODE = ("[E002]", "[E893]", "[E048]")
#: Whose code reads a pipeline's files, and fails where these are damaged.
_READERS = {
    *("catalogue", "confection", "numpy", "preshed", "pydantic", "spacy", "srsly"),
    *("thinc", "torch", __package__),
}


def load_config(path: str | Path, overrides: Mapping[str, Any] | None = None) -> Config:
    """Load a config with its variables, as spaCy does, but for `check_variables`."""
    try:
        config = util.load_config(path, overrides=dict(overrides or {}))
        check_variables(config)
    except ConfigParserError as error:  # a section or a key that is there twice
        raise ValueError(f"'{path}' should be a spaCy config, but {error}") from error
    return config


def find_architectures(config: Config) -> dict[str, dict[str, Any]]:
    """Find blocks with an architecture, resolved, by place ("components.ner.model")."""
    plain, name = interpolate(config), "@architectures"
    keys = util.walk_dict(plain.get("components", {}), ["components"])
    places = [".".join(parts[:-1]) for parts, _ in keys if parts[-1] == name]
    return {place: dict(dot_to_object(plain, place)) for place in places}


def interpolate(config: Config) -> Config:
    """Write a config's variables out, unless they are."""
    return config if config.is_interpolated else config.interpolate()


def check_variables(config: Config) -> None:
    """Refuse a config, by configparser's errors, with a variable that stands for
    something that it stands in itself, or for too much: spaCy would follow it. They
    don't name the file.
    """
    if _count_values(config, config, {}) > MAX_VALUES:
        raise ConfigParserError(
            f"with its variables written out, it holds more than {MAX_VALUES:,} "
            "values: they stand for others that stand for others. Write out some."
        )
    try:
        json.dumps(config.interpolate(), default=str)
    except ConfigValidationError:
        pass  # spaCy says what is wrong
    except ValueError as error:  # what is circular is no JSON
        raise ConfigParserError(
            "a variable puts a section into itself. Write out what is meant."
        ) from error


def _count_values(config: Config, value: Any, known: dict[str, int]) -> int:
    """Count what a value of a config holds, each variable as what it stands for."""
    if isinstance(value, Mapping):
        return 1 + sum(_count_values(config, each, known) for each in value.values())
    found = VARIABLE_RE.findall(str(value))
    for variable in found:
        if variable not in known:
            known[variable] = 0  # while it is counted, and if nothing is there
            with suppress(KeyError):
                inside = dot_to_object(config, variable[2:-1].replace(":", "."))
                known[variable] = _count_values(config, inside, known)
    return 1 + sum(known[variable] for variable in found)


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
        if (explained := _explain(model, error)) is None:
            raise
        raise ValueError(explained) from error


def explain_missing_code(error: Exception) -> str | None:
    """Say how to bring the code that spaCy does not find, if that is the error."""
    if not str(error).startswith(_MISSING_CODE):
        return None
    return (
        # what follows are names that there are
        f"{str(error).partition('. ')[0]}. Give the file that has it (--code; in "
        "Python, import it first), or install the package that brings it"
    )


def _explain(model: str | Path, error: Exception) -> str | None:
    """Say what an error does not say itself of a pipeline that can't be loaded."""
    reason = f"{type(error).__name__}: {error}".strip(": ")
    if (missing := explain_missing_code(error)) is not None:
        return (
            f"The pipeline '{model}' needs code that is not here: {missing}, such as "
            "the one that the pipeline came in, by whose name it is loaded then, or "
            "'requirements' in its meta.json."
        )
    if (package := _find_failing(error)) is not None:
        return (
            f"The pipeline '{model}' can't be loaded: '{package}', which it needs, "
            f"fails ({reason}). Is it installed in a version that works here, with all "
            "that it needs itself?"
        )
    # spaCy says what is wrong after the number of an error
    if isinstance(error, _CLEAR_ERRORS) or str(error).startswith("[E"):
        return None
    if "mismatched structure" in str(error):
        return (
            f"The weights in '{model}' are those of other layers than its config "
            f"makes here ({error}): a function that it names is not the one it was "
            "trained with. 'spacy.MultiEmbed.v1', for one, is that of "
            "spacy-hashembeds unless code registers another. If the pipeline has "
            "code of its own, give it (--code), or put both into a package (`spacy "
            "package --code`), install that and give its name."
        )
    return (
        f"The pipeline '{model}' can't be loaded ({reason}). Is a file in it "
        "damaged? Save it anew, or install its package again."
    )


def _find_failing(error: Exception) -> str | None:
    """Find the package whose code failed, unless it is one that reads the files."""
    frames = (frame for frame, _ in walk_tb(error.__traceback__))
    names = [str(frame.f_globals.get("__name__")).split(".")[0] for frame in frames]
    own = [name for name in names if name not in sys.stdlib_module_names]
    return own[-1] if own and own[-1] not in _READERS else None
