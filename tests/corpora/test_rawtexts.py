import json

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_hashembeds.corpora import lines
from spacy_hashembeds.corpora.rawtexts import read_text_docs


@pytest.fixture
def nlp():
    return spacy.blank("en")


def read(paths, nlp) -> list[list[str]]:
    return [[token.text for token in doc] for doc in read_text_docs(paths, nlp)]


@pytest.mark.usefixtures("contractions")
def test_files_of_all_kinds_are_read_in_order(tmp_path, nlp):
    lines = tmp_path / "a.txt"
    lines.write_text("Don't go.\n\nHere  we are\r\n", encoding="utf8")
    objects = tmp_path / "b.jsonl"
    objects.write_text('{"text": "Ça va?", "label": 1}\n\n', encoding="utf8")
    docs = tmp_path / "c.spacy"
    # training keeps the tokens of Docs whose spaces nobody knows
    kept = Doc(nlp.vocab, words=["don't", "go"])
    DocBin(docs=[nlp.make_doc("don't go"), kept]).to_disk(docs)
    assert read([lines, objects, docs], nlp) == [
        ["Do", "n't", "go", "."],
        ["Here", " ", "we", "are"],
        ["Ça", "va", "?"],
        ["do", "n't", "go"],
        ["don't", "go"],
    ]


def test_the_docs_are_of_the_pipeline_and_hold_no_gold_annotation(tmp_path, nlp):
    path = tmp_path / "a.spacy"
    gold = Doc(spacy.blank("en").vocab, words=["Anna"], ents=["B-PER"])
    DocBin(docs=[gold]).to_disk(path)
    (doc,) = read_text_docs([path], nlp)
    assert doc.vocab is nlp.vocab
    assert not doc.ents


@pytest.mark.parametrize(
    "line",
    ["no", '{"words": []}', '"text"', '{"text": 1}', '{"text": "\\ud800"}', "[" * 9999],
)
def test_a_line_that_is_no_text_is_named(tmp_path, nlp, line):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": "fine"}) + "\n" + line)
    with pytest.raises(ValueError, match=r"a\.jsonl:2: expected a JSON object with a "):
        read([path], nlp)


def test_a_file_that_is_not_there_is_named(tmp_path, nlp):
    with pytest.raises(FileNotFoundError, match=r"no file or folder '.*gone\.txt'"):
        read([tmp_path / "gone.txt"], nlp)


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl"])
def test_a_text_that_is_too_long_for_the_pipeline_is_named(tmp_path, nlp, name):
    path = tmp_path / name
    texts = ["fits", "too long"]
    if path.suffix == ".jsonl":
        texts = [json.dumps({"text": text}) for text in texts]
    path.write_text("\n".join(texts))
    assert len(read([path], nlp)) == 2
    nlp.max_length = 7
    message = rf"{name}:2: expected a text of 7 characters at most, .* got 8\. Split"
    with pytest.raises(ValueError, match=message):
        read([path], nlp)


def test_a_line_without_end_is_not_read_to_its_end(tmp_path, nlp, monkeypatch):
    monkeypatch.setattr(lines, "MAX_LINE", 1000)
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 999 + b"\n" + b"\0" * 2000)
    with pytest.raises(ValueError, match=r"a\.txt:2: a line of more than 1,000 bytes"):
        read([path], nlp)


@pytest.mark.parametrize("suffix", [".csv", ".TSV"])
def test_files_of_columns_are_refused(tmp_path, suffix):
    path = tmp_path / f"texts{suffix}"
    path.write_text("text,label\nA text,A\n")
    with pytest.raises(ValueError, match=r"has columns, .* prepare texts"):
        next(read_text_docs([path], spacy.blank("en")))
