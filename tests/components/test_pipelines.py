"""Whole pipelines with token_ner: trained from its config, shared, accelerated."""

import json
from pathlib import Path

import pytest
import spacy
from spacy.cli.train import train
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from spacy_hashembeds import evaluate
from spacy_hashembeds.tools.evaluate.sources import NER, find_task
from tests.configs import CONFIGS

from ..training_runs import SMALL
from .toy_recognizers import copy_words, get_entities

CONFIG = CONFIGS / "token_ner.cfg"


def get_overrides(corpus: Path) -> dict[str, object]:
    paths = {f"paths.{split}": f"{corpus}/{split}.spacy" for split in ("train", "dev")}
    return {**SMALL, **paths}


@pytest.fixture(scope="module")
def trained(tiny_corpus, tmp_path_factory) -> Path:
    """A trained pipeline's folder."""
    output = tmp_path_factory.mktemp("token_ner")
    train(CONFIG, output, overrides=get_overrides(tiny_corpus))
    return output / "model-last"


def read_docs(path: Path, nlp: Language) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(nlp.vocab))


def test_the_config_trains_what_finds_entities(trained, tiny_corpus):
    nlp = spacy.load(trained)
    assert nlp.pipe_names == ["tok2vec", "token_ner"]
    assert nlp.get_pipe("tok2vec").listening_components == ["token_ner"]
    assert find_task(nlp) == NER
    test, training = (tiny_corpus / f"{split}.spacy" for split in ("test", "train"))
    evaluation = evaluate(nlp, test, train=training, samples=10)
    assert evaluation["ents_f"] > 0.3
    meta = json.loads((trained / "meta.json").read_text())
    assert meta["performance"]["ents_f"] > 0


def test_replaced_listeners(trained, tiny_corpus):
    nlp = spacy.load(trained)
    docs = read_docs(tiny_corpus / "test.spacy", nlp)
    entities = get_entities(nlp.pipe(map(copy_words, docs)))
    assert any(entities)
    nlp.replace_listeners("tok2vec", "token_ner", ["model.tok2vec"])
    for copied in (
        nlp,
        spacy.util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes()),
    ):
        copied.remove_pipe("tok2vec")
        docs = read_docs(tiny_corpus / "test.spacy", copied)
        assert get_entities(copied.pipe(map(copy_words, docs))) == entities
