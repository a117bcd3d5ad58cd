"""The config to start from: a file, or that of a saved pipeline."""

import os
from configparser import Error as ConfigParserError
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy.util import (
    get_lang_class,
    get_model_meta,
    get_package_path,
    is_package,
    load_config_from_str,
)
from thinc.api import Config

from ..files import quote
from ..loading import check_variables, find_architectures
from ..systems import STANDARD_INPUT, open_file

_CONFIG, _META = "config.cfg", "meta.json"


@dataclass(frozen=True)
class Base:
    """A config that was read."""

    path: Path
    text: str
    config: Config  #: With variables.

    @property
    def is_pipeline(self) -> bool:
        """Tell whether it is the config of a saved pipeline."""
        return self.path.name == _CONFIG and is_pipeline(self.path.parent)


def read_base(base: str | Path) -> Base:
    """Read a config: a `.cfg` file, or the folder or package of a saved pipeline."""
    path = find_config(base)
    text = _read_text(path)
    try:
        config = load_config_from_str(text)
        check_variables(config)
        plain = config.interpolate()
    except (KeyError, ValueError, ConfigParserError) as error:
        raise ValueError(
            f"'{path}' should be a spaCy config, but can't be read as one: "
            + _describe(error)
        ) from error
    try:
        _check_contents(plain)
    except ValueError as error:
        raise ValueError(f"'{path}' {error}") from error
    return Base(path, text, config)


def _read_text(path: Path) -> str:
    try:
        # without the byte-order mark that spaCy would not take
        with open_file(path, "r", encoding="utf-8-sig") as file:
            text = file.read()
        if "\0" in text:
            raise ValueError("it holds NUL characters")
    except ValueError as error:
        raise ValueError(
            f"'{path}' should be a spaCy config in UTF-8, but is no such text "
            f"({error}). If it is one in another encoding, such as UTF-16, save it as "
            "UTF-8."
        ) from error
    return text


def _describe(error: Exception) -> str:
    """Say on one line what spaCy lays out over many."""
    if isinstance(error, KeyError):
        section = str(error.args[0])[:500]
        return f"the section [{section}] should stand above those inside it."
    return " ".join(str(error).split())[:500]


def is_pipeline(folder: Path) -> bool:
    """Tell whether a folder is that of a saved pipeline."""
    return (folder / _CONFIG).is_file() and (folder / _META).is_file()


def find_config(base: str | Path) -> Path:
    """Find a config, which may be that of the folder or package of a pipeline."""
    if not str(base):
        raise ValueError("'base' should name a config, but is empty.")
    path = Path(base)
    if path.is_dir():
        if (path / _CONFIG).is_file():
            return path / _CONFIG
        inside = sorted(str(meta.parent) for meta in path.glob(f"*/{_META}"))
        remedy = f" Give one of those in it: {', '.join(inside)}." if inside else ""
        raise FileNotFoundError(
            f"The folder '{path}' should be a saved pipeline, but has no {_CONFIG}."
            f"{remedy}"
        )
    if path.is_file() or path.is_fifo():  # a pipe, such as that of <(…)
        return path
    if path == STANDARD_INPUT and not path.exists():  # as on Windows
        return path
    if os.path.lexists(path):
        what = "a device or socket" if path.exists() else "a link that leads nowhere"
        raise FileNotFoundError(f"'{path}' should be a .cfg file, but is {what}.")
    if is_package(str(base)):
        folder = get_package_path(str(base))
        meta = get_model_meta(folder)
        return folder / f"{meta['lang']}_{meta['name']}-{meta['version']}" / _CONFIG
    raise FileNotFoundError(
        f"There is no config, no folder and no package '{base}'. Give a .cfg file, as "
        "`spacy init config` writes it, or a saved pipeline."
    )


def _check_contents(config: Config) -> None:
    """Check that what we look at, without variables, is what spaCy would take."""
    for section in ("nlp", "components"):
        if not config.get(section):
            raise ValueError(
                f"should be the config of a pipeline, but has nothing in [{section}]. "
                "Make one with `spacy init config`."
            )
    _check_language(config["nlp"].get("lang"))
    for key in ("pipeline", "disabled"):
        _check_names("nlp", key, config["nlp"].get(key, []))
    for name, component in config["components"].items():
        _check("components", name, component, dict, "a section")
        factory = component.get("factory", "")
        _check(f"components.{name}", "factory", factory, str, "a name")
    for place, block in find_architectures(config).items():
        _check(place, "@architectures", block["@architectures"], str, "a name")
    training = config.get("training", {})
    frozen = training.get("frozen_components", [])
    _check_names("training", "frozen_components", frozen)
    for key in ("train_corpus", "dev_corpus"):
        _check("training", key, training.get(key, ""), str, "the name of a section")
    weights = training.get("score_weights") or {}
    _check("training", "score_weights", weights, dict, "a section")
    for name, weight in weights.items():
        number = (int, float, type(None))
        _check("training.score_weights", name, weight, number, "a number")


def _check_language(lang: Any) -> None:
    if not lang:
        raise ValueError(
            "should say which language the pipeline is for, as 'lang' in [nlp]: norms "
            "depend on it."
        )
    try:
        get_lang_class(lang)
    # a name may be that of something else in spaCy, or of no type for names
    except (ImportError, AttributeError, TypeError) as error:
        raise ValueError(
            "should have the code of a language that spaCy knows as 'lang' in [nlp], "
            f"such as 'en', or 'xx' where there is none, but has {quote(lang)}. If "
            "code of yours brings the language, install it as a package."
        ) from error


def _check_names(section: str, key: str, value: Any) -> None:
    _check(section, key, value, list, "a list of names")
    for name in value:
        _check(section, key, name, str, "a list of names")


def _check(
    section: str, key: str, value: Any, kind: type | tuple[type, ...], what: str
) -> None:
    if not isinstance(value, kind):
        raise ValueError(
            f"should have {what} as '{key}' in [{section}], but has {quote(value)}."
        )
