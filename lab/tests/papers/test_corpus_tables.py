from collections import Counter

import numpy as np
import pytest
import spacy
from spacy.strings import hash_string
from spacy.tokens import Doc, DocBin, Span
from thinc.api import NumpyOps

from lab.papers.corpus_tables import (
    count_corpora,
    make_collision_table,
    make_corpus_tables,
)


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


def get_row(table, name):
    (row,) = [row for row in table.rows if row.stub == (name,)]
    return {key: cell.ours and cell.ours.mean for key, cell in row.cells.items()}


def test_a_corpus_counted_by_hand(tmp_path):
    train = [("The Nile flows , the Po too", [(1, 2), (5, 6)]), ("", [])]
    dev = [("The Nile and the Rhine", [(1, 2), (4, 5)])]
    write_corpus(tmp_path / "wnut17", "en", train=train, dev=dev)
    tables = make_corpus_tables(count_corpora(tmp_path))
    # the nile flows , po too | T N f , t P | The ile ows , the Po too | Xxx Xxxx ...
    assert get_row(tables[4], "WNUT2017") == {
        "NORM": 6,
        "PREFIX": 6,
        "SUFFIX": 7,
        "SHAPE": 6,
    }
    assert get_row(tables[5], "WNUT2017") == {
        "documents": 2,
        "tokens": 7,
        "classes": 1,
        "entities_per_document": 1.0,
        "document_length": 3.5,
        "entity_length": 1.0,
        "vocabulary": 7,
        "unknown": None,
    }
    assert get_row(tables[6], "WNUT2017") == {
        "dev_seen": 1,
        "dev_unseen": 1,
        "test_seen": None,
        "test_unseen": None,
    }


def test_corpora_that_are_not_there_leave_gaps(tmp_path):
    tables = make_corpus_tables(count_corpora(tmp_path / "nowhere"))
    assert sorted(tables) == [4, 5, 6]
    for table in tables.values():
        assert len(table.rows) == 6
        for row in table.rows:
            for cell in row.cells.values():
                assert cell.ours is None
                assert cell.printed is not None
                assert not cell.differs


def test_progress_names_the_files(tmp_path):
    write_corpus(tmp_path / "anem", "en", train=[("a", [])], test=[("b", [])])
    lines = []
    count_corpora(tmp_path, on_progress=lines.append)
    assert lines == [
        f"Counting {tmp_path / 'anem' / split}.spacy" for split in ("train", "test")
    ]


def test_a_broken_file_is_named(tmp_path):
    write_corpus(tmp_path / "anem", "en", train=[("a", [])])
    (tmp_path / "anem/dev.spacy").write_bytes(b"no")
    with pytest.raises(ValueError, match=r"anem/dev\.spacy' should be a \.spacy file"):
        count_corpora(tmp_path)


def test_collisions_with_seed_8_and_9_are_counted(tmp_path):
    """By brute force, with spaCy's own hash."""
    words = [f"w{i}" for i in range(4000)]
    write_corpus(tmp_path / "wnut17", "en", train=[(" ".join(words), [])])
    row = get_row(make_collision_table(count_corpora(tmp_path)), "WNUT2017")
    assert row["NORM"] == 4000
    keys = np.array([hash_string(word) for word in words], dtype="uint64")
    for seed in (8, 9):
        rows = Counter((NumpyOps().hash(keys, seed)[:, 0] % 5000).tolist())
        assert row[f"reached_{seed}"] == len(rows)
        assert row[f"sharing_{seed}"] == sum(n for n in rows.values() if n > 1)
    assert row["reached_8"] <= 2500 < row["reached_9"]


def test_corpora_that_are_not_there_have_no_collisions(tmp_path):
    assert make_collision_table(count_corpora(tmp_path)).rows == []


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
    tables = make_corpus_tables(count_corpora(tmp_path))
    differing = {
        key
        for table in tables.values()
        for row in table.rows
        if row.stub == (name,)
        for key, cell in row.cells.items()
        if cell.differs
    }
    assert differing == slips
    if dataset == "conll2002_es":
        assert get_row(tables[4], name)["NORM"] == 23710
