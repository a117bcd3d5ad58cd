"""Whole pipelines with token_ner: trained from its config, shared, accelerated."""

import json
from pathlib import Path

import pytest
import spacy
from spacy.cli.train import train
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_hashembeds import evaluate
from spacy_hashembeds.acceleration.in_memory import accelerate
from spacy_hashembeds.tools.evaluate.tasks import NER, find_task
from tests.configs import CONFIGS

from ..acceleration.accelerate_pipelines import tok2vec
from ..training_runs import SMALL
from .toy_recognizers import CLASSIFIER, copy_words, get_entities
from .toy_recognizers import train as train_toy

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
    scores = nlp.evaluate(
        [Example(nlp.make_doc(doc.text), doc) for doc in read_docs(test, nlp)]
    )
    assert scores["ents_f"] == pytest.approx(evaluation["ents_f"])
    assert json.loads((trained / "meta.json").read_text())["performance"]["ents_f"] > 0


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


def test_a_pipeline_of_spacys_layers_is_accelerated():
    """What it finds, and how sure it is, stays but for rounding: this compares both."""
    nlp = spacy.blank("en")
    model = {"@architectures": CLASSIFIER, "tok2vec": tok2vec()}
    nlp.add_pipe("token_ner", config={"model": model, "spans_key": "found"})
    train_toy(nlp)
    done = accelerate(nlp, ["Anna lives in Paris today", "Rome"], rounds=1)
    assert "components.token_ner.model.tok2vec.encode" in done.converted
    assert len(done.nlp("Anna lives in Paris today").spans["found"]) == 2
