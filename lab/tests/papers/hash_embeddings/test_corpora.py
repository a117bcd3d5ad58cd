from pathlib import Path

import pytest
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from lab.papers.hash_embeddings.corpora import (
    count_corpora,
    make_corpus_table,
)
from lab.papers.hash_embeddings.layouts import DATASETS


def write(path: Path, n: int, labels: str) -> None:
    docs = [Doc(Vocab(), words=["a"]) for _ in range(n)]
    for doc in docs:
        doc.cats = dict.fromkeys(labels, 0.0)
    path.parent.mkdir(parents=True, exist_ok=True)
    DocBin(docs=docs).to_disk(path)


def write_corpus(folder: Path, train: int, dev: int, test: int, labels: str) -> None:
    # as large splits are: folders of files
    write(folder / "train.spacy/1.spacy", train - 1, labels)
    write(folder / "train.spacy/2.spacy", 1, labels)
    write(folder / "dev.spacy", dev, labels)
    write(folder / "test.spacy", test, labels)


def get_row(table, name):
    (row,) = [row for row in table.rows if row.stub == (name,)]
    return row.cells


def test_texts_and_classes_are_counted(tmp_path):
    write_corpus(tmp_path / "yelp_full", 5, 2, 3, "12345")
    steps: list[str] = []
    counted = count_corpora(tmp_path, on_progress=steps.append)
    assert steps == [f"Counting {tmp_path / 'yelp_full'}"]
    others = {name: {} for name in DATASETS}
    # what the paper trains on is for development in part
    figures = {"train": 7, "test": 3, "classes": 5}
    assert counted == {**others, "yelp_full": figures}
    table = make_corpus_table(counted)
    assert [row.stub[0] for row in table.rows] == list(DATASETS.values())
    cells = get_row(table, "Yelp Full")
    assert {key: cell.ours.mean for key, cell in cells.items()} == figures
    marked = {key: cell.differs for key, cell in cells.items()}
    assert marked == {"train": True, "test": True, "classes": False}
    cells = get_row(table, "Yahoo! Answers")
    assert [cell.printed.mean for cell in cells.values()] == [650_000, 60_000, 10]
    assert not any(cell.ours or cell.differs for cell in cells.values())
    assert not any(cell.printed for cell in get_row(table, "Small AG's News").values())


def test_a_corpus_without_a_split_is_not_counted(tmp_path):
    write_corpus(tmp_path / "ag_news", 5, 2, 3, "1234")
    (tmp_path / "ag_news/dev.spacy").unlink()
    assert not any(count_corpora(tmp_path).values())


def test_a_damaged_file_is_named(tmp_path):
    write_corpus(tmp_path / "ag_news", 5, 2, 3, "1234")
    path = tmp_path / "ag_news/test.spacy"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=f"'{path}' should be a .spacy file"):
        count_corpora(tmp_path)
