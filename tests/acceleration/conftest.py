"""What tests of acceleration share: saved pipelines, and products that are spoilt."""

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
    """Gives the folder of a saved pipeline of a make of `MAKERS`, to read only, which
    knows the words of the texts, as after training on them.
    """
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
    """Have pipelines not loaded anew to be timed, as tests of the command have them."""

    def measure_components(nlp, docs):
        return dict.fromkeys(nlp.pipe_names, 1.0)

    speeds = dict.fromkeys(("before", "after"), Spread(1.0, (1.0, 1.0)))
    monkeypatch.setattr(accelerate_module, "measure_speeds", lambda *_, **__: speeds)
    monkeypatch.setattr(accelerate_module, "measure_components", measure_components)


@pytest.fixture
def spoil(instructions, monkeypatch) -> Callable[..., None]:
    """Has products of the given precisions change whatever comes of them."""
    add = windowencoder.add_convolved

    def spoil(*precisions: str) -> None:
        spoilt = [find_instructions(name) for name in precisions]

        def add_noise(packed, X, rows, Y):
            add(packed, X, rows, Y)
            if packed.instructions in spoilt:
                Y += np.random.default_rng(0).normal(size=Y.shape) * 50

        monkeypatch.setattr(windowencoder, "add_convolved", add_noise)

    return spoil
