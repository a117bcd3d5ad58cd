"""Models that a component names by a variable, written out where they are used."""

from copy import deepcopy
from itertools import accumulate
from typing import Any

from ..acceleration.conversion import find_architectures
from .draft import Draft
from .models import find_left, is_put_in


def write_out_variables(draft: Draft) -> None:
    """Write out the blocks that variables stand for, if they hold a layer to replace.

    What stands in a component that may change is left: there it is changed for all.
    """
    left = find_left(draft.config)
    for path, block in find_architectures(draft.config).items():
        is_left = path.split(".")[1] in left
        while not is_left and is_put_in(block["@architectures"]):
            place = _find_variable(draft, path)
            if place is None or _is_changed_elsewhere(draft, place, left):
                break
            draft.replace(
                place,
                deepcopy(draft.get(_get_target(draft, place))),
                {None: f"In place of {draft.get(place)}, to be changed here alone."},
            )


def _find_variable(draft: Draft, path: str) -> str | None:
    """Find the place above a model, or its own, where a variable stands for it."""
    places = accumulate(path.split("."), "{}.{}".format)
    return next((p for p in places if isinstance(draft.get(p), str)), None)


def _get_target(draft: Draft, place: str) -> str:
    """Get the section that a variable stands for, which may be one itself."""
    value: Any = draft.get(place)
    while isinstance(value, str):
        place = value[2:-1].replace(":", ".")
        value = draft.get(place)
    return place


def _is_changed_elsewhere(draft: Draft, place: str, left: dict[str, str]) -> bool:
    section, _, rest = _get_target(draft, place).partition(".")
    return section == "components" and rest.split(".")[0] not in left
