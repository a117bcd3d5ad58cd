"""Raw texts as Docs, and the reader for `spacy pretrain`."""

import json
import logging
import random
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import registry
from spacy.vocab import Vocab

from spacy_hashembeds.training import lines
from spacy_hashembeds.training.rawtexts import (
    MEASURES,
    TOLERANCE,
    create_raw_texts_reader,
    pack_doc,
    read_text_docs,
)

#: Texts of at least five tokens, the default minimum.
TEXTS = [f"This is the text {i} ." for i in range(50)]


@pytest.fixture
def path(tmp_path) -> Path:
    """A file with one text per line."""
    return write(tmp_path / "raw.txt", TEXTS)


def write(path: Path, texts) -> Path:
    if path.suffix == ".spacy":
        DocBin(docs=texts).to_disk(path)
    else:
        path.write_text("\n".join(texts), encoding="utf8")
    return path


def get_texts(epoch) -> list[str]:
    return [example.reference.text for example in epoch]


def take_epoch(
    reader, nlp, loss: float = 0.0, held_out: list[str] | None = None
) -> list[Example]:
    """Read an epoch with an objective of this loss, and record held-out texts."""

    def measure(docs) -> float:
        ([] if held_out is None else held_out).extend(doc.text for doc in docs)
        return loss

    examples = list(reader(nlp))
    for example in examples:
        MEASURES[example.reference]["loss"] = measure
    return examples


def read(paths, nlp) -> list[list[str]]:
    return [[token.text for token in doc] for doc in read_text_docs(paths, nlp)]


@pytest.mark.usefixtures("contractions")
def test_files_of_all_kinds_are_read_in_order(tmp_path):
    nlp = spacy.blank("en")
    # training keeps the tokens of Docs with unknown spaces
    kept = Doc(nlp.vocab, words=["don't", "go"])
    paths = [
        write(tmp_path / "a.txt", ["Don't go.", "", "Here  we are\r"]),
        write(tmp_path / "b.jsonl", ['{"text": "Ça va?", "label": 1}', ""]),
        write(tmp_path / "c.spacy", [nlp.make_doc("don't go"), kept]),
        # two lines are too few to detect columns
        write(tmp_path / "d.txt", ["Vitamin O", "A O"]),
        write(tmp_path / "e.txt", ["A O", "C I-P", "no tag"]),
    ]
    assert read(paths, nlp) == [
        ["Do", "n't", "go", "."],
        ["Here", " ", "we", "are"],
        ["Ça", "va", "?"],
        ["do", "n't", "go"],
        ["don't", "go"],
        *(["Vitamin", "O"], ["A", "O"]),
        *(["A", "O"], ["C", "I", "-", "P"], ["no", "tag"]),
    ]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.jsonl", '{"text": "fine"}\nno', r"a\.jsonl:2: "),
        ("a.jsonl", '{"text": 1}', r"a\.jsonl:1: "),
        ("a.jsonl", '{"text": "\\ud800"}', r"a\.jsonl:1: "),
        ("a.jsonl", '{"text": "fits"}\n{"text": "longer"}', r"a\.jsonl:2: .*5 char.*6"),
        ("a.txt", f"fits\n{'x' * 50}", r"a\.txt:2: a line of more than 49 bytes"),
        *((f"a{x}", "text,label", "prepare") for x in (".csv", ".TSV", ".conllu")),
        ("a.txt", "-DOCSTART-\n\nEU NNP B-ORG\nis VBZ O\n\n. . O\n", "prepare"),
        ("a.txt", "# id = 1 .\n1\tEU\tNNP\n2\tis\tVBZ\n3\t.\tX\n", "prepare"),
    ],
)
def test_invalid_texts_are_refused(tmp_path, nlp, name, text, message, monkeypatch):
    monkeypatch.setattr(nlp, "max_length", 5)
    if "bytes" in message:
        monkeypatch.setattr(lines, "MAX_LINE", 49)
    with pytest.raises(ValueError, match=message):
        read([write(tmp_path / name, [text])], nlp)


