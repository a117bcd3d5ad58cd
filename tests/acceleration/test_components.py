"""Components of spaCy's that ours replace, and which stay."""

from typing import Any

import pytest
import spacy
from spacy.lang.en.lemmatizer import EnglishLemmatizer
from spacy.language import Language
from spacy.lookups import Lookups
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc
from thinc.api import Config, Linear

from spacy_hashembeds.acceleration import conversion
from spacy_hashembeds.acceleration.accelerate import accelerate_folder
from spacy_hashembeds.acceleration.components import (
    REPLACED,
    find_replacements,
    is_tokenizer_replaceable,
)
from spacy_hashembeds.acceleration.conversion import find_batch_size
from spacy_hashembeds.acceleration.in_memory import accelerate
from spacy_hashembeds.components.tokenizer import QuickTokenizer


@pytest.fixture
def nlp() -> Language:
    """A pipeline whose components have something to do."""
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("attribute_ruler", name="ruler")
    ruler.add([[{"LOWER": "mice"}]], {"POS": "NOUN"})
    lookups = Lookups()
    for name in ("lemma_rules", "lemma_index"):
        lookups.add_table(name, {})
    lookups.add_table("lemma_exc", {"noun": {"mice": ["mouse"]}})
    nlp.add_pipe("lemmatizer").initialize(lookups=lookups)
    nlp.tokenizer.add_special_case("micemice", [{"ORTH": "mice"}, {"ORTH": "mice"}])
    nlp.tokenizer.max_cache_size = 7
    return nlp


@pytest.mark.parametrize("factory", REPLACED)
def test_spacys_own_are_replaced_by_their_names_and_strangers_stay(factory):
    nlp = spacy.blank("en")
    pipe: Any = nlp.add_pipe(factory, name="mine")
    if factory == "attribute_ruler":
        pipe.add([[{"LOWER": "mice"}]], {"POS": "NOUN"})
    elif "ruler" in factory:
        pipe.add_patterns([{"label": "X", "pattern": [{"LOWER": "mice"}]}])
    assert find_replacements(nlp, nlp.config) == ({"mine": f"cached_{factory}"}, {})
    of_another = {"components": {"mine": {"source": "another"}}}
    assert find_replacements(nlp, Config(of_another)) == ({}, {})
    pipe.__class__ = type("Other", (type(pipe),), {})
    found, left = find_replacements(nlp, nlp.config)
    assert (found, [*left]) == ({}, ["components.mine"])


def test_a_ruler_that_can_not_be_looked_up_stays():
    nlp = spacy.blank("en")
    nlp.add_pipe("attribute_ruler", name="empty")  # which has nothing to do
    ruler: Any = nlp.add_pipe("attribute_ruler", name="ruler")
    ruler.add([[{"LOWER": "a", "OP": "*"}]], {"POS": "NOUN"})
    assert find_replacements(nlp, nlp.config)[0] == {}
    assert [*find_replacements(nlp, nlp.config)[1]] == ["components.ruler"]


def test_a_pipeline_without_layers_is_accelerated_by_its_components(nlp, tmp_path):
    texts = ["mice mice", "mice", "micemice", ""]
    done = accelerate(nlp, texts)
    components = ["components.ruler", "components.lemmatizer"]
    of_nlp = ["nlp.tokenizer", "nlp.after_pipeline_creation"]
    assert done.converted == [*components, *of_nlp]
    nlp.to_disk(tmp_path / "before")
    folder = accelerate_folder(tmp_path / "before", tmp_path / "after", texts)
    assert folder.converted == done.converted
    for new in (done.nlp, spacy.load(tmp_path / "after")):
        assert new.config["components"]["ruler"]["factory"] == "cached_attribute_ruler"
        assert type(new.tokenizer) is QuickTokenizer
        for name, pipe in nlp.components:
            assert isinstance(new.get_pipe(name), type(pipe))
            assert new.get_pipe(name).to_bytes() == pipe.to_bytes()
        for doc, new_doc in zip(nlp.pipe(texts), new.pipe(texts), strict=True):
            assert new_doc.to_json() == doc.to_json()
        assert [token.text for token in new("micemice")] == ["mice", "mice"]
    assert done.nlp.tokenizer.max_cache_size == 7
    assert type(nlp.tokenizer) is Tokenizer
    again = accelerate(done.nlp, texts)
    assert (again.converted, again.texts) == ([], 0)
    assert again.nlp is not done.nlp
    assert again.nlp.to_bytes() == done.nlp.to_bytes()


def test_another_tokenizer_stays(nlp):
    config = nlp.config.copy()
    config["nlp"]["tokenizer"] = {"@tokenizers": "spacy.zh.ChineseTokenizer"}
    assert not is_tokenizer_replaceable(nlp, config)
    nlp.tokenizer = lambda text: Doc(nlp.vocab, words=text.split())
    done = accelerate(nlp, ["mice mice"])
    assert "nlp.tokenizer" not in done.converted
    assert done.nlp.tokenizer is nlp.tokenizer


def test_one_edit_takes_them_out(nlp):
    new = accelerate(nlp, ["mice"]).nlp
    config = new.config.copy()
    config["nlp"]["tokenizer"]["@tokenizers"] = "spacy.Tokenizer.v1"
    for name, factory in (("ruler", "attribute_ruler"), ("lemmatizer", "lemmatizer")):
        config["components"][name]["factory"] = factory
    stock = type(new).from_config(config, vocab=new.vocab)
    for name, pipe in new.components:
        stock.get_pipe(name).from_bytes(pipe.to_bytes())
    assert type(stock.get_pipe("lemmatizer")) is EnglishLemmatizer
    assert type(stock.tokenizer) is Tokenizer
    assert [token.lemma_ for token in stock("mice")] == ["mouse"]


@pytest.mark.parametrize(
    ("n_classes", "batch_size", "expected"),
    [(20, 128, None), (3000, 128, 87), (3000, 87, None), (3000, 16, None)],
)
def test_batches_should_be_smaller_where_there_are_many_classes(
    n_classes, batch_size, expected
):
    nlp = spacy.blank("en")
    nlp.batch_size = batch_size
    tagger: Any = nlp.add_pipe("tagger")
    tagger.model = Linear(n_classes, 2).initialize()
    assert find_batch_size(nlp) == expected


def test_smaller_batches_are_saved(saved, monkeypatch):
    monkeypatch.setattr(conversion, "MOST_BYTES", 1)
    nlp = spacy.load(saved("bare"))
    done = accelerate(nlp, ["a few words"])
    assert "nlp.batch_size" in done.converted
    assert (done.nlp.batch_size, done.nlp.config["nlp"]["batch_size"]) == (1, 1)
    assert nlp.batch_size > 1
