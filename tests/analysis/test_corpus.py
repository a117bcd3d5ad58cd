import json
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span

from spacy_hashembeds.analysis.analyze import analyze
from tests.configs import CONFIGS
from tests.training import train_small

CONFIG = CONFIGS / "multi_embed.cfg"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    vocab = spacy.blank("en").vocab
    train = [
        Doc(vocab, words=["New", "York", "calls"], ents=["B-LOC", "I-LOC", "O"]),
        Doc(vocab),
        Doc(vocab, words=["Ann", "calls", "calls"], ents=["B-PER", "O", "O"]),
    ]
    dev = [Doc(vocab, words=["Ann", "calls", "Bo"], ents=["B-ORG", "O", "B-PER"])]
    for name, docs in {"train": train, "dev": dev, "empty": []}.items():
        DocBin(docs=docs).to_disk(tmp_path / f"{name}.spacy")
    return tmp_path


def test_everything_is_there_and_is_json(corpus):
    data = analyze(
        corpus / "train.spacy",
        dev=corpus / "dev.spacy",
        config=CONFIGS / "multi_fewer_hash_embed.cfg",
    )
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["lang"] == "en"
    assert list(data["splits"]) == ["train", "dev"]
    assert data["splits"]["train"] == {
        "documents": 3,
        "tokens": 6,
        "entities": 2,
        "classes": 2,
        "vocabulary": 4,
        "entities_per_document": 2 / 3,
        "document_length": 2.0,
        "entity_length": 1.5,
        "whitespace_entities": 0,
        "unknown": None,
    }
    assert data["features"]["NORM"] == {"values": 4, "once": 3, "at_least_10": 0}
    assert data["entities"] == {
        "dev": {
            "seen": 1,
            "unseen": 1,
            "per_type": {
                "ORG": {"seen": 1, "unseen": 0},
                "PER": {"seen": 0, "unseen": 1},
            },
        }
    }
    (embedder,) = data["embedders"]
    assert embedder["component"] == "tok2vec"
    assert not embedder["has_vectors"]
    assert [t["attr"] for t in embedder["tables"]] == list(data["features"])
    assert {table["kind"] for table in embedder["tables"]} == {"hash"}
    norm = embedder["tables"][0]
    assert (norm["seed"], norm["num_hashes"], norm["values"]) == (8, 1, 4)
    assert norm["with_sound_seed"]["seed"] == 9
    assert embedder["words"]["words"] == 4
    (advice,) = data["advice"]
    assert (advice["component"], advice["width"]) == ("tok2vec", 96)
    # four words are too few
    assert advice["hashing"] is None
    assert [reason[:31] for reason in advice["reasons"]] == [
        "The training corpus is too smal",
        "NORM is hashed with seed 8, a p",
    ]


def test_without_a_pipeline_the_default_attributes_are_advised(corpus):
    data = analyze(corpus / "train.spacy", bound=0.01)
    assert data["lang"] == "xx"
    assert data["embedders"] == []
    (advice,) = data["advice"]
    assert advice["component"] is None
    assert (advice["width"], advice["bound"]) == (96, 0.01)
    assert [use["attr"] for use in advice["attributes"]] == list(data["features"])


def test_a_trained_pipeline_is_measured_with_its_own_tables(tiny_corpus, tmp_path):
    model = train_small("multi_fewer_hash_embed", tiny_corpus, tmp_path)
    data = analyze(tiny_corpus / "train.spacy", model=model)
    tables = data["embedders"][0]["tables"]
    assert [table["rows"] for table in tables] == [500, 100, 200, 50]
    assert [table["num_hashes"] for table in tables] == [1] * 4
    assert [table["parameters"] for table in tables] == [32 * t["rows"] for t in tables]
    (advice,) = data["advice"]
    assert advice["width"] == 32
    assert advice["hashing"] in advice["hash_options"]
    assert advice["lookup"] in advice["lookup_options"]


@pytest.mark.usefixtures("contractions")
def test_tokens_are_those_that_training_would_see(tmp_path):
    nlp = spacy.blank("en")
    gold = Doc(nlp.vocab, words=["do", "n't!"], spaces=[False, False])
    gold.ents = [Span(gold, 1, 2, "X")]
    DocBin(docs=[gold]).to_disk(tmp_path / "train.spacy")
    data = analyze(tmp_path / "train.spacy", overrides={"nlp.lang": "en"})
    # counted in the gold doc; but "don't!" is tokenized as do, n't, !
    assert data["splits"]["train"]["tokens"] == 2
    assert data["features"]["NORM"]["values"] == 3


def test_norms_are_those_of_the_language(tmp_path):
    vocab = spacy.blank("xx").vocab
    docs = [Doc(vocab, words=["किताब", "किताबें"])]
    DocBin(docs=docs).to_disk(tmp_path / "train.spacy")
    for overrides, values in ((None, 2), ({"nlp.lang": "hi"}, 1)):
        data = analyze(tmp_path / "train.spacy", overrides=overrides)
        assert data["features"]["NORM"]["values"] == values


def test_tokens_unknown_to_vectors(corpus, tmp_path):
    nlp = spacy.blank("en")
    for word in ("New", "calls"):
        nlp.vocab.set_vector(word, np.ones(3, dtype="float32"))
    nlp.to_disk(tmp_path / "vectors")
    data = analyze(
        corpus / "train.spacy", dev=corpus / "dev.spacy", vectors=tmp_path / "vectors"
    )
    assert data["splits"]["train"]["unknown"] == 2
    assert data["splits"]["dev"]["unknown"] == 2


def test_empty_splits(corpus):
    empty = corpus / "empty.spacy"
    for config in (None, *sorted(CONFIGS.glob("multi*embed.cfg"))):
        data = analyze(empty, dev=empty, config=config)
        assert data["splits"]["train"]["documents"] == 0
        assert data["features"]["NORM"]["values"] == 0
        assert data["entities"]["dev"] == {"seen": 0, "unseen": 0, "per_type": {}}
        assert data["advice"][0]["hashing"] is None


def test_progress_sees_each_split_once(corpus):
    seen = []

    def watch(docs, split):
        for doc in docs:
            seen.append((split, len(doc)))
            yield doc

    train, dev = corpus / "train.spacy", corpus / "dev.spacy"
    analyze(train, dev=dev, progress=watch)
    assert seen == [("train", 3), ("train", 0), ("train", 3), ("dev", 3)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"config": "a.cfg", "model": "b"}, "both came: 'a.cfg' and 'b'"),
        ({"overrides": {"training.seed": 1}}, r"'training\.seed' is a setting of a"),
        ({"bound": 0}, "'bound' should be above 0 and below 1, but is 0"),
        ({"bound": 1}, "'bound' should be above 0 and below 1, but is 1"),
    ],
)
def test_wrong_arguments_are_refused(corpus, settings, message):
    with pytest.raises(ValueError, match=message):
        analyze(corpus / "train.spacy", **settings)


def test_pipelines_without_tables_are_refused(corpus, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "model")
    message = r"'.*model' has no embedding .*components: sentencizer"
    with pytest.raises(ValueError, match=message):
        analyze(corpus / "train.spacy", model=tmp_path / "model")
