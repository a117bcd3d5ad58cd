"""Raw text for word vectors, tokenised as WNUT 2017 is."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from spacy.vocab import Vocab

from lab.vectors.rawtext import RAW_FILES, tokenize
from spacy_hashembeds.training.docbin import read_docs


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
