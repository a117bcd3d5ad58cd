"""Symbols counted while a pipeline is initialised: by the callback, and from Python."""

import pickle
import warnings
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
from spacy.util import registry
from spacy.vocab import Vocab

from spacy_hashembeds.callbacks import count_symbols, create_count_symbols
from spacy_hashembeds.layers.symboltaker import find_symbol_takers
from spacy_hashembeds.symbols import count_values, cut_symbols, save_symbols

CALLBACK = "spacy-hashembeds.count_symbols.v1"
TEXTS = ["a a b", "a c", "Zz"]
NORMS = {"a", "b", "c", "zz"}


class CountedCorpus:
    """A corpus that a config may name, and the texts that were read of it."""

    def __init__(self) -> None:
        self.texts: Iterable[str] = TEXTS
        self.read: list[str] = []

    def __call__(self, nlp: Language) -> Iterator[Example]:
        for text in self.texts:
            self.read.append(text)
            yield Example.from_dict(nlp.make_doc(text), {})


CORPUS = CountedCorpus()
registry.readers.register("test.counted.v1", func=lambda: CORPUS)


@pytest.fixture(autouse=True)
def nothing_read() -> None:
    CORPUS.read.clear()


def count_by_callback(nlp: Language, texts: Iterable[str] = TEXTS, **settings: Any):
    CORPUS.texts = texts
    nlp.config["corpora"] = {"train": {"@readers": "test.counted.v1"}}
    nlp.config["initialize"]["before_init"] = {"@callbacks": CALLBACK, **settings}


def count_from_python(nlp: Language, texts: Iterable[str] = TEXTS, **settings: Any):
    CORPUS.texts = texts
    count_symbols(nlp, CORPUS(nlp), **settings)


@pytest.fixture(params=[count_by_callback, count_from_python])
def count(request) -> Callable[..., None]:
    return request.param


