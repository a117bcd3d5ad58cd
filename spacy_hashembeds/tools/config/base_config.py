"""The config to start from, and where the new one may be written."""

import json
import os
from collections.abc import Iterable
from configparser import Error as ConfigParserError
from pathlib import Path

from spacy.language import DEFAULT_CONFIG
from spacy.training.corpus import FILE_TYPE
from spacy.util import (
    get_lang_class,
    get_model_meta,
    get_package_path,
    is_package,
    load_config_from_str,
    walk_dict,
)
from thinc.api import Config

from ...files import STANDARD_INPUT, check_targets, find_descriptor, open_file
from ...loading import check_variables, describe_config_error
from .edits import Edits, get_value

_CONFIG, _META = "config.cfg", "meta.json"
#: Values of a config that are read before spaCy checks it.
_KINDS: dict[str, type] = {
    **dict.fromkeys(DEFAULT_CONFIG, dict),
    "nlp.lang": str,
    "nlp.pipeline": list,
    "nlp.disabled": list,
    "training.frozen_components": list,
    "training.train_corpus": str,
    "training.dev_corpus": str,
    "training.seed": int,
    "training.score_weights": dict,
}


def is_pipeline(folder: Path) -> bool:
    """True if a folder is that of a saved pipeline."""
    return (folder / _CONFIG).is_file() and (folder / _META).is_file()


def read_base(base: str | Path) -> Edits:
    """Read a config to change."""
    path = find_config(base)
    try:
        # without the byte-order mark that spaCy would not take
        with open_file(path, "r", encoding="utf-8-sig") as file:
            text = file.read()
        config = load_config_from_str(text)
        check_variables(config)
        if "$$" in text:  # which `Config.to_str` would double again
            config = Config(json.loads(json.dumps(config).replace("$$", "$")))
            if config.interpolate() != load_config_from_str(text, interpolate=True):
                raise ValueError("'$${' in it can't be kept. Write it another way.")
        if not (config.get("nlp") and config.get("components")):
            raise ValueError("it has nothing in [nlp] or [components].")
        config = DEFAULT_CONFIG.merge(config)
        plain = config.interpolate()
        _check_kinds(config, plain)
        get_lang_class(plain["nlp"]["lang"])
    # a language may be the name of something else in spaCy, or no name
    except (
        *(KeyError, ValueError, ConfigParserError),
        *(ImportError, AttributeError, TypeError),
    ) as error:
        raise ValueError(
            f"'{path}' should be a spaCy config, in UTF-8, but can't be read as one: "
            + describe_config_error(error)[:600]
        ) from error
    return Edits(path, config)


def _check_kinds(config: Config, plain: Config) -> None:
    """Check values that are read before spaCy would check them, and that sections stand
    where they are changed.
    """
    kinds = {**_KINDS}
    for name in plain["components"] if isinstance(plain["components"], dict) else ():
        place = f"components.{name}"
        kinds |= {place: dict, f"{place}.factory": str, f"{place}.source": str}
    kinds |= {".".join(k): str for k, _ in walk_dict(plain) if k[-1].startswith("@")}
    for place, kind in kinds.items():
        value = get_value(plain, place, default=kind())
        names = value if isinstance(value, list) else []
        if not isinstance(value, kind) or not all(isinstance(n, str) for n in names):
            raise ValueError(f"{place} should be a {kind.__name__}, not {value!r:.99}")
    for keys, value in walk_dict(config):
        place = ".".join(keys)
        is_inside = keys[0] == "components" and str(value).startswith("${components.")
        if isinstance(get_value(plain, place), dict) and not is_inside:
            raise ValueError(
                f"{place} should be a section of its own, but is {value}, a variable "
                "for another. Write it out."
            )


def find_config(base: str | Path) -> Path:
    """Find a config, which may be that of the folder or package of a pipeline."""
    path, name = Path(base), str(base)
    if path == STANDARD_INPUT or (path.exists() and not path.is_dir()):
        return path
    if name and (path / _CONFIG).is_file():
        return path / _CONFIG
    if name and not path.exists() and is_package(name):
        folder = get_package_path(name)
        meta = get_model_meta(folder)
        return folder / f"{meta['lang']}_{meta['name']}-{meta['version']}" / _CONFIG
    raise FileNotFoundError(
        f"There is no config, and no folder or package of a pipeline, '{base}'. Give a "
        ".cfg file, or a saved pipeline, such as the folder model-best."
    )


def check_output(
    output: Path, *, inputs: Iterable[str | Path | None], force: bool
) -> None:
    """Check where a config goes: even with `force` into no pipeline or input."""
    if find_descriptor(output) is not None:
        return
    # as it is named, and where links lead to
    places = Path(os.path.abspath(output)), Path(os.path.realpath(output))
    if any(is_pipeline(parent) for place in places for parent in place.parents):
        raise FileExistsError(
            f"'{output}' is in a saved pipeline, whose files belong together. Name a "
            "file elsewhere."
        )
    given = [each for each in inputs if each is not None]
    # the files of a corpus may be links to others
    files = [file for each in given for file in Path(each).rglob(f"*{FILE_TYPE}")]
    check_targets([output], [*given, *files])
    if output.is_file() and not force:
        raise FileExistsError(f"'{output}' is there already: use another, or --force.")
