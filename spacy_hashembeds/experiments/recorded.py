"""What is recorded of a trial already, and whether a run may replace it."""

from collections.abc import Iterator, Mapping
from typing import Any

from ..files import quote, read_json
from .trial import Trial

#: What to do about results of other settings.
REMEDY = (
    "A run would replace them and their pipelines. Give your settings another variant, "
    "or replace what is there with --force."
)


def read_done(trial: Trial, identity: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read the results of a trial that is done.

    identity (Mapping[str, Any]): What `identify` says of the trial now.
    RETURNS (dict[str, Any], optional): None if it has no results, or if they came from
        another config, corpus or version.
    """
    metrics = _read_recorded(trial)
    is_same = all(metrics.get(key) == value for key, value in identity.items())
    return metrics if is_same else None


def check_settings(trial: Trial, identity: Mapping[str, Any]) -> None:
    """Refuse to replace results of other settings, and the pipeline beside them.

    Those that came from other versions of packages may be replaced: the settings are
    the same, and a sweep goes on after an upgrade.

    identity (Mapping[str, Any]): What `identify` says of the trial now.
    RAISES (FileExistsError): If there are such results. Says what differs.
    """
    differences = find_differences(trial, identity)
    if differences:
        raise FileExistsError(
            f"'{trial.metrics}' has results of other settings: "
            f"{'; '.join(differences)}. {REMEDY}"
        )


def find_differences(trial: Trial, identity: Mapping[str, Any]) -> list[str]:
    """Say in which settings recorded results differ from a trial, if there are any."""
    recorded = _read_recorded(trial)
    return list(_compare(recorded, identity)) if recorded else []


def _read_recorded(trial: Trial) -> dict[str, Any]:
    try:
        return read_json(trial.metrics)
    except FileNotFoundError:
        return {}
    except ValueError:
        return {}  # not ours, or damaged since: made anew


def _compare(recorded: Mapping[str, Any], identity: Mapping[str, Any]) -> Iterator[str]:
    differ = [
        key
        for key, value in identity.items()
        if key != "versions" and recorded.get(key) != value
    ]
    for key in differ:
        old, new = recorded.get(key), identity[key]
        if key == "overrides" and isinstance(old, dict):
            yield from _compare_overrides(old, new)
        elif key == "corpus_hashes":
            yield "the corpus was another"
        elif key == "vectors_hash":
            yield "the vectors were others"
        elif key != "config_hash":
            yield f"{key} was {quote(old)}, and is {quote(new)}"
        elif "overrides" not in differ:  # which the hash is of too
            yield "the config was another"


def _compare_overrides(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted({*old, *new}):
        was, is_now = (
            quote(overrides[key]) if key in overrides else "not set"
            for overrides in (old, new)
        )
        if was != is_now:
            yield f"{key} was {was}, and is {is_now}"
