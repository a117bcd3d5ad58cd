"""Results of a trial that are there already, and whether a run may replace them."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from spacy_hashembeds.files import quote, read_json

from .trial import Trial


def read_recorded(
    trial: Trial, identity: Mapping[str, Any], *, force: bool = False
) -> tuple[dict[str, Any] | None, list[str]]:
    """Read the results of a trial if it is done, else how those that are there differ.

    Refuses to have results of other settings replaced, and the pipeline beside them.
    Those that can't be read may be of any. Those that came from other versions of
    packages may be replaced: the settings are the same, and a sweep goes on after an
    upgrade.
    """
    try:
        results = read_json(trial.metrics)
    except FileNotFoundError:
        return None, []
    except ValueError as e:
        differences, is_upgrade = [f"they can't be read ({e})"], False
    else:
        differences = list(_compare(results, identity))
        if not differences:
            return results, []
        is_upgrade = all(name.startswith("versions.") for name in differences)
    if not (is_upgrade or force):
        raise FileExistsError(
            f"'{trial.metrics}' has results of other settings: "
            f"{'; '.join(differences)}. A run would replace them and their pipelines. "
            "Give your settings another variant, or replace what is there with --force."
        )
    return None, differences


def _compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    was, now = (_flatten(each, new.keys()) for each in (old, new))
    for key in {**now, **was}:
        if key in was and key in now and _to_json(was[key]) == _to_json(now[key]):
            continue
        before, after = (
            quote(each[key]) if key in each else "not set" for each in (was, now)
        )
        # a hash says nothing, and what is shown of long values may be alike
        if "hash" in key or before == after:
            yield f"{key} was another"
        else:
            yield f"{key} was {before}, and is {after}"


def _flatten(data: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """Name what is one level down: `versions.spacy`."""
    flat: dict[str, Any] = {}
    for key in (key for key in keys if key in data):
        inner = data[key] if isinstance(data[key], Mapping) else {"": data[key]}
        flat |= {f"{key}.{name}".strip("."): value for name, value in inner.items()}
    return flat


def _to_json(value: Any) -> str:
    # What was recorded has been JSON, where tuples are lists.
    return json.dumps(value, sort_keys=True)
