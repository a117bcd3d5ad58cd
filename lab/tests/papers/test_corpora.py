from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span

from lab.papers.corpora import count_corpora
from lab.papers.filling import Measured, fill_datasets
from lab.papers.tables import Table, read_paper


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


def count_tables(root: Path) -> dict[str, Table]:
    paper = read_paper("multi-hash-embeddings")
    measured = Measured(counted=count_corpora(paper, root))
    return {number: fill_datasets(paper, number, measured) for number in "456"}


def get_figures(table: Table, name: str) -> dict[str, float | None]:
    (row,) = [row for row in table.rows if row.stub == (name,)]
    return {key: cell.ours and cell.ours.mean for key, cell in row.cells.items()}


def test_counts_equal_those_by_hand(tmp_path):
    train = [("The Nile flows , the Po too", [(1, 2), (5, 6)]), ("", [])]
    dev = [("The Nile and the Rhine", [(1, 2), (4, 5)])]
    write_corpus(tmp_path / "wnut17", "en", train=train, dev=dev)
    found = {n: get_figures(t, "WNUT2017") for n, t in count_tables(tmp_path).items()}
    # the nile flows , po too | T N f , t P | The ile ows , the Po too | Xxx Xxxx ...
    assert found["4"] == {"NORM": 6, "PREFIX": 6, "SUFFIX": 7, "SHAPE": 6}
    means = {"entities_per_document": 1, "document_length": 3.5, "entity_length": 1}
    counts = {"documents": 2, "tokens": 7, "classes": 1, "vocabulary": 7}
    assert found["5"] == {**means, **counts, "unknown": None}
    seen = {"dev_seen": 1, "dev_unseen": 1, "test_seen": None, "test_unseen": None}
    assert found["6"] == seen
    counts = count_corpora(read_paper("why-attention"), tmp_path)["wnut17"]
    assert (counts["train_tokens"], counts["dev_entities"]) == (0.007, 0.002)


@pytest.mark.parametrize(
    ("dataset", "name", "slips"),
    [
        ("wnut17", "WNUT2017", set()),
        ("anem", "AnEM", set()),
        ("conll2002_es", "CoNLL es", {"NORM", "entities_per_document"}),
        ("conll2002_nl", "CoNLL nl", {"vocabulary"}),
    ],
)
def test_counts_of_real_corpora(dataset, name, slips, prepare_real, tmp_path):
    (tmp_path / dataset).symlink_to(prepare_real(dataset))
    tables = count_tables(tmp_path)
    rows = [row for table in tables.values() for row in table.rows]
    cells = [x for row in rows if row.stub == (name,) for x in row.cells.items()]
    assert {key for key, cell in cells if cell.differs} == slips
    if dataset == "conll2002_es":
        assert get_figures(tables["4"], name)["NORM"] == 23710
