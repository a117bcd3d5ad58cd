"""Analysis of corpora and pipelines, in files and in memory."""

import json
from copy import deepcopy

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.util import load_config, load_model_from_config

from spacy_hashembeds.tools.analyze.analyze import analyze
from tests.configs import CONFIGS

CONFIG = CONFIGS / "multi_fewer_hash_embed.cfg"
BLANK = spacy.blank("en")


def make_doc(*words: str, **settings) -> Doc:
    return Doc(BLANK.vocab, words=words, **settings)


@pytest.fixture(scope="module")
def files(tiny_corpus) -> dict[str, str]:
    return {name: str(tiny_corpus / f"{name}.spacy") for name in ("train", "dev")}


@pytest.fixture(scope="module")
def docs(files) -> dict[str, list[Doc]]:
    return {
        name: list(DocBin().from_disk(path).get_docs(BLANK.vocab))
        for name, path in files.items()
    }


def make_examples(docs: list[Doc]) -> list[Example]:
    """Return Examples without annotation on the predicted side."""
    return [Example(make_doc(*(token.text for token in doc)), doc) for doc in docs]


@pytest.mark.parametrize("form", [list, iter, make_examples])
def test_docs_and_files_have_equal_analyses(files, docs, form):
    expected = analyze(**files, overrides={"nlp.lang": "en"})
    analysis = analyze(form(docs["train"]), dev=form(docs["dev"]))
    assert analysis == expected
    assert expected["splits"]["train"]["entities"] > 0
    assert json.loads(json.dumps(analysis, allow_nan=False)) == analysis


def test_each_split_is_read_once():
    train, dev = [make_doc("New", "York", "calls"), make_doc()], [make_doc("Bo")]
    read = []

    def record(docs, split):
        for doc in docs:
            read.append((split, len(doc)))
            yield doc

    splits = analyze(iter(train), dev=iter(dev), progress=record)["splits"]
    assert read == [("train", 3), ("train", 0), ("dev", 1)]
    assert [of["documents"] for of in splits.values()] == [2, 1]


def test_default_attributes_are_used_without_a_pipeline():
    doc = make_doc(*(f"w{i}x{i % 7}" for i in range(400)))
    found = [analyze([doc], bound=bound) for bound in (0.1, 0.01)]
    assert found[0]["embedders"] == []
    (advice,) = found[0]["advice"]
    assert (advice["component"], advice["attrs"]) == (None, ["NORM", "SUFFIX", "SHAPE"])
    assert "Leave out PREFIX" in str(found[0])
    rows = [each["advice"][0]["hashing"]["rows"] for each in found]
    assert rows[0][0] < rows[1][0]


@pytest.mark.parametrize("config", [None, CONFIG, CONFIGS / "multi_embed.cfg"])
def test_empty_corpora_are_analysed_and_displayed(config):
    analysis = analyze([], dev=[], config=config)
    assert analysis["splits"]["train"]["documents"] == 0
    assert analysis["features"]["NORM"]["values"] == 0
    assert "The training corpus has no tokens" in str(analysis)


@pytest.mark.usefixtures("contractions")
def test_features_are_counted_in_tokens_of_the_pipeline():
    gold = make_doc("do", "n't!", spaces=[False, False])
    gold.ents = [Span(gold, 1, 2, "X")]
    data = analyze([gold])
    # statistics use the gold tokens; the pipeline's are do, n't, !
    assert data["splits"]["train"]["tokens"] == 2
    assert data["features"]["NORM"]["values"] == 3


def test_configs_and_pipelines_in_memory(files, docs):
    by_path = analyze(files["train"], config=CONFIG)
    config = load_config(CONFIG)
    before = deepcopy(config)
    assert analyze(docs["train"], config=config) == by_path
    nlp = load_model_from_config(config, auto_fill=True)
    assert analyze(docs["train"], model=nlp) == by_path
    assert config == before
    nlp.vocab.set_vector("the", np.ones(2, dtype="float32"))
    counts = analyze(docs["train"], model=nlp)["splits"]["train"]
    assert counts["unknown"] == counts["vocabulary"] - 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dev": ["a text"]}, "'dev' should hold Examples or Docs, but holds a str"),
        ({"config": {}}, "'config' should be a spaCy config, but no pipeline can"),
        ({"model": BLANK}, r"\(components: none\) has no embedding"),
        ({"config": "a.cfg", "model": BLANK}, "'model'.*'config'"),
        ({"overrides": {"nlp.lang": "nl"}, "model": BLANK}, "'model'.*'overrides'"),
        ({"bound": 0}, "'bound' should be above 0 and below 1, but is 0"),
        ({"bound": 1}, "'bound' should be above 0 and below 1, but is 1"),
        ({"bound": "0.1"}, "'bound' should be"),
        ({"train": None}, "'train' should be"),
        ({"model": 3}, "'model' should be"),
    ],
)
def test_errors_name_the_argument(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        analyze(**{"train": [], **arguments})
