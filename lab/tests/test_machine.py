"""How busy a machine is, and what is said of it."""

from typing import Any

import pytest

from lab.machine import find_disturbances

IDLE: dict[str, Any] = {
    "cores": 2,
    "load_at_start": 0.1,
    "load_at_end": 1.05,
    "other_cores_busy": 0.04,
}


BUSY = (
    "Other processes kept 0.7 of 2 cores busy meanwhile, where up to 0.6 does no harm."
)
LOADED = (
    "The load average was 1.90 at the start, where up to 0.6 does no harm on 2 cores."
)
WIDE = (
    "The quartiles of ours are 25 percent of its median apart, where up to 15 does no "
    "harm."
)
UNSEEN = {"other_cores_busy": None}


@pytest.mark.parametrize(
    ("changes", "spreads", "expected"),
    [
        ({}, {}, []),
        ({"other_cores_busy": 0.7}, {}, [BUSY]),
        ({}, {"ours": (51.0, (42.0, 55.0))}, [WIDE]),
        # loads remember what we did before, such as the trainings of a demo
        ({"load_at_start": 1.9}, {}, []),
        (UNSEEN, {}, []),
        ({**UNSEEN, "load_at_start": 1.9}, {}, [LOADED]),
        ({**UNSEEN, "load_at_start": None}, {}, []),
    ],
)
def test_what_speaks_against_timings(changes, spreads, expected):
    spreads = {"spacy": (10.0, (9.5, 10.5)), **spreads}
    assert find_disturbances({**IDLE, **changes}, spreads) == expected
