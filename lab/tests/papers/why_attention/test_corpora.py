from pathlib import Path

import pytest
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

from lab.papers.why_attention.corpora import (
    count_corpora,
    make_corpus_table,
)
from lab.papers.why_attention.layouts import DATASETS


def write(path: Path, n_tokens: int, n_entities: int) -> None:
    doc = Doc(Vocab(), words=["a"] * n_tokens)
    doc.set_ents([Span(doc, i, i + 1, "PER") for i in range(n_entities)])
    path.parent.mkdir(parents=True, exist_ok=True)
    DocBin(docs=[doc]).to_disk(path)


def test_tokens_and_entities_are_counted_in_each_split(tmp_path):
    write(tmp_path / "wnut17/train.spacy", 5, 2)
    write(tmp_path / "wnut17/test.spacy", 23_394, 1_079)
    write(tmp_path / "conll2002_es/dev.spacy", 3, 1)
    steps: list[str] = []
    counted = count_corpora(tmp_path, on_progress=steps.append)
    assert counted == {
        "ontonotes": {"train": {}, "dev": {}, "test": {}},
        "wnut17": {
            "train": {"tokens": 5, "entities": 2},
            "dev": {},
            "test": {"tokens": 23_394, "entities": 1_079},
        },
        "conll2002_es": {
            "train": {},
            "dev": {"tokens": 3, "entities": 1},
            "test": {},
        },
    }
    assert steps[0] == f"Counting {tmp_path / 'wnut17/train.spacy'}"
    assert len(steps) == 3
    rows = {row.stub: row.cells for row in make_corpus_table(counted).rows}
    assert list(rows) == [("train",), ("dev",), ("test",)]
    assert rows["train",]["wnut17_tokens"].ours.mean == 0.005
    assert rows["dev",]["conll2002_es_entities"].ours.mean == 0.001
    assert rows["dev",]["wnut17_tokens"].ours is None


@pytest.mark.parametrize(
    ("n_tokens", "differs"),
    [(23_299, True), (23_300, False), (23_399, False), (23_400, True)],
)
def test_the_paper_cuts_off_and_does_not_round(n_tokens, differs):
    nothing = {split: {} for split in ("train", "dev", "test")}
    test = {"tokens": n_tokens, "entities": 1_079}
    counted = {**dict.fromkeys(DATASETS, nothing), "wnut17": {**nothing, "test": test}}
    *_, row = make_corpus_table(counted).rows
    assert row.cells["wnut17_tokens"].printed.mean == 23.3
    assert row.cells["wnut17_tokens"].ours.mean == n_tokens / 1000
    assert row.cells["wnut17_tokens"].differs == differs
    assert not row.cells["wnut17_entities"].differs


def test_a_damaged_file_is_named(tmp_path):
    path = tmp_path / "wnut17/dev.spacy"
    write(path, 5, 2)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=f"'{path}' should be a .spacy file"):
        count_corpora(tmp_path)
