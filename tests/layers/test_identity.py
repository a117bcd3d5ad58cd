"""Whether things are the very things that were there before."""

import pytest

from spacy_hashembeds.layers.identity import Snapshot


@pytest.fixture
def dicts() -> list[dict]:
    return [{"a": [1], "b": [2]}, {}, {"a": [3]}]


def test_a_snapshot_is_current_while_nothing_changes(dicts):
    snapshot = Snapshot(dicts)
    dicts[0]["a"].append(2)  # in place
    dicts[2]["a"] = dicts[2].pop("a")
    assert snapshot.is_current()
    assert snapshot.values == [[1, 2], [2], [3]]


@pytest.mark.parametrize(
    "change",
    [
        lambda dicts: dicts[0].update(b=[2]),  # equal, but another
        lambda dicts: dicts[0].pop("b"),
        lambda dicts: dicts[1].update(c=None),
        lambda dicts: dicts[2].update(b=dicts[2].pop("a")),
    ],
    ids=["another", "fewer", "more", "renamed"],
)
def test_a_snapshot_sees_changes(dicts, change):
    snapshot = Snapshot(dicts)
    change(dicts)
    assert not snapshot.is_current()
