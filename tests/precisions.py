"""Products of fewer bits, on any processor that has compiled kernels."""

from collections.abc import Iterator

import pytest

from spacy_hashembeds.kernels import compiled

from .kernels.paths import KERNELS


@pytest.fixture
def fewer_bits(monkeypatch) -> Iterator[None]:
    """Have instructions for them: slow ones where the processor has none."""
    if KERNELS is None:
        pytest.skip("there are no compiled kernels here")
    found = [(name, of, True) for name, of, _ in KERNELS.INSTRUCTION_SETS]
    monkeypatch.setattr(KERNELS, "INSTRUCTION_SETS", found)
    with compiled.using(KERNELS):
        yield


@pytest.fixture
def no_fewer_bits(monkeypatch) -> None:
    """Have a processor that has no instructions for them."""
    if KERNELS is not None:
        monkeypatch.setattr(KERNELS, "INSTRUCTION_SETS", [])