def add_tok2vec(nlp: Language, name: str = "tok2vec", **arguments: Any) -> None:
    embed = {
        "@architectures": "spacy-hashembeds.MultiEmbed.v1",
        "width": 8,
        "attrs": ["NORM"],
        "include_static_vectors": False,
        **arguments,
    }
    encode = {
        "@architectures": "spacy.MaxoutWindowEncoder.v2",
        **{"width": 8, "depth": 1, "window_size": 1, "maxout_pieces": 2},
    }
    model = {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": encode}
    nlp.add_pipe("tok2vec", name=name, config={"model": model})


@pytest.fixture
def nlp() -> Language:
    nlp = spacy.blank("en")
    add_tok2vec(nlp)
    return nlp


@pytest.fixture
def tables(nlp, tmp_path) -> str:
    """A file of symbol tables, in which there is one norm."""
    counts = count_values([nlp.make_doc("q")], ["NORM"])
    save_symbols(tmp_path / "t.npz", cut_symbols(counts, min_freq=1, lang="en"))
    return str(tmp_path / "t.npz")


@pytest.fixture
def lookups() -> Lookups:
    lookups = Lookups()
    lookups.add_table("lexeme_norm", {"colour": "color"})
    return lookups


@pytest.fixture
def later_lookups(nlp, lookups) -> None:
    """Have `nlp.initialize` load the lookups of norms, after `before_init`."""
    registry.misc.register("test.lookups.v1", func=lambda: lookups)
    nlp.config["initialize"]["lookups"] = {"@misc": "test.lookups.v1"}


def make_examples(nlp: Language, texts: Iterable[str] = TEXTS) -> list[Example]:
    return [Example.from_dict(nlp.make_doc(text), {}) for text in texts]


def get_symbols(nlp: Language, name: str = "tok2vec") -> list[set[str]]:
    embeds = find_symbol_takers(nlp.get_pipe(name).model)
    return [{nlp.vocab.strings[int(s)] for s in e.attrs["symbols"]} for e in embeds]


def initialize(nlp: Language, examples: list[Example] | None = None) -> set[str]:
    found = examples or make_examples(nlp)
    nlp.initialize(lambda: found)
    (symbols,) = get_symbols(nlp)
    return symbols


# By the callback and from Python


@pytest.mark.parametrize(
    ("min_freq", "symbols"), [(1, NORMS), (2, {"a"}), (3, {"a"}), (4, set())]
)
def test_symbols_are_counted_when_the_pipeline_is_initialised(
    nlp, count, min_freq, symbols
):
    count(nlp, min_freq=min_freq)
    assert not CORPUS.read
    assert initialize(nlp) == symbols
    assert CORPUS.read == TEXTS
    assert nlp("a b").tensor.shape == (2, 8)


def test_ten_are_enough_where_nothing_is_said(nlp, count):
    count(nlp, ["a"] * 10 + ["b"] * 9)
    assert initialize(nlp) == {"a"}


def test_no_more_than_the_limit_is_read(nlp, count):
    count(nlp, repeat("a"), limit=12)
    assert initialize(nlp) == {"a"}
    assert len(CORPUS.read) == 12


def test_layers_of_several_components_share_one_pass(nlp, count):
    nlp.add_pipe("sentencizer", first=True)  # has no model
    add_tok2vec(nlp, "other", attrs=["SHAPE", "NORM"])
    count(nlp, min_freq=1)
    assert initialize(nlp) == NORMS
    assert get_symbols(nlp, "other") == [{"x", "Xx"}, NORMS]
    assert CORPUS.read == TEXTS


def test_layers_that_have_a_file_do_not_wait(nlp, count, tables):
    add_tok2vec(nlp, "other", tables=tables)
    count(nlp, min_freq=2)
    assert initialize(nlp) == {"a"}
    assert get_symbols(nlp, "other") == [{"q"}]


def test_what_components_annotate_counts(count):
    nlp = spacy.blank("en")
    nlp.add_pipe("attribute_ruler", name="r")
    patterns = [{"patterns": [[{"TEXT": "a"}]], "attrs": {"TAG": "X"}}]
    nlp.config["initialize"]["components"]["r"] = {"patterns": patterns}
    nlp.config["training"]["annotating_components"] = ["r"]
    add_tok2vec(nlp, attrs=["TAG"])
    count(nlp, min_freq=1)
    assert initialize(nlp) == {"X", ""}


@pytest.mark.usefixtures("later_lookups")
def test_norms_are_those_that_training_sees(nlp, count):
    """Docs that are made when they are read get the norms of the lookups."""
    count(nlp, ["a colour"], min_freq=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp.initialize(lambda: make_examples(nlp, ["a colour"]))
    assert get_symbols(nlp) == [{"a", "color"}]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"min_freq": 0}, r"'min_freq' should be 1 or more, but is 0"),
        ({"limit": -1}, r"'limit' should be 0 or more, but is -1"),
    ],
)
def test_bad_arguments_are_refused_at_once(nlp, arguments, error):
    with pytest.raises(ValueError, match=error):
        create_count_symbols(**arguments)
    with pytest.raises(ValueError, match=error):
        count_symbols(nlp, [], **arguments)


# By the callback


def test_frozen_components_keep_their_symbols(nlp):
    count_by_callback(nlp, min_freq=3)
    assert initialize(nlp) == {"a"}
    nlp.config["initialize"]["before_init"]["min_freq"] = 1
    with nlp.select_pipes(disable=["tok2vec"]):
        nlp.initialize()
    assert get_symbols(nlp) == [{"a"}]


@pytest.mark.parametrize("embed", ["spacy.MultiHashEmbed.v2", None])
def test_where_nothing_waits_nothing_is_read(embed, tables):
    """In a layer of a stranger, that has the same name, or with a file."""
    nlp = spacy.blank("en")
    if embed:
        nlp.add_pipe("tok2vec").model.get_ref("embed").name = "multi_embed"
    else:
        add_tok2vec(nlp, tables=tables)
    count_by_callback(nlp)
    nlp.initialize(lambda: make_examples(nlp))
    assert nlp("a b").tensor.any()
    assert not CORPUS.read