def test_held_out_texts_are_deterministic(path, tmp_path, nlp):
    """Held-out texts are equal for each epoch, type of file, order and seed."""
    others = random.Random(0).sample(TEXTS, len(TEXTS))
    objects = [json.dumps({"text": text}) for text in others]
    paths = [
        path,
        write(tmp_path / "a.spacy", list(map(nlp.make_doc, others))),
        write(tmp_path / "c.jsonl", objects),
    ]
    # stable across processes
    expected = [f"This is the text {i} ." for i in (14, 18, 22, 34, 44)]
    for seed, each in enumerate(paths):
        reader = create_raw_texts_reader(path=each, held_out=0.1, seed=seed)
        held_out: list[str] = []
        for loss in (0.0, -1.0):
            learned = get_texts(take_epoch(reader, nlp, loss, held_out))
            assert sorted([*learned, *expected]) == sorted(TEXTS)
        assert sorted(held_out) == expected


def test_texts_are_held_out_with_all_pieces(tmp_path, nlp):
    path = write(tmp_path / "a.txt", [" ".join([f"w{i}"] * 30) for i in range(6)])
    reader = create_raw_texts_reader(path=path, held_out=0.3, max_length=10)
    held_out: list[str] = []
    for loss in (0.0, -1.0):
        learned = get_texts(take_epoch(reader, nlp, loss, held_out))
    words = [{text.split()[0] for text in texts} for texts in (learned, held_out)]
    assert [*map(len, words)] == [4, 2]
    assert not words[0] & words[1]


def test_order_depends_on_epoch_and_seed(path, nlp):
    def read_epochs(seed):
        reader = create_raw_texts_reader(path=path, held_out=0, seed=seed)
        return [get_texts(reader(nlp)) for _ in range(3)]

    epochs = [*read_epochs(0), *read_epochs(1)]
    assert len({tuple(texts) for texts in [*epochs, TEXTS]}) == 7
    assert all(sorted(texts) == sorted(TEXTS) for texts in epochs)
    assert read_epochs(0) == epochs[:3]


def test_duplicate_and_excluded_texts_are_dropped(tmp_path, nlp, caplog):
    words = [doc.text.split() for doc in map(nlp.make_doc, TEXTS[:10])]
    test = write(tmp_path / "test.spacy", [Doc(nlp.vocab, words=w) for w in words])
    dev = write(tmp_path / "dev.txt", [TEXTS[10].replace(" ", ""), "no such one"])
    twice = [*TEXTS, TEXTS[40], TEXTS[41].replace(" ", "  "), "", "  "]
    path = write(tmp_path / "raw.txt", twice)
    reader = create_raw_texts_reader(path=path, exclude=[dev, test], held_out=0)
    found = [text.replace("  ", " ") for text in get_texts(reader(nlp))]
    assert sorted(found) == sorted(TEXTS[11:])
    assert "Texts: 50, excluded: 11" in caplog.text


@pytest.mark.parametrize(
    ("settings", "lengths"),
    [
        ({}, [5, 5, 6, *[500] * 4]),
        ({"min_length": 0, "max_length": 300}, [4, 5, 200, 204, 205, 206, *[300] * 4]),
        ({"min_length": 500, "max_length": 0}, [500, 504, 505, 506]),
    ],
)
def test_short_texts_are_skipped_and_long_ones_split(tmp_path, nlp, settings, lengths):
    path = write(tmp_path / "raw.txt", ["a " * n for n in (4, 5, 500, 504, 505, 506)])
    reader = create_raw_texts_reader(path=path, held_out=0, **settings)
    # final white space belongs to the last token
    assert sorted(len(example.reference) for example in reader(nlp)) == lengths


