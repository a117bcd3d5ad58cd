"""Whether results may be replaced, of trials that nobody has run."""

import re
from pathlib import Path
from typing import Any

import pytest

from lab.trials.recorded import (
    find_objection,
    find_upgrades,
    read_done,
)
from lab.trials.trial import Trial
from spacy_hashembeds.files import write_json


@pytest.fixture
def trial(tmp_path) -> Trial:
    return Trial(dataset="demo", embedder="multi_embed", root=tmp_path)


def identify(hash_: str = "a1", **overrides: Any) -> dict[str, Any]:
    versions = {"python": "3.11.7", "spacy": "3.8.7"}
    return {"config_hash": hash_, "overrides": overrides, "versions": versions}


def compare(trial: Trial, old: dict[str, Any], new: dict[str, Any]) -> str | None:
    """Give what is said against replacing the one by the other."""
    write_json(trial.metrics, old)
    is_done = read_done(trial, new) is not None
    objection = find_objection(trial, new)
    assert not (is_done and objection)
    return objection and objection.partition("has results of other settings: ")[2]


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        (0.1, 0.2, "a.b was 0.1, and is 0.2"),
        (1, True, "a.b was 1, and is True"),
        ([1, 2], [2, 1], "a.b was [1, 2], and is [2, 1]"),
        ([*range(7)], [*range(6), 0], "a.b was another"),
        ("x" * 90 + "old" + "x" * 90, "x" * 183, "a.b was another"),
        ({"c": {"d": {"e": 1}}}, {"c": {"d": {"e": 2}}}, "a.b was another"),
    ],
)
def test_settings_are_compared_whole(trial, old, new, difference):
    before, now = identify("b2", **{"a.b": old}), identify("c3", **{"a.b": new})
    assert compare(trial, before, now) == difference


def test_a_setting_that_is_none_is_not_one_that_is_not_set(trial):
    assert (
        compare(trial, identify("b2"), identify(x=None)) == "x was not set, and is None"
    )
    assert (
        compare(trial, identify(x=None), identify("b2")) == "x was None, and is not set"
    )


def test_hashes_alone_are_a_difference(trial):
    assert (
        compare(trial, identify("b2", x=1), identify(x=1)) == "the config was another"
    )


def test_the_order_of_keys_is_no_difference(trial):
    old, new = {"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1}
    write_json(trial.metrics, identify(x=old))
    assert read_done(trial, identify(x=new)) is not None


def test_tuples_are_lists_once_they_are_recorded(trial):
    write_json(trial.metrics, identify(x=(1, 2)))
    assert read_done(trial, identify(x=(1, 2))) is not None
    assert find_objection(trial, identify(x=(1, 2))) is None


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda raw: b"", "Expecting value"),
        (lambda raw: b"[]", "it should be an object"),
        (lambda raw: b"\xff" + raw, "invalid start byte"),
        (lambda raw: b"\xef\xbb\xbf" + raw, "BOM"),
        (lambda raw: raw[: len(raw) // 2], r"line \d+ column"),
        (lambda raw: raw.replace(b"\n}", b",\n}"), "double quotes|trailing comma"),
        (lambda raw: b'{"a": ' + b"[" * 10**5 + b"]" * 10**5 + b"}", "too deeply"),
    ],
)
def test_what_can_not_be_read_may_be_of_any_settings(trial, damage, why):
    write_json(trial.metrics, identify())
    trial.metrics.write_bytes(damage(trial.metrics.read_bytes()))
    assert read_done(trial, identify()) is None
    objection = find_objection(trial, identify())
    assert objection is not None
    prefix = f"'{trial.metrics}' has results that can't be read ("
    assert objection.startswith(prefix)
    assert re.search(why, objection)


@pytest.mark.parametrize("recorded", [{}, {"config_hash": None, "overrides": "x"}])
def test_what_is_no_record_of_a_trial_is_of_other_settings(trial, recorded):
    assert "overrides was " in str(compare(trial, recorded, identify(x=1)))


def test_versions_are_said_only_where_they_alone_have_changed(trial):
    assert find_upgrades(trial, identify()) is None
    write_json(trial.metrics, identify())
    assert find_upgrades(trial, identify()) is None
    new = {**identify(), "versions": {"python": "3.11.7", "spacy": "3.8.8"}}
    assert find_upgrades(trial, new) == "spacy was '3.8.7', and is '3.8.8'"
    assert find_objection(trial, new) is None
    assert find_upgrades(trial, {**new, "overrides": {"x": 1}}) is None
    Path(trial.metrics).write_text("{")
    assert find_upgrades(trial, new) is None
