"""Loading configs and trained pipelines, with errors that say more than spaCy's."""

import re
from collections.abc import Iterator, Mapping
from configparser import Error as ConfigParserError
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from confection import ConfigValidationError
from spacy import util
from spacy.language import Language
from spacy.util import load_model
from thinc.api import Config

#: Values and sections that variables stand for, each counted whenever it is named.
MAX_VALUES = 5_000

#: As confection reads them: `$$` is no variable, but a dollar sign.
_VARIABLE = re.compile(r"\$\$|\$\{([^${}]+)\}")

# A text counts as one value more for each so many characters.
_LONG = 1_000

#: The names that lead to a section or a value of a config.
_Place = tuple[str, ...]


class ExpansionError(ValueError):
    """Says that the variables of a config stand for too much."""


#: Those that say what is wrong.
_CLEAR_ERRORS = (OSError, ImportError, ConfigValidationError, ExpansionError)


def load_config(path: str | Path, overrides: Mapping[str, Any] | None = None) -> Config:
    """Load a config with its variables, as spaCy does, but for `check_variables`."""
    try:
        config = util.load_config(path, overrides=dict(overrides or {}))
        check_variables(config)
    except ConfigParserError as error:  # a section or a key that is there twice
        raise ValueError(f"'{path}' should be a spaCy config, but {error}") from error
    except ExpansionError as error:
        message = f"'{path}' should be a spaCy config, but {error}"
        raise ExpansionError(message) from error
    return config


def check_variables(config: Mapping[str, Any]) -> None:
    """Refuse a config that has no end, or more than `MAX_VALUES` more values, once each
    variable is replaced: spaCy would follow them. The error does not name the file.
    """
    values: dict[_Place, Any] = {(): config}
    places: list[_Place] = [()]
    for place in places:
        if isinstance(values[place], Mapping):
            inside = {(*place, key): value for key, value in values[place].items()}
            values.update(inside)
            places.extend(inside)
    parts = {place: [*_find_parts(place, values)] for place in places}
    own = {
        place: 1 + (len(value) // _LONG if isinstance(value, str) else 0)
        for place, value in values.items()
    }
    sizes: dict[_Place, int] = {}
    try:
        for place in TopologicalSorter(parts).static_order():
            sizes[place] = own[place] + sum(sizes[part] for part in parts[place])
    except CycleError as error:
        cycle = error.args[1]
        place = next(p for p in cycle if not isinstance(values[p], Mapping))
        raise ExpansionError(
            f"the variable at {_name(place)} stands for something that it stands in "
            "itself. Write out what is meant."
        ) from None
    if sizes[()] > sum(own.values()) + MAX_VALUES:
        ends = (p for p in sizes if not isinstance(values[p], Mapping))
        largest = _name(max(ends, key=sizes.__getitem__))
        raise ExpansionError(
            f"its variables stand for more than {MAX_VALUES:,} values, each counted "
            f"whenever it is named, and that at {largest} for most of them. Write out "
            "what is meant."
        )


def _find_parts(place: _Place, values: Mapping[_Place, Any]) -> Iterator[_Place]:
    """Find what is inside a section, or what the variables in a value stand for."""
    value = values[place]
    if isinstance(value, Mapping):
        yield from ((*place, key) for key in value)
        return
    for variable in filter(None, _VARIABLE.findall(str(value))):
        target = tuple(variable.replace(":", ".").split("."))
        # one without a dot may be the name of a section, which its own key may have too
        beside = (*place[:-1], *target)
        if len(target) == 1 and not isinstance(values.get(beside, {}), Mapping):
            target = target if values[beside] == value else beside
        if target in values:
            yield target


def _name(place: _Place) -> str:
    return f"[{'.'.join(place[:-1])}] {place[-1]}"


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
