"""Raw texts as Docs, and the reader that hands them out to `spacy pretrain`."""

import json
import logging
import pickle
import random
import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import registry
from spacy.vocab import Vocab

from spacy_hashembeds.corpora import lines
from spacy_hashembeds.corpora.rawtexts import (
    MEASURES,
    TOLERANCE,
    create_raw_texts_reader,
    pack_doc,
    read_text_docs,
)

#: Texts of five tokens and more, as the reader takes them by default.
TEXTS = [f"This is the text {i} ." for i in range(50)]


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


@pytest.fixture
def path(tmp_path) -> Path:
    """A file of texts, one a line."""
    return write_lines(tmp_path / "raw.txt", TEXTS)


def write_lines(path: Path, texts: list[str]) -> Path:
    path.write_text("\n".join(texts), encoding="utf8")
    return path


def write_docs(path: Path, docs: Iterable[Doc]) -> Path:
    DocBin(docs=docs).to_disk(path)
    return path


def get_texts(epoch) -> list[str]:
    return [example.reference.text for example in epoch]


def take_epoch(reader, nlp: Language, loss: float = 0.0) -> list[Example]:
    """Read an epoch as an objective that finds this loss when it is over."""
    examples = list(reader(nlp))
    for example in examples:
        MEASURES[example.reference]["loss"] = lambda docs: loss
    return examples


def get_held_out(reader, nlp: Language) -> list[str]:
    """What an objective is given to measure after an epoch."""
    held_out: list[str] = []

    def measure(docs) -> float:
        held_out.extend(doc.text for doc in docs)
        return 0.0

    for example in reader(nlp):
        MEASURES[example.reference]["loss"] = measure
    reader(nlp)
    return held_out


def read(paths, nlp) -> list[list[str]]:
    return [[token.text for token in doc] for doc in read_text_docs(paths, nlp)]


@pytest.mark.usefixtures("contractions")
def test_files_of_all_kinds_are_read_in_order(tmp_path):
    nlp = spacy.blank("en")
    # training keeps the tokens of Docs whose spaces nobody knows
    kept = Doc(nlp.vocab, words=["don't", "go"])
    paths = [
        write_lines(tmp_path / "a.txt", ["Don't go.", "", "Here  we are\r"]),
        write_lines(tmp_path / "b.jsonl", ['{"text": "Ça va?", "label": 1}', ""]),
        write_docs(tmp_path / "c.spacy", [nlp.make_doc("don't go"), kept]),
    ]
    assert read(paths, nlp) == [
        ["Do", "n't", "go", "."],
        ["Here", " ", "we", "are"],
        ["Ça", "va", "?"],
        ["do", "n't", "go"],
        ["don't", "go"],
    ]


@pytest.mark.parametrize(
    "line",
    [
        *("no", '{"words": []}', '"text"', '{"text": 1}', "[" * 9999),
        *('{"text": "\\ud800"}', '{"text": "a\\u0000"}'),
    ],
)
def test_a_line_that_is_no_text_is_named(tmp_path, nlp, line):
    path = write_lines(tmp_path / "a.jsonl", ['{"text": "fine"}', line])
    with pytest.raises(ValueError, match=r"a\.jsonl:2: expected a JSON object with a "):
        read([path], nlp)


def test_a_text_that_is_too_long_is_named(tmp_path, nlp, monkeypatch):
    path = write_lines(tmp_path / "a.jsonl", ['{"text": "fits"}', '{"text": "longer"}'])
    monkeypatch.setattr(nlp, "max_length", 5)
    with pytest.raises(ValueError, match=r"a\.jsonl:2: expected a text.* got 6\. Sp"):
        read([path], nlp)


def test_a_line_without_end_is_not_read_to_its_end(tmp_path, nlp, monkeypatch):
    monkeypatch.setattr(lines, "MAX_LINE", 1000)
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 999 + b"\n" + b"\0" * 2000)
    with pytest.raises(ValueError, match=r"a\.txt:2: a line of more than 1,000 bytes"):
        read([path], nlp)


@pytest.mark.parametrize("suffix", [".csv", ".TSV", ".conllu"])
def test_files_of_columns_are_refused(tmp_path, nlp, suffix):
    path = write_lines(tmp_path / f"texts{suffix}", ["text,label", "A text,A"])
    with pytest.raises(ValueError, match=r"has columns, .* prepare"):
        read([path], nlp)


