"""GLUE's tasks as datasets that `prepare` knows."""

from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Corpus
from spacy.vocab import Vocab

from lab.corpora.datasets import prepare_dataset
from lab.corpora.glue import GLUE
from lab.tests.toy_glue import write_assets
from spacy_hashembeds.corpora.docbin import read_docs
from spacy_hashembeds.evaluation.glue import LABELS


def load(path: Path) -> list[Doc]:
    return list(read_docs(path, Vocab()))


@pytest.mark.parametrize("task", sorted(GLUE))
def test_what_is_published_for_development_is_the_test(task, tmp_path):
    assets = write_assets(tmp_path / "assets", task, n=120)
    paths = prepare_dataset(f"glue_{task}", assets, tmp_path / "out")
    tests = ["test"] + (["test_mismatched"] if task == "mnli" else [])
    assert list(paths) == ["train", "dev", *tests]
    docs = {split: load(path) for split, path in paths.items()}
    assert {split: len(found) for split, found in docs.items()} == {
        "train": 114,
        "dev": 6,
        **dict.fromkeys(tests, 30),
    }
    texts = {split: {doc.text for doc in found} for split, found in docs.items()}
    assert not texts["train"] & texts["dev"]
    assert list(docs["test"][0].cats) == list(LABELS[task])


def test_pairs_and_scores_are_saved_as_they_are(tmp_path):
    assets = write_assets(tmp_path / "assets", "stsb")
    paths = prepare_dataset("glue_stsb", assets, tmp_path / "out")
    (example, *_) = Corpus(paths["test"])(spacy.blank("en"))
    for doc in (example.reference, example.predicted):
        assert [token.text for token in doc].count("\n") == 1
        assert doc.text == example.text
    found = {round(doc.cats["similarity"], 6) for doc in load(paths["test"])}
    assert found == {0.0, 0.2, 0.4, 0.6, 0.8, 1.0}


def test_a_missing_file_is_named_with_its_source(tmp_path):
    assets = write_assets(tmp_path / "assets", "mnli")
    (assets / "glue/MNLI/dev_mismatched.tsv").unlink()
    message = r"MNLI/dev_mismatched\.tsv: a file of glue_mnli is missing.*docs/glue\.md"
    with pytest.raises(FileNotFoundError, match=message):
        prepare_dataset("glue_mnli", assets, tmp_path / "out")
    assert not (tmp_path / "out").exists()
