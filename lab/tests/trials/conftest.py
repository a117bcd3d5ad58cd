"""Fixtures of tests of trials."""

import pytest

from lab.trials import comparison
from spacy_hashembeds.acceleration.timing import Speed


@pytest.fixture
def untimed(monkeypatch) -> None:
    """Have trials compared without loading their pipelines."""

    def measure(loaders, docs, progress):
        return dict.fromkeys(loaders, Speed(1000.0, (990.0, 1010.0)))

    monkeypatch.setattr(comparison, "measure_speeds", measure)
