"""The config to start from, and where the new one may be written."""

import json
import os
from collections.abc import Iterable
from configparser import Error as ConfigParserError
from pathlib import Path

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
from .edits import Edits, get_value, read_comments

_CONFIG, _META = "config.cfg", "meta.json"
#: What is read of a config before spaCy would check it.
_KINDS: dict[str, type] = {
    "nlp.lang": str,
    "nlp.pipeline": list,
    "nlp.disabled": list,
    "training.frozen_components": list,
    "training.train_corpus": str,
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
        plain = load_config_from_str(text, interpolate=True)
        if "$$" in text:  # which `Config.to_str` would double again
            config = Config(json.loads(json.dumps(config).replace("$$", "$")))
            if config.interpolate() != plain:
                raise ValueError("'$${' in it can't be kept. Write it another way.")
        if not (plain.get("nlp") and plain.get("components")):
            raise ValueError(
                "it has nothing in [nlp] or [components]. Make one with `spacy init "
                "config`."
            )
        _check_kinds(plain)
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
    return Edits(path, config, plain, read_comments(text))


def _check_kinds(plain: Config) -> None:
    """Check the kinds of values that are read before spaCy would check them."""
    kinds: dict[str, type] = {**_KINDS}
    for name, component in plain["components"].items():
        kinds[f"components.{name}"] = dict
        if isinstance(component, dict):
            key = "source" if "source" in component else "factory"
            kinds[f"components.{name}.{key}"] = str
    for keys, _ in walk_dict(plain["components"], ["components"]):
        if keys[-1] == "@architectures":
            kinds[".".join(keys)] = str
    for place, kind in kinds.items():
        section, _, key = place.rpartition(".")
        block = get_value(plain, section) or {}
        value = block.get(key)
        names = value if isinstance(value, list) else []
        is_right = isinstance(value, kind) and all(isinstance(n, str) for n in names)
        if not is_right and (key in block or place == "nlp.lang"):
            raise ValueError(
                f"[{section}] {key} should be a {kind.__name__}, but is {value!r:.99}"
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
    inside = [str(meta.parent) for meta in sorted(path.glob(f"*/{_META}"))]
    raise FileNotFoundError(
        f"There is no config, and no folder or package of a pipeline, '{base}'. Give a "
        ".cfg file, as `spacy init config` writes it, or a saved pipeline"
        + (f", such as one of these: {', '.join(inside)}." if inside else ".")
    )


def check_output(
    output: Path, *, base: str | Path, inputs: Iterable[str | Path | None], force: bool
) -> None:
    """Check where a config goes: even with `force` into no pipeline or input."""
    if find_descriptor(output) is not None:
        return
    # as it is named, and where links lead to
    for place in (Path(os.path.abspath(output)), Path(os.path.realpath(output))):
        if any(map(is_pipeline, place.parents)):
            raise FileExistsError(
                f"'{output}' is in a saved pipeline, whose files belong together. Name "
                "a file elsewhere."
            )
    given = [each for each in inputs if each is not None]
    # the files of a corpus may be links to others
    files = [file for each in given for file in Path(each).rglob(f"*{FILE_TYPE}")]
    check_targets([output], [*given, *files])
    if output.is_file() and not force:
        is_base = Path(base).is_file() and output.samefile(base)
        what = "the config to start from" if is_base else "there already"
        raise FileExistsError(
            f"'{output}' is {what}. Name another file, or have it replaced (--force)."
        )
