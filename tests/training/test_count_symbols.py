"""Counting symbols at initialization: by the callback, and from Python."""

import pickle
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from itertools import repeat
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.lookups import Lookups
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_model_from_config, registry

from spacy_hashembeds.layers.vocabulary import find_vocabulary_layers
from spacy_hashembeds.training.counting import count_symbols

TEXTS = ["a a b", "a c", "Zz"]
NORMS = {"a", "b", "c", "zz"}


#: The texts of a registered corpus, and those already read.
CORPUS: dict[str, Any] = {"texts": TEXTS, "read": []}


def read_corpus(nlp: Language) -> Iterator[Example]:
    for text in CORPUS["texts"]:
        CORPUS["read"].append(text)
        yield Example.from_dict(nlp.make_doc(text), {})


registry.readers.register("test.counted.v1", func=lambda: read_corpus)


@pytest.fixture(autouse=True)
def nothing_read() -> None:
    CORPUS["read"].clear()


def count_by_callback(nlp: Language, texts: Iterable[str] = TEXTS, **settings: Any):
    CORPUS["texts"] = texts
    nlp.config["corpora"] = {"train": {"@readers": "test.counted.v1"}}
    block = {"@callbacks": "spacy-hashembeds.count_symbols.v1", **settings}
    nlp.config["initialize"]["before_init"] = block


def count_from_python(nlp: Language, texts: Iterable[str] = TEXTS, **settings: Any):
    CORPUS["texts"] = texts
    count_symbols(nlp, read_corpus(nlp), **settings)


@pytest.fixture(params=[count_by_callback, count_from_python])
def count(request) -> Callable[..., None]:
    return request.param


def add_tok2vec(nlp: Language, name: str = "tok2vec", **arguments: Any) -> None:
    model = {
        "@architectures": "spacy-hashembeds.MultiEmbed.v1",
        **{"width": 8, "attrs": ["NORM"], "include_static_vectors": False},
        **arguments,
    }
    nlp.add_pipe("tok2vec", name=name, config={"model": model})


@pytest.fixture
def nlp() -> Language:
    nlp = spacy.blank("en")
    add_tok2vec(nlp)
    return nlp


def make_examples(nlp: Language, texts: Iterable[str] = TEXTS) -> list[Example]:
    return [Example.from_dict(nlp.make_doc(text), {}) for text in texts]


def get_symbols(nlp: Language, name: str = "tok2vec") -> list[set[str]]:
    embeds = find_vocabulary_layers(nlp.get_pipe(name).model)
    return [{nlp.vocab.strings[int(s)] for s in e.attrs["symbols"]} for e in embeds]


def initialize(nlp: Language, examples: list[Example] | None = None) -> set[str]:
    nlp.initialize(lambda: examples or make_examples(nlp))
    (symbols,) = get_symbols(nlp)
    return symbols


# By the callback and from Python


@pytest.mark.parametrize(("min_freq", "symbols"), [(1, NORMS), (3, {"a"}), (4, set())])
def test_symbols_are_counted_at_initialization(nlp, count, min_freq, symbols):
    count(nlp, min_freq=min_freq)
    assert not CORPUS["read"]
    assert initialize(nlp) == symbols
    assert CORPUS["read"] == TEXTS


def test_at_most_limit_docs_are_read(nlp, count):
    count(nlp, repeat("a"), limit=12)
    assert initialize(nlp) == {"a"}
    assert len(CORPUS["read"]) == 12


def test_layers_of_several_components_share_one_pass(nlp, count):
    nlp.add_pipe("sentencizer", first=True)  # without a model
    add_tok2vec(nlp, "other", attrs=["SHAPE", "NORM"])
    add_tok2vec(nlp, "third", attrs=["SHAPE"])
    count(nlp, min_freq=1)
    assert initialize(nlp) == NORMS
    assert get_symbols(nlp, "other") == [{"x", "Xx"}, NORMS]
    assert get_symbols(nlp, "third") == [{"x", "Xx"}]
    assert CORPUS["read"] == TEXTS


def test_annotation_by_components_is_counted(count):
    nlp = spacy.blank("en")
    nlp.add_pipe("attribute_ruler", name="r")
    patterns = [{"patterns": [[{"TEXT": "a"}]], "attrs": {"TAG": "X"}}]
    nlp.config["initialize"]["components"]["r"] = {"patterns": patterns}
    nlp.config["training"]["annotating_components"] = ["r"]
    add_tok2vec(nlp, attrs=["TAG"])
    count(nlp, min_freq=1)
    assert initialize(nlp) == {"X", ""}


