"""Disturbances of timings."""

import pytest

from lab.machine import find_disturbances

SPREAD = {"spacy": (10.0, (9.5, 10.5))}
WIDE = {"ours": (51.0, (42.0, 55.0))}


@pytest.mark.parametrize(
    ("observed", "spreads", "expected"),
    [
        ({}, {}, []),
        ({"other_cores_busy": None}, {}, []),
        ({"other_cores_busy": 0.7}, {}, ["Other processes kept 0.7 of 2 cores"]),
        ({"compiled": False}, {}, ["Compiled kernels were missing"]),
        ({}, WIDE, ["The quartiles of ours are 25 percent"]),
    ],
)
def test_disturbances_are_described(observed, spreads, expected):
    machine = {"compiled": True, "cores": 2, "other_cores_busy": 0.04, **observed}
    found = find_disturbances(machine, SPREAD | spreads)
    assert len(found) == len(expected)
    assert "".join(found).startswith("".join(expected))