@pytest.mark.parametrize(
    ("lines", "has_columns"),
    [
        ("-DOCSTART-\n\nEU NNP B-ORG\nrejects VBZ O\n\n. . O\n", True),
        ("# text = EU .\n1\tEU\tNNP\n2\trejects\tVBZ\n3\t.\tPUNCT\n", True),
        ("Anna O\nCarl I-PER\nno tag\n", False),
        ("a\tb\nc\td\ne f\n", False),
        ("Vitamin O\n", False),  # of one line nobody knows
        ("O\nB-PER\nO\n", False),
    ],
)
def test_columns_are_seen_where_each_line_has_them(tmp_path, nlp, lines, has_columns):
    path = tmp_path / "a.txt"
    path.write_text(lines)
    if has_columns:
        with pytest.raises(ValueError, match=r"a\.txt'.*a text a line\. Make \.spacy"):
            read([path], nlp)
    else:
        assert len(read([path], nlp)) == lines.count("\n")


# The reader of `spacy pretrain`


@pytest.mark.parametrize(("share", "n_held_out"), [(0.1, 5), (1e-9, 1)])
def test_each_text_is_learned_or_held_out(path, nlp, share, n_held_out):
    reader = create_raw_texts_reader(path=path, held_out=share)
    learned = get_texts(reader(nlp))
    held_out = get_held_out(create_raw_texts_reader(path=path, held_out=share), nlp)
    assert (len(learned), len(held_out)) == (50 - n_held_out, n_held_out)
    assert {*learned, *held_out} == set(TEXTS)


def test_the_same_texts_are_held_out_always(path, tmp_path, nlp):
    """In each epoch, from each kind of file, in whatever order, for any seed."""
    first, second = (
        set(TEXTS).difference(get_texts(epoch))
        for reader in [create_raw_texts_reader(path=path, held_out=0.1)]
        for epoch in (take_epoch(reader, nlp), take_epoch(reader, nlp, -1.0))
    )
    # as another process found them
    numbers = sorted(int(text.split()[4]) for text in first)
    assert numbers == [14, 18, 22, 34, 44]
    assert second == first
    others = random.Random(0).sample(TEXTS, len(TEXTS))
    objects = [json.dumps({"text": text}) for text in others]
    for other in (
        write_docs(tmp_path / "a.spacy", map(nlp.make_doc, others)),
        write_lines(tmp_path / "b.txt", others),
        write_lines(tmp_path / "c.jsonl", objects),
    ):
        reader = create_raw_texts_reader(path=other, held_out=0.1, seed=1)
        assert set(get_held_out(reader, nlp)) == first


def test_nothing_is_held_out_if_nothing_shall_be(path, nlp):
    reader = create_raw_texts_reader(path=path, held_out=0)
    for _ in range(4):
        assert sorted(get_texts(take_epoch(reader, nlp, np.inf))) == sorted(TEXTS)


def test_epochs_differ_in_order_and_seeds_too(path, nlp):
    def read(seed):
        reader = create_raw_texts_reader(path=path, held_out=0, seed=seed)
        return [get_texts(reader(nlp)) for _ in range(2)]

    epochs = [*read(0), *read(1)]
    assert len({tuple(texts) for texts in epochs}) == 4
    assert epochs[0] != TEXTS
    assert read(0) == epochs[:2]


def test_a_text_counts_once(tmp_path, nlp):
    texts = [TEXTS[0], TEXTS[0], TEXTS[0].replace(" ", "  "), "", "  ", TEXTS[1]]
    path = write_lines(tmp_path / "raw.txt", texts)
    reader = create_raw_texts_reader(path=path, held_out=0)
    assert len(list(reader(nlp))) == 2


def test_texts_to_test_on_are_left_out(path, tmp_path, nlp, caplog):
    words = [doc.text.split() for doc in map(nlp.make_doc, TEXTS[:10])]
    test = write_docs(tmp_path / "test.spacy", [Doc(nlp.vocab, words=w) for w in words])
    dev = write_lines(tmp_path / "dev.txt", [TEXTS[10].replace(" ", ""), "no such one"])
    reader = create_raw_texts_reader(path=path, exclude=[dev, test], held_out=0)
    assert sorted(get_texts(reader(nlp))) == sorted(TEXTS[11:])
    assert "Texts: 50, but 11 to exclude" in caplog.text