@pytest.mark.usefixtures("contractions")
def test_docs_are_tokenized_by_the_pipeline_without_annotation(tmp_path):
    nlp = spacy.blank("en")
    text = "I don't know  what O'Neil can't do, :-) \u00e7a"
    path = write(tmp_path / "raw.txt", [text])
    (example,) = create_raw_texts_reader(path=path, held_out=0)(nlp)
    found, expected = example.reference, nlp.make_doc(text)
    attrs = ["ORTH", "NORM", "SPACY", "SHAPE"]
    np.testing.assert_array_equal(found.to_array(attrs), expected.to_array(attrs))
    assert found.vocab is nlp.vocab
    assert example.predicted.text == text  # counted for symbols
    assert pack_doc(found).nbytes == 24 * len(found)  # memory of a text
    words = ["don't", "go", "to", "New York", "!"]
    gold = Doc(Vocab(), words=words, ents=["O", "O", "O", "B-LOC", "O"])
    path = write(tmp_path / "a.spacy", [gold])
    (example,) = create_raw_texts_reader(path=path, held_out=0)(nlp)
    assert [token.text for token in example.reference] == words
    assert not example.reference.ents


@pytest.mark.parametrize(
    ("losses", "patience", "n_epochs"),
    [
        ([0.6, 0.6 - TOLERANCE / 2], 1, 2),
        ([0.6, 0.6 - 2 * TOLERANCE, 0.6], 1, 3),
        ([0.6, 0.5, 0.55, 0.4, 0.45, 0.45], 2, 6),
        # compared with the lowest loss, not the last
        ([0.6, 0.5, 0.7, 0.65, 0.8], 2, 4),
        # small improvements accumulate
        ([0.6, 0.6 - 0.6 * TOLERANCE, 0.6 - 1.2 * TOLERANCE], 3, 4),
        ([float("nan")], 1, 1),
    ],
)
def test_epochs_end_when_the_loss_does_not_fall(
    path, nlp, losses, patience, n_epochs, caplog
):
    reader = create_raw_texts_reader(path=path, patience=patience)
    losses = losses + losses[-1:] * 9
    lengths = [len(take_epoch(reader, nlp, loss)) for loss in losses]
    assert lengths == [49] * n_epochs + [0] * (len(losses) - n_epochs)
    # at the default level of spaCy's logger
    assert logging.getLogger("spacy").level == logging.NOTSET
    assert f"Held-out loss after epoch 0: {losses[0]:.4f}" in caplog.text


def test_measures_are_freed_with_the_docs(path, nlp):
    (example,) = islice(create_raw_texts_reader(path=path)(nlp), 1)
    kept = len(MEASURES)
    del example
    assert len(MEASURES) == kept - 1


def test_without_a_loss_all_texts_are_read(path, nlp, caplog):
    """spaCy's objectives measure no loss."""
    reader = create_raw_texts_reader(path=path)
    assert [len(list(reader(nlp))) for _ in range(4)] == [49, 50, 50, 50]
    assert caplog.text.count("No loss is measured") == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"held_out": 1.0}, "'held_out'"),
        ({"patience": 0}, "'patience'"),
        ({"min_length": -1}, "'min_length'"),
        ({"seed": -1}, "'seed'"),
        ({"exclude": "a.txt"}, "'exclude'"),
        # at the first call: missing path, and too few texts
        ({"exclude": [None]}, "path"),
        ({"path": None}, "path"),
        ({"path": Path("gone")}, "'gone'"),
        ({"min_length": 9, "max_length": 0}, "'min_length'"),
        ({"max_length": 4}, "'max_length'"),
        ({"min_length": 7, "max_length": 7}, "'held_out'"),  # one text remains
    ],
)
def test_invalid_settings_and_too_few_texts(tmp_path, nlp, settings, message):
    path = write(tmp_path / "raw.txt", [*TEXTS, "a text of seven tokens , yes"])
    with pytest.raises((ValueError, TypeError, OSError), match=message):
        create_raw_texts_reader(**{"path": path, **settings})(nlp)


@pytest.mark.parametrize("path", [None, "gone"])
def test_files_are_read_lazily(path):
    block = {"@readers": "spacy-hashembeds.RawTexts.v1", "path": path}
    assert callable(registry.resolve({"corpus": block})["corpus"])
