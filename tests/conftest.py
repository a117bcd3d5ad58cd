"""Fixtures shared by all tests."""

import os
from itertools import islice
from pathlib import Path

import pytest
from spacy.tokens import Doc, DocBin
from spacy.training import biluo_tags_to_spans, iob_to_biluo
from spacy.vocab import Vocab

from spacy_hashembeds.corpora.demo import make_demo_corpus

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The real corpora: `SPACY_HASHEMBEDS_DATA`, else a folder beside the checkout."""
    path = Path(os.environ.get("SPACY_HASHEMBEDS_DATA", ROOT.parent / "shared/data"))
    if not path.is_dir():
        pytest.skip(f"real corpora not found: set SPACY_HASHEMBEDS_DATA (was: {path})")
    return path


@pytest.fixture(scope="session")
def tiny_corpus(tmp_path_factory) -> Path:
    """A folder with train.spacy, dev.spacy and test.spacy, cut from the demo corpus."""
    folder = tmp_path_factory.mktemp("tiny")
    sizes = {"train": 80, "dev": 20, "test": 40}
    vocab = Vocab()
    for split, sentences in make_demo_corpus().items():
        docs = []
        for words, tags in islice(sentences, sizes[split]):
            doc = Doc(vocab, words=words)
            doc.ents = biluo_tags_to_spans(doc, iob_to_biluo(tags))
            docs.append(doc)
        DocBin(docs=docs).to_disk(folder / f"{split}.spacy")
    return folder