@pytest.mark.parametrize("name", ["train", "", "corpora", "corpora.other", "nlp.lang"])
def test_unknown_corpus(nlp, name):
    count_by_callback(nlp, corpus=name)
    with pytest.raises(ValueError, match=rf"'corpus'.*'{name}'\. There are: .*train"):
        initialize(nlp)


def test_corpora_made_by_one_function(nlp):
    registry.readers.register("test.corpora.v1", func=lambda: {"more": CORPUS})
    count_by_callback(nlp, corpus="corpora.more", min_freq=1)
    nlp.config["corpora"] = {"@readers": "test.corpora.v1"}
    assert initialize(nlp) == NORMS


def test_attributes_that_no_token_has_are_warned_of():
    nlp = spacy.blank("en")
    add_tok2vec(nlp, attrs=["POS"])
    count_by_callback(nlp)
    with pytest.warns(UserWarning, match=r"No token .* has a value for POS"):
        initialize(nlp)


@pytest.mark.parametrize(("limit", "is_warned"), [(0, True), (3, False)])
def test_streaming_without_a_limit_is_warned_of(nlp, caplog, limit, is_warned):
    nlp.config["training"]["max_epochs"] = -1
    count_by_callback(nlp, limit=limit)
    with caplog.at_level("WARNING", logger="spacy"):
        initialize(nlp)
    assert ("set 'limit'" in caplog.text) is is_warned


def get_source(model: Any) -> Any:
    (source,) = (
        node.attrs["symbol_source"]
        for node in model.walk()
        if "symbol_source" in node.attrs
    )
    return source.get


def test_a_layer_that_waits_can_be_pickled_but_waits_in_vain(nlp):
    """`spacy pretrain` disables all, and then initialises one of them."""
    count_by_callback(nlp, min_freq=2)
    with nlp.select_pipes(enable=[]):
        nlp.initialize()
    model = nlp.get_pipe("tok2vec").model
    assert get_source(deepcopy(model)) is get_source(model) is not None
    assert get_source(pickle.loads(pickle.dumps(model))) is None
    assert not CORPUS.read
    model.initialize(X=[nlp.make_doc("a b")])
    assert get_symbols(nlp) == [{"a"}]
    assert get_source(model) is None, "it should let go of the corpus"


def test_symbols_are_counted_for_wrapped_layers(nlp):
    """spaCy's callback wraps all functions of all layers, and their init."""
    plain = deepcopy(nlp)
    registry.callbacks.get("spacy.models_with_nvtx_range.v1")()(nlp)
    for each in (nlp, plain):
        count_by_callback(each, min_freq=1)
        assert initialize(each) == NORMS
    plain.from_bytes(nlp.to_bytes())
    docs = [nlp.make_doc(text) for text in TEXTS]
    models = [each.get_pipe("tok2vec").model for each in (nlp, plain)]
    for Y, expected in zip(*(model.predict(docs) for model in models), strict=True):
        assert abs(Y - expected).max() < 1e-5
    Y, backprop = models[0].begin_update(docs)
    assert backprop(Y) == []


# From Python


@pytest.mark.parametrize(
    "make",
    [
        make_examples,
        lambda nlp: [nlp.make_doc(text) for text in TEXTS],
        lambda nlp: iter(make_examples(nlp)),
    ],
)
def test_examples_docs_and_generators_are_counted_and_let_go(nlp, make):
    count_symbols(nlp, make(nlp), min_freq=2)
    assert initialize(nlp) == {"a"}
    pickle.dumps(nlp.get_pipe("tok2vec").model)  # without the examples


