"""Raw text for word vectors, tokenised as WNUT 2017 is."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from lab.vectors.rawtext import RAW_FILES, tokenize, write_raw_text
from spacy_hashembeds.corpora.docbin import read_docs


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder with all raw files, empty."""
    folder = tmp_path / "raw"
    folder.mkdir()
    for name in RAW_FILES:
        (folder / name).write_bytes(b"")
    return folder


def read_sentences(*paths: Path) -> Iterator[list[str]]:
    for path in paths:
        for doc in read_docs(path, Vocab()):
            yield [token.text for token in doc]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Sentences of the development and test data.
        ("I've @EJ3A 'fun'!!", "I ' ve @ EJ 3 A ' fun ' ! !"),
        ("RT @boyband_joao: 12:00 AM", "RT @ boyband _ joao : 12 : 00 AM"),
        ("wow 😀😀 </s> &amp;", "wow 😀 😀 < / s > & amp ;"),
        ("a non-profit, and non- this", "a non-profit , and non- this"),
        ("(https://imgur.com/a/xP0Ta).", "( https://imgur.com/a/xP0Ta ) ."),
        ("via https://t.c…", "via https://t.c…"),
        ("a\u00a0b\rc \u3000", "a b c"),
        ("", ""),
    ],
)
def test_tokens_are_those_of_wnut17(text, expected):
    for split_contractions in (False, True):
        assert tokenize(text, split_contractions=split_contractions) == expected.split()


@pytest.mark.parametrize(
    ("text", "split", "whole"),
    [
        ("I can't", "I ca n ' t", "I can ' t"),
        ("AIN\u2019T it", "AI N \u2019 T it", "AIN \u2019 T it"),
        ("do n't", "do n ' t", "do n ' t"),
        ("Dan'tan", "Dan ' tan", "Dan ' tan"),
    ],
)
def test_contractions_are_split_but_in_tweets(text, split, whole):
    assert tokenize(text, split_contractions=True) == split.split()
    assert tokenize(text, split_contractions=False) == whole.split()


@given(st.text(), st.booleans())
def test_nothing_but_white_space_is_lost(text, split_contractions):
    tokens = tokenize(text, split_contractions=split_contractions)
    assert "".join(tokens) == "".join(text.split())
    assert all(token and token.split() == [token] for token in tokens)


def test_wnut17_s_own_sentences_are_tokenised_as_they_are_there(data_dir, prepare_real):
    # Its development and test data are lines of the raw files.
    raw = {}
    for name, split_contractions in RAW_FILES.items():
        text = (data_dir / "wnut17-raw" / name).read_bytes().decode("utf8")
        for line in text.split("\n"):
            key = "".join(line.split())
            raw.setdefault(key, tokenize(line, split_contractions=split_contractions))
    corpus = prepare_real("wnut17")
    sentences = list(read_sentences(corpus / "dev.spacy", corpus / "test.spacy"))
    found = [words for words in sentences if "".join(words) in raw]
    assert len(found) == 2243  # of 2296
    same = sum(raw["".join(words)] == words for words in found)
    assert same == 2197


def test_files_are_read_in_order_and_empty_lines_dropped(folder, tmp_path):
    (folder / "gurez.10000").write_bytes(b"I can't\n\n \t\nRT @me\r\n")
    (folder / "stacko-src").write_bytes(b"I can't\nlast, without end")
    output = tmp_path / "new" / "text.txt"
    counts = write_raw_text(folder, output)
    assert output.read_text() == (
        "I can ' t\nRT @ me\nI ca n ' t\nlast , without end\n"
    )
    assert (counts.lines, counts.tokens, counts.held_out) == (4, 16, 0)