@pytest.mark.parametrize(
    ("settings", "lengths"),
    [
        ({}, [5, 5, 6, *[500] * 4]),
        ({"min_length": 0, "max_length": 300}, [4, 5, 200, 204, 205, 206, *[300] * 4]),
        ({"min_length": 500, "max_length": 0}, [500, 504, 505, 506]),
    ],
)
def test_short_texts_are_left_out_and_long_ones_cut(tmp_path, nlp, settings, lengths):
    texts = ["a " * n for n in (4, 5, 500, 504, 505, 506)]
    path = write_lines(tmp_path / "raw.txt", texts)
    reader = create_raw_texts_reader(path=path, held_out=0, **settings)
    # white space at the end is a part of the last token
    assert sorted(len(example.reference) for example in reader(nlp)) == lengths


@pytest.mark.usefixtures("contractions")
def test_docs_are_those_of_the_pipeline(tmp_path):
    nlp = spacy.blank("en")
    text = "I don't know  what O'Neil can't do, :-) \u00e7a"
    path = write_lines(tmp_path / "raw.txt", [text])
    (example,) = create_raw_texts_reader(path=path, held_out=0)(nlp)
    attrs = ["ORTH", "NORM", "SPACY", "SHAPE"]
    found, expected = example.reference, nlp.make_doc(text)
    assert found.text == text
    np.testing.assert_array_equal(found.to_array(attrs), expected.to_array(attrs))
    assert found.vocab is nlp.vocab
    # whose symbols are counted
    assert example.predicted.text == text


def test_words_of_docs_are_kept_and_nothing_else(tmp_path, nlp):
    words = ["don't", "go", "to", "New York", "!"]
    gold = Doc(Vocab(), words=words, ents=["O", "O", "O", "B-LOC", "O"])
    (tmp_path / "folder").mkdir()
    write_docs(tmp_path / "folder" / "a.spacy", [gold])
    reader = create_raw_texts_reader(path=tmp_path / "folder", held_out=0)
    (example,) = reader(nlp)
    assert [token.text for token in example.reference] == words
    assert example.reference.vocab is nlp.vocab
    assert not example.reference.ents


@pytest.mark.parametrize(
    ("losses", "patience", "n_epochs"),
    [
        ([0.6, 0.6], 1, 2),
        ([0.6, 0.7], 1, 2),
        ([0.6, 0.6 - TOLERANCE / 2], 1, 2),
        ([0.6, 0.6 - 2 * TOLERANCE, 0.6], 1, 3),
        ([0.6, 0.5, 0.55, 0.4, 0.45, 0.45], 2, 6),
        # what falls a little at a time falls no less
        ([0.6, 0.6 - 0.6 * TOLERANCE, 0.6 - 1.2 * TOLERANCE], 3, 4),
        ([float("nan")], 1, 1),
    ],
)
def test_epochs_end_when_the_loss_does_not_fall(path, nlp, losses, patience, n_epochs):
    reader = create_raw_texts_reader(path=path, patience=patience)
    losses = losses + losses[-1:] * 9
    lengths = [len(take_epoch(reader, nlp, loss)) for loss in losses]
    assert lengths == [49] * n_epochs + [0] * (len(losses) - n_epochs)


@pytest.mark.parametrize("n", [0, 1, 48])
def test_who_looks_at_some_texts_changes_nothing(path, nlp, caplog, n):
    reader = create_raw_texts_reader(path=path)
    expected = create_raw_texts_reader(path=path)
    for loss in (0.6, 0.5, 0.5, 0.0):
        left_open = reader(nlp)
        seen = get_texts(islice(left_open, n))
        assert get_texts(islice(reader(nlp), n)) == seen
        texts = get_texts(take_epoch(reader, nlp, loss))
        assert texts == get_texts(take_epoch(expected, nlp, loss))
        assert texts[:n] == seen
        list(left_open)  # too late to be an epoch
    assert not texts
    assert "No loss is measured" not in caplog.text
    losses = re.findall(r"epoch \d: \S+", caplog.text)
    assert {*losses} == {"epoch 0: 0.6000", "epoch 1: 0.5000", "epoch 2: 0.5000"}
    assert len(losses) == 6  # of two readers


def test_docs_can_be_serialised_while_pretraining(path, nlp):
    (example, *_) = take_epoch(create_raw_texts_reader(path=path), nlp)
    doc = example.reference
    assert Doc(nlp.vocab).from_bytes(doc.to_bytes()).text == doc.text
    assert pickle.loads(pickle.dumps(doc)).text == doc.text
    assert not doc.user_data
    assert pack_doc(doc).nbytes == 24 * len(doc)  # what the text takes in memory


def test_what_measures_ends_with_the_docs(path, nlp):
    (example,) = islice(create_raw_texts_reader(path=path)(nlp), 1)
    kept = len(MEASURES)
    del example
    assert len(MEASURES) == kept - 1


