"""Counting symbols for training without a config."""

import pickle
import warnings
from collections.abc import Callable, Iterator

import pytest
import spacy
from spacy.language import Language
from spacy.lookups import Lookups
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry
from spacy.vocab import Vocab

from spacy_hashembeds.callbacks import count_symbols
from spacy_hashembeds.layers.symboltaker import find_symbol_takers
from spacy_hashembeds.symbols import count_values, cut_symbols, save_symbols

TEXTS = ["a a b", "a c", "Zz"]


def add_tok2vec(nlp: Language, name: str = "tok2vec", **arguments) -> None:
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


def make_examples(nlp: Language, texts=TEXTS) -> list[Example]:
    return [Example.from_dict(nlp.make_doc(text), {}) for text in texts]


def get_symbols(nlp: Language, name: str = "tok2vec") -> list[set[str]]:
    embeds = find_symbol_takers(nlp.get_pipe(name).model)
    return [{nlp.vocab.strings[int(s)] for s in e.attrs["symbols"]} for e in embeds]


def initialize(nlp: Language, examples: list[Example] | None = None) -> set[str]:
    found = examples or make_examples(nlp)
    nlp.initialize(lambda: found)
    (symbols,) = get_symbols(nlp)
    return symbols


def make_docs(nlp: Language) -> list:
    return [nlp.make_doc(text) for text in TEXTS]


def make_generator(nlp: Language) -> Iterator:
    return iter(make_examples(nlp))


@pytest.mark.parametrize("make", [make_examples, make_docs, make_generator])
def test_symbols_are_counted_when_the_pipeline_is_initialised(nlp, make: Callable):
    count_symbols(nlp, make(nlp), min_freq=2)
    assert initialize(nlp) == {"a"}
    assert nlp("a b").tensor.shape == (2, 8)
    pickle.dumps(nlp.get_pipe("tok2vec").model)  # without the examples


def test_what_components_annotate_counts_and_the_docs_stay():
    nlp = spacy.blank("en")
    nlp.add_pipe("attribute_ruler", name="r")
    patterns = [{"patterns": [[{"TEXT": "a"}]], "attrs": {"TAG": "X"}}]
    nlp.config["initialize"]["components"]["r"] = {"patterns": patterns}
    add_tok2vec(nlp, attrs=["TAG"])
    nlp.config["training"]["annotating_components"] = ["r"]
    examples = make_examples(nlp)
    count_symbols(nlp, examples, min_freq=1)
    assert initialize(nlp) == {"X", ""}
    assert not any(example.predicted.has_annotation("TAG") for example in examples)


def test_the_defaults_are_those_of_the_callback(nlp):
    count_symbols(nlp, make_examples(nlp, ["a"] * 10 + ["b"] * 9))
    assert initialize(nlp) == {"a"}


def test_nothing_is_read_before_and_no_more_than_the_limit(nlp):
    read = []

    def read_on() -> Iterator[Example]:
        while True:
            read.append("a")
            yield from make_examples(nlp, ["a"])

    count_symbols(nlp, read_on(), min_freq=1, limit=7)
    assert read == []
    assert initialize(nlp) == {"a"}
    assert len(read) == 7


def test_the_predicted_side_is_counted_which_is_what_the_layer_is_given(nlp):
    gold = Doc(nlp.vocab, words=["ab", "c"], spaces=[True, False])
    predicted = Doc(nlp.vocab, words=["a", "b", "c"], spaces=[False, True, False])
    examples = [Example(predicted, gold)]
    count_symbols(nlp, examples, min_freq=1)
    assert initialize(nlp, examples) == {"a", "b", "c"}


def test_the_last_call_counts(nlp):
    count_symbols(nlp, make_examples(nlp, ["x"]), min_freq=1)
    count_symbols(nlp, make_examples(nlp), min_freq=2)
    assert initialize(nlp) == {"a"}


def test_it_goes_before_the_callback_of_the_config(nlp):
    name = "spacy-hashembeds.count_symbols.v1"
    nlp.config["initialize"]["before_init"] = {"@callbacks": name, "min_freq": 1}
    count_symbols(nlp, make_examples(nlp), min_freq=2)
    assert initialize(nlp) == {"a"}


def test_layers_of_several_components_share_one_pass(nlp):
    add_tok2vec(nlp, "other", attrs=["SHAPE", "NORM"])
    count_symbols(nlp, iter(make_examples(nlp)), min_freq=1)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    norms = {"a", "b", "c", "zz"}
    assert get_symbols(nlp) == [norms]
    assert get_symbols(nlp, "other") == [{"x", "Xx"}, norms]


