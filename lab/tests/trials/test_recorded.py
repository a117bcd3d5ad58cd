"""Results that may be replaced or not, of trials that nobody has run."""

from typing import Any

import pytest

from lab.trials.recorded import read_recorded
from lab.trials.trial import Trial
from spacy_hashembeds.files import write_json


@pytest.fixture
def trial(tmp_path) -> Trial:
    return Trial(dataset="demo", embedder="multi_embed", root=tmp_path)


def identify(hash_: str = "a1", **overrides: Any) -> dict[str, Any]:
    versions = {"python": "3.11.7", "spacy": "3.8.7"}
    return {"config_hash": hash_, "overrides": overrides, "versions": versions}


def compare(trial: Trial, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Give what is said against replacing the one by the other."""
    write_json(trial.metrics, {**old, "scores": {}})
    with pytest.raises(
        FileExistsError, match=r"another variant, or .* with --force"
    ) as e:
        read_recorded(trial, new)
    results, differences = read_recorded(trial, new, force=True)
    assert results is None
    assert f"has results of other settings: {'; '.join(differences)}. " in str(e.value)
    return differences


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        (0.1, 0.2, "was 0.1, and is 0.2"),
        (1, True, "was 1, and is True"),
        ([1, 2], [2, 1], "was [1, 2], and is [2, 1]"),
        ([*range(7)], [*range(6), 0], "was another"),
        ("x" * 90 + "old" + "x" * 90, "x" * 183, "was another"),
        ({"c": {"d": {"e": 1}}}, {"c": {"d": {"e": 2}}}, "was another"),
    ],
)
def test_settings_are_compared_whole(trial, old, new, difference):
    before, now = identify(**{"a.b": old}), identify(**{"a.b": new})
    assert compare(trial, before, now) == [f"overrides.a.b {difference}"]


def test_all_that_differs_is_named(trial):
    before, now = identify("b2", y=1), identify(x=None)
    now["versions"]["spacy"] = "3.8.8"
    assert compare(trial, before, now) == [
        "config_hash was another",
        "overrides.x was not set, and is None",
        "versions.spacy was '3.8.7', and is '3.8.8'",
        "overrides.y was 1, and is not set",
    ]
    differences = compare(trial, {"overrides": "x"}, identify(x=1))
    assert "overrides was 'x', and is not set" in differences


def test_what_is_the_same_is_done(trial):
    assert read_recorded(trial, identify()) == (None, [])
    old, new = {"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1}
    write_json(trial.metrics, {**identify(x=old, y=(1, 2)), "scores": {}})
    results, differences = read_recorded(trial, identify(x=new, y=(1, 2)))
    assert differences == []
    assert results is not None
    assert "scores" in results


def test_versions_alone_are_no_other_settings(trial):
    write_json(trial.metrics, identify())
    new = {**identify(), "versions": {"python": "3.11.7", "spacy": "3.8.8"}}
    message = "versions.spacy was '3.8.7', and is '3.8.8'"
    assert read_recorded(trial, new) == (None, [message])


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"\xef\xbb\xbf{}", b'{"a": ' + b"[" * 10**5]
)
def test_what_can_not_be_read_may_be_of_any_settings(trial, raw):
    write_json(trial.metrics, identify())
    trial.metrics.write_bytes(raw)
    with pytest.raises(FileExistsError, match=r"seed0\.json' .* can't be read \("):
        read_recorded(trial, identify())
    results, _ = read_recorded(trial, identify(), force=True)
    assert results is None
