from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.strings import hash_string
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab
from thinc.api import NumpyOps

from lab.papers import PAPERS
from lab.papers.corpora import count_corpora
from lab.papers.paper import REPORT, read_paper
from lab.papers.tables import Table

from .trials import fill, find_filled, get_means, get_row

COLLISIONS = "Collisions with seed 8 and seed 9, with one hash"


def write_corpus(folder, lang, **splits):
    """Write sentences of words, each with (start, end) of its entities."""
    folder.mkdir(parents=True)
    vocab = spacy.blank(lang).vocab
    for split, sentences in splits.items():
        docs = []
        for words, spans in sentences:
            doc = Doc(vocab, words=words.split())
            doc.ents = [Span(doc, start, end, label="x") for start, end in spans]
            docs.append(doc)
        DocBin(docs=docs).to_disk(folder / f"{split}.spacy")


def write_texts(path: Path, n: int, labels: str) -> None:
    docs = [Doc(Vocab(), words=["a"]) for _ in range(n)]
    for doc in docs:
        doc.cats = dict.fromkeys(labels, 0.0)
    path.parent.mkdir(parents=True, exist_ok=True)
    DocBin(docs=docs).to_disk(path)


def count_tables(paper: str, root: Path) -> dict[str, Table]:
    return fill(paper, counted=count_corpora(read_paper(paper), root))


def get_figures(table: Table, *stub: str) -> dict[str, float | None]:
    return get_means(get_row(table, *stub))


def test_a_corpus_counted_by_hand(tmp_path):
    train = [("The Nile flows , the Po too", [(1, 2), (5, 6)]), ("", [])]
    dev = [("The Nile and the Rhine", [(1, 2), (4, 5)])]
    write_corpus(tmp_path / "wnut17", "en", train=train, dev=dev)
    tables = count_tables(REPORT, tmp_path)
    # the nile flows , po too | T N f , t P | The ile ows , the Po too | Xxx Xxxx ...
    assert get_figures(tables["4"], "WNUT2017") == {
        "NORM": 6,
        "PREFIX": 6,
        "SUFFIX": 7,
        "SHAPE": 6,
    }
    assert get_figures(tables["5"], "WNUT2017") == {
        "documents": 2,
        "tokens": 7,
        "classes": 1,
        "entities_per_document": 1.0,
        "document_length": 3.5,
        "entity_length": 1.0,
        "vocabulary": 7,
        "unknown": None,
    }
    assert get_figures(tables["6"], "WNUT2017") == {
        "dev_seen": 1,
        "dev_unseen": 1,
        "test_seen": None,
        "test_unseen": None,
    }


def test_tokens_and_entities_are_counted_in_each_split(tmp_path):
    sentences = [("a b c d e", [(0, 1), (2, 3)])]
    write_corpus(tmp_path / "wnut17", "en", train=sentences, test=sentences * 2)
    write_corpus(tmp_path / "conll2002_es", "es", dev=sentences)
    assert find_filled(count_tables("why-attention", tmp_path)["2"]) == {
        ("train", "wnut17_tokens"): 0.005,
        ("train", "wnut17_entities"): 0.002,
        ("test", "wnut17_tokens"): 0.01,
        ("test", "wnut17_entities"): 0.004,
        ("dev", "conll2002_es_tokens"): 0.005,
        ("dev", "conll2002_es_entities"): 0.002,
    }
    # seen or unseen are entities beside a training set alone
    figures = count_corpora(read_paper(), tmp_path)["conll2002_es"]
    assert figures == {"dev_tokens": 0.005, "dev_entities": 0.002}


def test_texts_and_classes_are_counted(tmp_path):
    folder = tmp_path / "yelp_full"
    # as large splits are: folders of files
    write_texts(folder / "train.spacy/1.spacy", 4, "12345")
    write_texts(folder / "train.spacy/2.spacy", 1, "12345")
    write_texts(folder / "dev.spacy", 2, "12345")
    write_texts(folder / "test.spacy", 3, "12345")
    cells = get_row(count_tables("hash-embeddings", tmp_path)["1"], "Yelp Full")
    # what the paper trains on is for development in part
    assert get_means(cells) == {"train": 7, "test": 3, "classes": 5}
    marked = {key: cell.differs for key, cell in cells.items()}
    assert marked == {"train": True, "test": True, "classes": False}
    (folder / "dev.spacy").unlink()
    counted = count_corpora(read_paper("hash-embeddings"), tmp_path)
    assert not any(counted.values())


@pytest.mark.parametrize("paper", PAPERS)
def test_corpora_that_are_not_there_leave_gaps(paper, tmp_path):
    steps: list[str] = []
    counted = count_corpora(read_paper(paper), tmp_path / "nowhere", steps.append)
    assert not any(counted.values())
    assert [step.split(" in ")[0] for step in steps] == {
        REPORT: ["None of the report's corpora"],
        "hashformers": [],
    }.get(paper, ["None of the paper's corpora"])
    tables = fill(paper, counted=counted)
    assert not any(find_filled(table) for table in tables.values())
    if paper == REPORT:
        assert tables[COLLISIONS].rows == []


@pytest.mark.parametrize(
    ("paper", "dataset"), [(REPORT, "anem"), ("hash-embeddings", "ag_news")]
)
def test_a_damaged_file_is_named(paper, dataset, tmp_path):
    for split in ("train", "dev", "test"):
        write_texts(tmp_path / f"{dataset}/{split}.spacy", 3, "12")
    path = tmp_path / f"{dataset}/test.spacy"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=f"'{path}' should be a .spacy file"):
        count_corpora(read_paper(paper), tmp_path)


def test_collisions_with_seed_8_and_9_are_counted(tmp_path):
    """By brute force, with spaCy's own hash."""
    words = [f"w{i}" for i in range(4000)]
    write_corpus(tmp_path / "wnut17", "en", train=[(" ".join(words), [])])
    table = count_tables(REPORT, tmp_path)[COLLISIONS]
    row = get_figures(table, "WNUT2017")
    assert row["NORM"] == 4000
    keys = np.array([hash_string(word) for word in words], dtype="uint64")
    for seed in (8, 9):
        rows = Counter((NumpyOps().hash(keys, seed)[:, 0] % 5000).tolist())
        assert row[f"reached_{seed}"] == len(rows)
        assert row[f"sharing_{seed}"] == sum(n for n in rows.values() if n > 1)
    assert row["reached_8"] <= 2500 < row["reached_9"]
    assert len(table.rows) == 1


@pytest.mark.parametrize(
    ("dataset", "name", "slips"),
    [
        ("wnut17", "WNUT2017", set()),
        ("anem", "AnEM", set()),
        ("conll2002_es", "CoNLL es", {"NORM", "entities_per_document"}),
        ("conll2002_nl", "CoNLL nl", {"vocabulary"}),
    ],
)
def test_real_corpora_are_as_printed(dataset, name, slips, prepare_real, tmp_path):
    (tmp_path / dataset).symlink_to(prepare_real(dataset))
    tables = count_tables(REPORT, tmp_path)
    differing = {
        key
        for table in (tables["4"], tables["5"], tables["6"])
        for row in table.rows
        if row.stub == (name,)
        for key, cell in row.cells.items()
        if cell.differs
    }
    assert differing == slips
    if dataset == "conll2002_es":
        assert get_figures(tables["4"], name)["NORM"] == 23710