def test_norms_equal_those_in_training(nlp, count):
    """Norms come from lookups, which are loaded after `before_init`."""
    lookups = Lookups()
    lookups.add_table("lexeme_norm", {"colour": "color"})
    registry.misc.register("test.lookups.v1", func=lambda: lookups)
    nlp.config["initialize"]["lookups"] = {"@misc": "test.lookups.v1"}
    count(nlp, ["a colour"], min_freq=1)
    nlp.initialize(lambda: make_examples(nlp, ["a colour"]))
    assert get_symbols(nlp) == [{"a", "color"}]


# By the callback


def test_frozen_components_keep_their_symbols(nlp):
    count_by_callback(nlp, min_freq=3)
    assert initialize(nlp) == {"a"}
    nlp.config["initialize"]["before_init"]["min_freq"] = 1
    with nlp.select_pipes(disable=["tok2vec"]):
        nlp.initialize()
    assert get_symbols(nlp) == [{"a"}]


def test_trained_pipelines_are_refused(nlp):
    count_by_callback(nlp, min_freq=1)
    initialize(nlp)
    with pytest.raises(ValueError, match=r"'corpora\.train'"):
        initialize(nlp)
    new = load_model_from_config(nlp.config, auto_fill=True)
    count_symbols(new, make_examples(new, ["other examples"]), min_freq=1)
    assert initialize(new) == {"other", "examples"}


@pytest.mark.parametrize("corpus", ["train", "corpora.other", "nlp.lang"])
def test_unknown_and_empty_corpora_are_refused(nlp, corpus):
    for settings, match in (({"corpus": corpus}, "'corpus'"), ({}, "'corpora.train'")):
        count_by_callback(nlp, [], **settings)
        with pytest.raises(ValueError, match=match):
            initialize(nlp)


def test_warning_of_attributes_without_values():
    nlp = spacy.blank("en")
    add_tok2vec(nlp, attrs=["POS"])
    count_by_callback(nlp)
    with pytest.warns(UserWarning, match="POS"):
        initialize(nlp)


@pytest.mark.parametrize(
    ("max_epochs", "limit", "is_warned"), [(-1, 0, True), (-1, 3, False), (0, 0, False)]
)
def test_warning_of_streaming_without_a_limit(
    nlp, caplog, max_epochs, limit, is_warned
):
    nlp.config["training"]["max_epochs"] = max_epochs
    count_by_callback(nlp, limit=limit)
    initialize(nlp)
    assert ("'limit'" in caplog.text) is is_warned


def get_source(model: Any) -> Any:
    (source,) = filter(None, (node.attrs.get("symbol_source") for node in model.walk()))
    return source.get


def test_pickled_layers_lose_the_source(nlp):
    """`spacy pretrain` disables all components, and then initializes one."""
    count_by_callback(nlp, min_freq=2)
    with nlp.select_pipes(enable=[]):
        nlp.initialize()
    model = nlp.get_pipe("tok2vec").model
    assert get_source(deepcopy(model)) is get_source(model) is not None
    assert get_source(pickle.loads(pickle.dumps(model))) is None
    model.initialize(X=[nlp.make_doc("a b")])
    assert get_symbols(nlp) == [{"a"}]
    assert get_source(model) is None, "should free the corpus"


# From Python


def test_docs_and_predicted_sides_of_examples_are_counted(nlp):
    example = Example(nlp.make_doc("a b c"), Doc(nlp.vocab, words=["ab", "c"]))
    count_symbols(nlp, [nlp.make_doc("d"), example], min_freq=1)
    assert initialize(nlp) == {*"abcd"}


def test_the_last_call_takes_precedence(nlp):
    count_by_callback(nlp, min_freq=1)
    count_symbols(nlp, make_examples(nlp, ["x"]), min_freq=1)
    count_symbols(nlp, make_examples(nlp), min_freq=2)
    assert initialize(nlp) == {"a"}


def test_pipelines_whose_layers_need_no_symbols_are_refused(nlp):
    other = spacy.blank("en")
    add_tok2vec(other, tables="some.npz")
    count_symbols(nlp, make_examples(nlp), min_freq=2)
    initialize(nlp)
    frozen = pickle.loads(pickle.dumps(nlp))
    frozen.disable_pipe("tok2vec")
    for each in (spacy.blank("en"), other, nlp, frozen):
        with pytest.raises(ValueError, match="'nlp'"):
            count_symbols(each, [])


@pytest.mark.parametrize(
    ("items", "error", "match"),
    [
        (["a text"], TypeError, "'examples'"),
        ([], ValueError, "'examples'"),
        ([Doc(spacy.blank("en").vocab)], ValueError, "'examples'"),
    ],
)
def test_invalid_examples_are_refused(nlp, items, error, match):
    count_symbols(nlp, items)
    with pytest.raises(error, match=match):
        initialize(nlp)