def test_docs_are_those_lines_in_an_order_that_is_drawn(folder, tmp_path):
    lines = [f"text {letter}, mine" for letter in "abcdefghijklmnopqrstuvwxyz"]
    (folder / "gurez.10000").write_text("\n".join(lines))
    (folder / "stacko-src").write_text("I can't")
    counts = write_raw_text(folder, tmp_path / "text.txt")
    expected = (tmp_path / "text.txt").read_text().splitlines()
    outputs = [tmp_path / "raw.spacy", tmp_path / "again.spacy"]
    for output in outputs:
        assert write_raw_text(folder, output) == counts
    first, again = (list(read_docs(output, Vocab())) for output in outputs)
    texts = [" ".join(token.text for token in doc) for doc in first]
    assert sorted(texts) == sorted(expected)
    assert texts != expected
    assert [doc.text for doc in again] == [doc.text for doc in first]
    # spaCy tokenises the text anew where white space is known
    assert all(doc.has_unknown_spaces for doc in first)


def test_held_out_texts_are_compared_without_white_space(folder, tmp_path):
    (folder / "yt-filter").write_text("so  good!!\nso good!\n")
    docs = [Doc(Vocab(), words=["so", "good", "!", "!"]), Doc(Vocab())]
    DocBin(docs=docs).to_disk(tmp_path / "test.spacy")
    output = tmp_path / "text.txt"
    counts = write_raw_text(folder, output, held_out=[tmp_path / "test.spacy"])
    assert output.read_text() == "so good !\n"
    assert (counts.lines, counts.held_out) == (1, 1)


def test_docs_are_added_but_for_those_held_out(folder, tmp_path):
    (folder / "yt-filter").write_text("so good!\n")
    names = {"train": [["my", "words"], ["so", "good", "!"], []], "test": [["my", "w"]]}
    for name, texts in names.items():
        docs = [Doc(Vocab(), words=words) for words in texts]
        DocBin(docs=docs).to_disk(tmp_path / f"{name}.spacy")
    output, train = tmp_path / "text.txt", tmp_path / "train.spacy"
    write_raw_text(folder, output, added=[train])
    assert output.read_text() == "so good !\nmy words\nso good !\n"
    counts = write_raw_text(folder, output, added=[train], held_out=[train])
    assert (counts.lines, counts.held_out) == (0, 3)
    test = tmp_path / "test.spacy"
    counts = write_raw_text(folder, output, added=[train, test])
    assert output.read_text().splitlines()[-1] == "my w"
    assert (counts.lines, counts.tokens) == (4, 10)


def test_line_breaks_in_added_docs_end_no_line(folder, tmp_path):
    """They stand between the sentences of a pair, for one."""
    texts = [["a", "\n", "b", " ", "c"], ["\n"]]
    docs = [Doc(Vocab(), words=words) for words in texts]
    DocBin(docs=docs).to_disk(tmp_path / "train.spacy")
    output = tmp_path / "text.txt"
    counts = write_raw_text(folder, output, added=[tmp_path / "train.spacy"])
    assert output.read_text() == "a b c\n"
    assert (counts.lines, counts.tokens) == (1, 3)


def test_empty_files_give_an_empty_text(folder, tmp_path):
    counts = write_raw_text(folder, tmp_path / "text.txt")
    assert (tmp_path / "text.txt").read_bytes() == b""
    assert (counts.lines, counts.tokens, counts.held_out) == (0, 0, 0)
    write_raw_text(folder, tmp_path / "text.spacy")
    assert list(read_docs(tmp_path / "text.spacy", Vocab())) == []


def test_what_is_wrong_is_named_and_the_old_text_kept(folder, tmp_path):
    output = tmp_path / "text.txt"
    output.write_text("old")
    with pytest.raises(FileNotFoundError, match=r"no file or folder .*none\.spacy"):
        write_raw_text(folder, output, held_out=[tmp_path / "none.spacy"])
    (folder / "ile.10000").write_bytes(b"fine\n\xff\n")
    with pytest.raises(ValueError, match=r"ile\.10000:2: not UTF-8 text"):
        write_raw_text(folder, output)
    (folder / "ile.10000").unlink()
    with pytest.raises(FileNotFoundError, match=r"ile\.10000: .*spacy project assets"):
        write_raw_text(folder, output)
    assert output.read_text() == "old"
    assert not list(tmp_path.glob(".text*"))
