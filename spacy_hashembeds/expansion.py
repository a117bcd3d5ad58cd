"""What the variables of a config stand for, counted before anybody follows them."""

import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

#: Values and sections that variables stand for, each counted whenever it is named.
MAX_VALUES = 5_000

#: A section, or with a key a value in it.
_Place = tuple[str, str | None]

#: As confection reads them: `$$` is no variable, but a dollar sign.
_VARIABLE = re.compile(r"\$\$|\$\{([^${}]+)\}")

# A text counts as one value more for each so many characters.
_LONG = 1_000


class ExpansionError(ValueError):
    """Says that the variables of a config stand for too much."""


def check_variables(config: Mapping[str, Any]) -> None:
    """Refuse a config that has no end, or hardly, once each variable is replaced by
    what it stands for. All else that may be wrong is left to spaCy, which would follow
    the variables.

    config (Mapping[str, Any]): The config, with variables.
    RAISES (ExpansionError): If a variable stands for what it stands in, or if variables
        stand for more than `MAX_VALUES` values. Does not name the file.
    """
    values = _find_values(config)
    parts = {place: [*_find_parts(place, values)] for place in values}
    own = {place: _measure(value) for place, value in values.items()}
    sizes: dict[_Place, int] = {}
    try:
        for place in TopologicalSorter(parts).static_order():
            sizes[place] = own[place] + sum(sizes[part] for part in parts[place])
    except CycleError as error:
        place = next(place for place in error.args[1] if place[1] is not None)
        raise ExpansionError(
            f"the variable at {_name(place)} stands for something that it stands in "
            "itself. Write out what is meant."
        ) from None
    if sizes["", None] > sum(own.values()) + MAX_VALUES:
        largest = max((p for p in sizes if p[1] is not None), key=sizes.__getitem__)
        raise ExpansionError(
            f"its variables stand for more than {MAX_VALUES:,} values, each counted "
            f"whenever it is named, and that at {_name(largest)} for most of them. "
            "Write out what is meant."
        )


def _measure(value: Any) -> int:
    return 1 + (len(value) // _LONG if isinstance(value, str) else 0)


def _find_values(config: Mapping[str, Any]) -> dict[_Place, Any]:
    """Find all values of a config, its sections among them."""
    values: dict[_Place, Any] = {("", None): config}
    sections = [("", config)]
    for name, section in sections:
        for key, value in section.items():
            place = _get_place(name, key, value)
            values[place] = value
            if isinstance(value, Mapping):
                sections.append((place[0], value))
    return values


def _get_place(section: str, key: str, value: Any) -> _Place:
    if isinstance(value, Mapping):
        return f"{section}.{key}" if section else key, None
    return section, key


def _find_parts(place: _Place, values: Mapping[_Place, Any]) -> Iterator[_Place]:
    """Find what is inside a section, or what the variables in a value stand for."""
    section, value = place[0], values[place]
    if isinstance(value, Mapping):
        for key, inside in value.items():
            yield _get_place(section, key, inside)
        return
    for variable in filter(None, _VARIABLE.findall(str(value))):
        name, _, key = variable.replace(":", ".").rpartition(".")
        target = (name or section, key)
        # one without a dot may be the name of a section, which its own key may have too
        if target not in values or (not name and values[target] == value):
            target = (f"{name}.{key}" if name else key, None)
        if target in values:
            yield target


def _name(place: _Place) -> str:
    return f"[{place[0]}] {place[1]}"
