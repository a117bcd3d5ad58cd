"""Fixtures of tests of papers' pages."""

import pytest
from matplotlib.figure import Figure


@pytest.fixture
def drawn(monkeypatch) -> list[Figure]:
    """The figures that were saved, to be looked into."""
    figures = []
    save = Figure.savefig
    monkeypatch.setattr(
        Figure,
        "savefig",
        lambda self, *a, **k: figures.append(self) or save(self, *a, **k),
    )
    return figures
