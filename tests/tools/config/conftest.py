"""Fixtures of tests of configs."""

from pathlib import Path

import pytest

from . import toy_configs as toys


@pytest.fixture
def base(tmp_path) -> Path:
    """The config of `spacy init config` for NER."""
    return toys.write_base(tmp_path / "base.cfg", "ner")


@pytest.fixture
def train(tiny_corpus) -> Path:
    return tiny_corpus / "train.spacy"


@pytest.fixture
def twins(tmp_path) -> Path:
    """A corpus in which NORM equals LOWER."""
    words = [f"{word}{i}" for i in range(100) for word in ("one", "Two")]
    return toys.write_words(tmp_path / "twins.spacy", words)


@pytest.fixture
def corpus(tmp_path) -> Path:
    return toys.write_corpus(tmp_path / "train.spacy")


@pytest.fixture
def raw(tmp_path) -> Path:
    path = tmp_path / "raw.txt"
    lines = (" ".join([*toys.WORDS, f"n{i}"]) for i in range(100))
    path.write_text("\n".join(lines))
    return path