def test_what_happens_is_said(path, nlp, caplog):
    reader = create_raw_texts_reader(path=path)
    for loss in (0.61234, 0.62, 0.0):
        take_epoch(reader, nlp, loss)
    assert [record.getMessage() for record in caplog.records] == [
        "Held-out loss after epoch 0: 0.6123 a token",
        "Held-out loss after epoch 1: 0.6200 a token",
        "It no longer falls, and pretraining ends",
    ]
    # though `spacy pretrain` leaves the level of spaCy's logger as it is
    assert logging.getLogger("spacy").level == logging.NOTSET


def test_without_a_loss_all_texts_are_handed_out(path, nlp, caplog):
    """As with spaCy's objectives."""
    reader = create_raw_texts_reader(path=path)
    assert [len(list(reader(nlp))) for _ in range(4)] == [49, 50, 50, 50]
    assert caplog.text.count("No loss is measured") == 1


def test_pipelines_have_nothing_to_do_with_each_other(path, nlp):
    reader = create_raw_texts_reader(path=path)
    other = spacy.blank("de")
    first = get_texts(take_epoch(reader, nlp))
    assert [len(take_epoch(reader, nlp)) for _ in range(2)] == [49, 0]
    (example, *more) = take_epoch(reader, other)
    assert get_texts([example, *more]) == first
    assert example.reference.vocab is other.vocab


@pytest.mark.parametrize(
    ("texts", "settings", "message"),
    [
        ([], {}, r"raw\.txt' should hold texts to learn from, but 0 are left that"),
        (["", "  "], {}, "but 0 are left"),
        (TEXTS[:1], {}, r"but 1 are left .* and 'held_out' \(0\.02\) takes 1 of them"),
        ([], {"held_out": 0}, r"but 0 are left .* and 'held_out' \(0\) takes 0"),
        (TEXTS, {"min_length": 9, "max_length": 0}, "differ, have 9 tokens or more"),
        (TEXTS[:4] * 9, {"held_out": 0.9}, r"4 are left .* \(0\.9\) takes 4 of them"),
    ],
)
def test_too_few_texts_are_refused(tmp_path, nlp, texts, settings, message):
    path = write_lines(tmp_path / "raw.txt", texts)
    with pytest.raises(ValueError, match=message):
        create_raw_texts_reader(path=path, **settings)(nlp)


def test_files_are_looked_for_when_they_are_read(path, tmp_path, nlp):
    """`spacy train` makes the reader too, where there may be no raw text."""
    for settings in ({"path": None}, {"path": path, "exclude": [None]}):
        reader = create_raw_texts_reader(**settings)
        with pytest.raises(ValueError, match=r"path should .* is None.*\.cfg"):
            reader(nlp)
    reader = create_raw_texts_reader(path=tmp_path / "gone.txt")
    with pytest.raises(FileNotFoundError, match=r"no file or folder .*gone\.txt"):
        reader(nlp)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_length": 4}, "'max_length' should be 'min_length', 5, or more, or 0"),
        ({"held_out": 1.0}, r"'held_out' should be in \[0, 1\), but is 1\.0"),
        ({"held_out": -0.1}, r"'held_out' should be in \[0, 1\), but is -0\.1"),
        ({"patience": 0}, "'patience' should be 1 or more, but is 0"),
        ({"min_length": -1}, "'min_length' should be 0 or more, but is -1"),
        ({"max_length": 2.5}, r"'max_length' should be 0 or more, but is 2\.5"),
        ({"seed": -1}, "'seed' should be 0 or more, but is -1"),
    ],
)
def test_settings_that_cannot_be(path, settings, message):
    with pytest.raises(ValueError, match=message):
        create_raw_texts_reader(path=path, **settings)


def test_one_path_to_exclude_should_stand_in_a_list(path):
    with pytest.raises(TypeError, match=r"'exclude' should be a list"):
        create_raw_texts_reader(path=path, exclude=str(path))


def test_it_is_made_from_a_config(path, nlp):
    block = {
        "@readers": "spacy-hashembeds.RawTexts.v1",
        "path": str(path),
        "exclude": [str(path)],
    }
    with pytest.raises(ValueError, match=r"0 are left .* not in 'exclude'"):
        registry.resolve({"corpus": block})["corpus"](nlp)
    del block["exclude"]
    assert len(list(registry.resolve({"corpus": block})["corpus"](nlp))) == 49