def test_the_predicted_side_is_counted_which_is_what_the_layer_is_given(nlp):
    gold = Doc(nlp.vocab, words=["ab", "c"], spaces=[True, False])
    predicted = Doc(nlp.vocab, words=["a", "b", "c"], spaces=[False, True, False])
    examples = [Example(predicted, gold)]
    count_symbols(nlp, examples, min_freq=1)
    assert initialize(nlp, examples) == {"a", "b", "c"}


def test_the_last_call_counts_and_goes_before_the_callback(nlp):
    count_by_callback(nlp, min_freq=1)
    count_symbols(nlp, make_examples(nlp, ["x"]), min_freq=1)
    count_symbols(nlp, make_examples(nlp), min_freq=2)
    assert initialize(nlp) == {"a"}


@pytest.mark.usefixtures("later_lookups")
def test_docs_that_are_older_than_the_lookups_are_warned_of(nlp):
    """spaCy keeps their norms: they are what training sees, but no longer then."""
    examples = make_examples(nlp, ["a colour"])
    count_symbols(nlp, examples, min_freq=1)
    match = r"1 words, such as 'colour', were met before .* Set `nlp\.vocab\.lookups`"
    with pytest.warns(UserWarning, match=match):
        assert initialize(nlp, examples) == {"a", "colour"}
    assert [token.norm_ for token in examples[0].x] == ["a", "colour"]
    again = spacy.blank("en")
    add_tok2vec(again)
    again.from_bytes(nlp.to_bytes())
    assert [token.norm_ for token in again.make_doc("a colour")] == ["a", "color"]


def test_lookups_that_come_first_are_no_reason_to_warn(nlp, lookups):
    nlp.vocab.lookups = lookups
    examples = make_examples(nlp, ["a colour"])
    count_symbols(nlp, examples, min_freq=1)
    assert initialize(nlp, examples) == {"a", "color"}


def test_pipelines_where_nothing_waits_are_refused(nlp):
    match = r"'nlp' should have an embedder that waits .* none \(components: "
    with pytest.raises(ValueError, match=rf"{match}none\)"):
        count_symbols(spacy.blank("en"), [])
    tagger = spacy.blank("en")
    tagger.add_pipe("tagger")
    add_tok2vec(tagger, tables="some.npz")
    with pytest.raises(ValueError, match=rf"{match}tagger, tok2vec\)"):
        count_symbols(tagger, [])
    count_symbols(nlp, make_examples(nlp), min_freq=2)
    initialize(nlp)
    with nlp.select_pipes(disable="tok2vec"), pytest.raises(ValueError, match=match):
        count_symbols(nlp, make_examples(nlp))


@pytest.mark.parametrize("texts", [[], [""]])
def test_data_without_a_token_are_refused(nlp, texts):
    count_from_python(nlp, texts)
    with pytest.raises(ValueError, match=r"not a token in 'examples'.*A.*give a list"):
        initialize(nlp)
    again = spacy.blank("en")
    add_tok2vec(again)
    count_by_callback(again, texts)
    with pytest.raises(ValueError, match=r"not a token in the corpus 'corpora\.train'"):
        initialize(again)


def test_what_is_no_doc_is_refused(nlp):
    match = r"'examples' should hold Examples or Docs, but holds a str\. .*make_doc"
    with pytest.raises(TypeError, match=match):
        count_symbols(nlp, [nlp.make_doc("a"), "a text"])
    count_symbols(nlp, iter(["a text"]))  # not read before it is needed
    with pytest.raises(TypeError, match=match):
        initialize(nlp)


@pytest.mark.parametrize("vocab", [Vocab(), spacy.blank("de").vocab])
def test_docs_of_another_language_are_refused(nlp, vocab):
    count_symbols(nlp, [Doc(vocab, words=["a"])])
    with pytest.raises(ValueError, match=rf"pipeline's language,.*of '{vocab.lang}'"):
        initialize(nlp)
