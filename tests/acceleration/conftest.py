"""Fixtures: saved pipelines, and noisy products."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from spacy_hashembeds.acceleration import accelerate as accelerate_module
from spacy_hashembeds.acceleration.timing import Spread
from spacy_hashembeds.kernels.convolution import find_instructions
from spacy_hashembeds.layers import windowencoder

from .accelerate_pipelines import MAKERS, TEXTS


@pytest.fixture(scope="session")
def saved(tmp_path_factory) -> Callable[[str], Path]:
    """Save a pipeline of `MAKERS` with the words of `TEXTS` in its vocab. Read-only."""
    root = tmp_path_factory.mktemp("pipelines")

    @cache
    def save(name: str) -> Path:
        nlp = MAKERS[name]()
        list(nlp.pipe(TEXTS))
        nlp.to_disk(root / name)
        return root / name

    return save


@pytest.fixture(autouse=True)
def untimed(monkeypatch) -> None:
    """Skip timing, except in tests of the command."""

    def measure_components(nlp, docs):
        return dict.fromkeys(nlp.pipe_names, 1.0)

    speeds = dict.fromkeys(("before", "after"), Spread(1.0, (1.0, 1.0)))
    monkeypatch.setattr(accelerate_module, "measure_speeds", lambda *_, **__: speeds)
    monkeypatch.setattr(accelerate_module, "measure_components", measure_components)


@pytest.fixture
def add_noise(instructions, monkeypatch) -> Callable[..., None]:
    """Add noise to the products of given precisions."""
    add = windowencoder.add_convolved

    def add_noise(*precisions: str) -> None:
        noisy = [find_instructions(name) for name in precisions]

        def add_noisy(packed, X, rows, Y):
            add(packed, X, rows, Y)
            if packed.instructions in noisy:
                Y += np.random.default_rng(0).normal(size=Y.shape) * 50

        monkeypatch.setattr(windowencoder, "add_convolved", add_noisy)

    return add_noise
