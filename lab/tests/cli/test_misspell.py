from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lab.corpora.misspellings import misspell
from spacy_hashembeds.cli import hashembeds_cli
from tests import toy_ner

from ..calling import succeed

run = partial(succeed, "misspell")


@pytest.fixture
def folder(tmp_path) -> Path:
    toy_ner.write_train(tmp_path / "train.spacy")
    toy_ner.write(tmp_path / "test.spacy", map(toy_ner.make_doc, toy_ner.TEST))
    return tmp_path


def read_words(path: Path) -> list[list[str]]:
    return [[token.text for token in doc] for doc in toy_ner.read(path)]


def test_a_copy_is_written_and_evaluated(folder):
    test, output = folder / "test.spacy", folder / "misspelt.spacy"
    result = run(test, "-o", output, "--seed", "3")
    printed = " ".join(result.output.split())
    assert "Misspelt 14 of 14 entities in 8 documents, seed 3" in printed
    assert f"Saved the copy to {output}" in printed
    copies = misspell(toy_ner.read(test), seed=3)
    assert read_words(output) == [[token.text for token in doc] for doc in copies]
    toy_ner.make_ruler({"Anna": "PER", "Oslo": "LOC"}, None).to_disk(folder / "m")
    command = ["evaluate", folder / "m", output, "-t", folder / "train.spacy"]
    result = CliRunner().invoke(hashembeds_cli, [*map(str, command)])


def test_the_seed_is_0_by_default(folder):
    outputs = [folder / name for name in ("a.spacy", "b.spacy")]
    run(folder / "test.spacy", "-o", outputs[0])
    run(folder / "test.spacy", "-o", outputs[1], "-s", "0")
    assert read_words(outputs[0]) == read_words(outputs[1])