def test_only_layers_that_wait_are_given_symbols(nlp, tmp_path):
    docs = [nlp.make_doc("q")]
    tables = cut_symbols(count_values(docs, ["NORM"]), min_freq=1, lang="en")
    save_symbols(tmp_path / "t.npz", tables)
    add_tok2vec(nlp, "other", tables=str(tmp_path / "t.npz"))
    count_symbols(nlp, make_examples(nlp), min_freq=2)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    assert (get_symbols(nlp), get_symbols(nlp, "other")) == ([{"a"}], [{"q"}])


def test_components_without_a_model_wait_for_nothing(nlp):
    nlp.add_pipe("sentencizer", first=True)
    count_symbols(nlp, make_examples(nlp), min_freq=2)
    assert initialize(nlp) == {"a"}


def test_components_that_are_disabled_and_trained_wait_for_nothing(nlp):
    count_symbols(nlp, make_examples(nlp), min_freq=2)
    initialize(nlp)
    with (
        nlp.select_pipes(disable="tok2vec"),
        pytest.raises(ValueError, match="'nlp' should have an embedder that waits"),
    ):
        count_symbols(nlp, make_examples(nlp))


# Norms


def set_lookups(nlp: Language) -> None:
    """Have `nlp.initialize` load the lookups of norms."""
    lookups = Lookups()
    lookups.add_table("lexeme_norm", {"colour": "color"})
    registry.misc.register("test.lookups.v1", func=lambda: lookups)
    nlp.config["initialize"]["lookups"] = {"@misc": "test.lookups.v1"}


def test_norms_are_those_that_training_sees(nlp):
    """Docs that are made when they are read get the norms of the lookups."""
    set_lookups(nlp)
    examples = (Example.from_dict(nlp.make_doc("a colour"), {}) for _ in range(1))
    count_symbols(nlp, examples, min_freq=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp.initialize(lambda: make_examples(nlp, ["a colour"]))
    assert get_symbols(nlp) == [{"a", "color"}]


def test_docs_that_are_older_than_the_lookups_are_warned_of(nlp):
    """spaCy keeps their norms: they are what training sees, but no longer then."""
    set_lookups(nlp)
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


def test_lookups_that_come_first_are_no_reason_to_warn(nlp):
    lookups = Lookups()
    lookups.add_table("lexeme_norm", {"colour": "color"})
    nlp.vocab.lookups = lookups
    examples = make_examples(nlp, ["a colour"])
    count_symbols(nlp, examples, min_freq=1)
    assert initialize(nlp, examples) == {"a", "color"}


# Errors


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"min_freq": 0}, r"'min_freq' should be 1 or more, but is 0"),
        ({"limit": -1}, r"'limit' should be 0 or more, but is -1"),
    ],
)
def test_bad_arguments_are_refused_at_once(nlp, arguments, error):
    with pytest.raises(ValueError, match=error):
        count_symbols(nlp, [], **arguments)


def test_pipelines_where_nothing_waits_are_refused(tmp_path):
    nlp = spacy.blank("en")
    with pytest.raises(ValueError, match=r"should.*waits .* none \(components: none\)"):
        count_symbols(nlp, [])
    nlp.add_pipe("tagger")
    add_tok2vec(nlp, tables="some.npz")
    with pytest.raises(ValueError, match=r"none \(components: tagger, tok2vec\)"):
        count_symbols(nlp, [])


@pytest.mark.parametrize("examples", [[], iter([])])
def test_data_without_a_token_are_refused(nlp, examples):
    count_symbols(nlp, examples)
    with pytest.raises(ValueError, match=r"not a token in 'examples'.*A.*give a list"):
        initialize(nlp)


def test_what_is_no_doc_is_refused(nlp):
    match = r"'examples' should hold Examples or Docs, but holds a str\. .*make_doc"
    with pytest.raises(TypeError, match=match):
        count_symbols(nlp, [nlp.make_doc("a"), "a text"])
    count_symbols(nlp, iter(["a text"]))  # not read before it is needed
    with pytest.raises(TypeError, match=match):
        initialize(nlp)


@pytest.mark.parametrize("vocab", [Vocab(), spacy.blank("de").vocab])
def test_docs_of_another_language_are_refused(nlp, vocab):
    count_symbols(nlp, [spacy.tokens.Doc(vocab, words=["a"])])
    with pytest.raises(ValueError, match=rf"pipeline's language,.*of '{vocab.lang}'"):
        initialize(nlp)
