"""Disturbances of timings."""

import pytest

from lab.machine import find_disturbances

SPREAD = {"spacy": (10.0, (9.5, 10.5))}
WIDE = {"ours": (51.0, (42.0, 55.0))}


@pytest.mark.parametrize(
    ("busy", "spreads", "expected"),
    [
        (0.04, {}, []),
        (None, {}, []),
        (0.7, {}, ["Other processes kept 0.7 of 2 cores"]),
        (0.04, WIDE, ["The quartiles of ours are 25 percent"]),
    ],
)
def test_disturbances_are_described(busy, spreads, expected):
    machine = {"cores": 2, "other_cores_busy": busy}
    found = find_disturbances(machine, SPREAD | spreads)
    assert len(found) == len(expected)
    assert "".join(found).startswith("".join(expected))
