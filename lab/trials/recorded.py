"""What is recorded of a trial already, and whether a run may replace it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from spacy_hashembeds.files import quote, read_json

from .trial import Trial

#: What to do about results that are not to be lost.
REMEDY = (
    "A run would replace them and their pipelines. Give your settings another variant, "
    "or replace what is there with --force."
)


def read_done(trial: Trial, identity: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read the results of a trial that is done.

    identity (Mapping[str, Any]): What `identify` says of the trial now.
    RETURNS (dict[str, Any], optional): None if it has no results, or if they came from
        another config, corpus or version, or can't be read.
    """
    try:
        metrics = _read_recorded(trial)
    except ValueError:
        return None
    return None if metrics is None or _find_changed(metrics, identity) else metrics


def check_settings(trial: Trial, identity: Mapping[str, Any]) -> None:
    """Refuse to replace results of other settings, and the pipeline beside them.

    Those that can't be read may be of any. Those that came from other versions of
    packages may be replaced: the settings are the same, and a sweep goes on after an
    upgrade.

    identity (Mapping[str, Any]): What `identify` says of the trial now.
    RAISES (FileExistsError): If there are such results. Says what differs.
    """
    objection = find_objection(trial, identity)
    if objection is not None:
        raise FileExistsError(f"{objection}. {REMEDY}")


def find_objection(trial: Trial, identity: Mapping[str, Any]) -> str | None:
    """Say why results are not to be replaced by those of a trial, if they are not."""
    try:
        recorded = _read_recorded(trial)
    except ValueError as e:
        return f"'{trial.metrics}' has results that can't be read ({e})"
    differences = [] if recorded is None else list(_compare(recorded, identity))
    if not differences:
        return None
    return f"'{trial.metrics}' has results of other settings: {'; '.join(differences)}"


def find_upgrades(trial: Trial, identity: Mapping[str, Any]) -> str | None:
    """Say which versions have changed, if they alone are why a trial runs again."""
    try:
        recorded = _read_recorded(trial)
    except ValueError:
        return None
    if recorded is None or _find_changed(recorded, identity) != ["versions"]:
        return None
    return "; ".join(_compare_value("versions", recorded, identity))


def _read_recorded(trial: Trial) -> dict[str, Any] | None:
    try:
        return read_json(trial.metrics)
    except FileNotFoundError:
        return None


def _find_changed(
    recorded: Mapping[str, Any], identity: Mapping[str, Any]
) -> list[str]:
    return [key for key in identity if not _is_same(key, recorded, identity)]


def _is_same(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    is_in_both = key in old and key in new
    return is_in_both and _to_json(old[key]) == _to_json(new[key])


def _to_json(value: Any) -> str:
    # What was recorded has been JSON, where tuples are lists.
    return json.dumps(value, sort_keys=True)


def _compare(recorded: Mapping[str, Any], identity: Mapping[str, Any]) -> Iterator[str]:
    changed = _find_changed(recorded, identity)
    for key in changed:
        if key == "corpus_hashes":
            yield "the corpus was another"
        elif key == "vectors_hash":
            yield "the vectors were others"
        elif key == "weights_hash":
            yield "the pretrained weights were others"
        elif key == "config_hash":
            if "overrides" not in changed:  # which the hash is of too
                yield "the config was another"
        elif key != "versions":
            yield from _compare_value(key, recorded, identity)


def _compare_value(
    key: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[str]:
    was, is_now = old.get(key), new[key]
    if isinstance(was, Mapping) and isinstance(is_now, Mapping):
        for inner in sorted({*was, *is_now}):
            if not _is_same(inner, was, is_now):
                yield _describe(inner, was, is_now)
    else:
        yield _describe(key, old, new)


def _describe(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    was, is_now = (
        quote(each[key]) if key in each else "not set" for each in (old, new)
    )
    # of values too long to be shown, what is shown may be alike
    return (
        f"{key} was another" if was == is_now else f"{key} was {was}, and is {is_now}"
    )
