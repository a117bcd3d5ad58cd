"""Features: extension attributes and span groups as columns of an embedder."""

from enum import StrEnum

import numpy as np
import pytest
import spacy
from spacy.ml.models import MultiHashEmbed
from spacy.tokens import Doc, Span, Token
from spacy.tokens.underscore import Underscore
from spacy.training import Example

from spacy_hashembeds.architectures.features import read_feature, read_keys
from spacy_hashembeds.architectures.multi_fewer_hash_embed import MultiFewerHashEmbed
from spacy_hashembeds.training.counting import count_symbols

from ..toy_embedders import build_hash, get_nodes

NLP = spacy.blank("en")
WORDS = ["Ann", "Lee", "lives", "in", "New", "York"]


@pytest.fixture(autouse=True)
def _extensions(monkeypatch):
    before = {**Underscore.token_extensions}
    monkeypatch.setattr(Underscore, "token_extensions", before)
    # other tests may have registered them
    Token.set_extension("mark", default=False, force=True)
    Token.set_extension("size", getter=lambda token: len(token.text), force=True)


def make_doc() -> Doc:
    doc = Doc(NLP.vocab, words=WORDS)
    doc[0]._.mark = True
    doc[1]._.mark = "bold"
    doc[2]._.mark = None
    doc.spans["names"] = [Span(doc, 0, 2, "PER"), Span(doc, 1, 2, "X"), doc[4:6]]
    return doc


@pytest.mark.parametrize("name", ["mark", "size"])
def test_values_are_those_of_the_token(name):
    doc = make_doc()
    assert read_feature(doc, f"_.{name}") == [token._.get(name) for token in doc]


def test_span_groups_are_read_as_iob_tags():
    found = ["B-PER", "B-X|I-PER", None, None, "B-", "I-"]
    assert read_feature(make_doc(), "spans.names") == found


def test_keys_are_stable_and_independent_of_number_types():
    ones = [True, 1, "1", np.int64(1), StrEnum("Size", {"ONE": "1"}).ONE]
    doc = Doc(NLP.vocab, words=["a"] * 8)
    for token, value in zip(doc, [*ones, None, "", 0], strict=True):
        token._.mark = value
    keys = read_keys([doc], ["ORTH", "_.mark"])[:, 1].tolist()
    assert keys == [5533571732986600803] * 5 + [0, 0, 746762829127501960]


@pytest.mark.parametrize("value", [0.5, [1], b"a", np.ones(2)], ids=str)
def test_values_that_are_not_categories_are_refused(value):
    doc = make_doc()
    doc[2]._.mark = value
    with pytest.raises(TypeError, match=r"_\.mark.*'lives'"):
        read_keys([doc], ["_.mark"])


@pytest.mark.parametrize("attr", ["_.nobodys", "spans.nobodys"])
def test_missing_features_are_refused(attr):
    model = build_hash(NLP.vocab, attrs=["NORM", "_.mark"])
    model.layers[0].attrs["columns"][1] = attr
    assert len(model.predict([Doc(NLP.vocab)])[0]) == 0
    with pytest.raises(ValueError, match=attr.removeprefix("spans.")):
        model.predict([make_doc()])


def test_an_unregistered_attribute_is_refused_before_training():
    with pytest.raises(ValueError, match=r"_\.nobodys"):
        build_hash(NLP.vocab, attrs=["NORM", "_.nobodys"])


@pytest.mark.parametrize("attr", ["_.", "spans.", "span.x", "_is_bold", "._.x"])
def test_invalid_names_are_refused(attr):
    with pytest.raises(ValueError, match="'attrs'"):
        build_hash(NLP.vocab, attrs=[attr])


def test_empty_span_groups_and_docs():
    doc = make_doc()
    doc.spans["names"] = []
    assert not read_keys([Doc(NLP.vocab), doc], ["spans.names"]).any()


def test_vectors_depend_on_values():
    model = build_hash(NLP.vocab, attrs=["NORM", "_.mark", "spans.names"])
    one, other = make_doc(), make_doc()
    other[3]._.mark = "bold"
    other.spans["names"] = [Span(other, 0, 2, "PER")]
    differ = (model.predict([one])[0] != model.predict([other])[0]).any(axis=1)
    assert differ.tolist() == [False, True, False, True, True, True]


def make_pipeline(embed: str, ruler: bool = True):
    """Return a tagger that reads the spans of a gazetteer, set by a span ruler."""
    nlp = spacy.blank("en")
    if ruler:
        config = {"spans_key": "names", "annotate_ents": False}
        nlp.add_pipe("span_ruler", config=config)
        patterns = {"PER": "Ann", "GPE": "York"}.items()
        nlp.config["initialize"]["components"]["span_ruler"] = {
            "patterns": [{"label": label, "pattern": name} for label, name in patterns]
        }
    block = {
        "@architectures": f"spacy-hashembeds.{embed}.v1",
        **{"width": 8, "attrs": ["NORM", "spans.names", "_.size"]},
        "include_static_vectors": False,
        **({"rows": [50, 9, 9]} if embed == "MultiFewerHashEmbed" else {}),
    }
    encode = {"@architectures": "spacy.MaxoutWindowEncoder.v2", "width": 8, "depth": 1}
    encode |= {"window_size": 1, "maxout_pieces": 2}
    tok2vec = {"@architectures": "spacy.Tok2Vec.v2", "embed": block, "encode": encode}
    model = {"@architectures": "spacy.Tagger.v2", "tok2vec": tok2vec}
    nlp.add_pipe("tagger", config={"model": model})
    nlp.config["training"]["annotating_components"] = ["span_ruler"] if ruler else []
    gold = Doc(nlp.vocab, words=WORDS, tags=["N", "N", "V", "P", "N", "N"])
    return nlp, [Example(nlp.make_doc(" ".join(WORDS)), gold)]


@pytest.mark.parametrize("embed", ["MultiFewerHashEmbed", "MultiEmbed"])
def test_features_set_by_a_component(embed):
    nlp, examples = make_pipeline(embed)
    if embed == "MultiEmbed":
        count_symbols(nlp, examples, min_freq=1)
    nlp.initialize(lambda: examples)  # Docs without features
    losses = [
        nlp.update(examples, annotates=["span_ruler"])["tagger"] for _ in range(150)
    ]
    assert losses[-1] < losses[0] / 2
    doc = nlp(" ".join(WORDS))
    assert [token.tag_ for token in doc] == ["N", "N", "V", "P", "N", "N"]
    if embed == "MultiEmbed":
        column = get_nodes(nlp.get_pipe("tagger").model, "symbolembed")[1]
        assert len(column.attrs["symbols"]) == 3  # none, B-PER, B-GPE


def test_a_missing_span_group_is_refused_in_training():
    nlp, examples = make_pipeline("MultiFewerHashEmbed", ruler=False)
    nlp.initialize(lambda: examples)
    with pytest.raises(ValueError, match="names"):
        nlp.update(examples)


def test_loading_weights_of_spacys_embedder():
    options = {"width": 8, "include_static_vectors": False}
    attrs, rows = ["NORM", "SHAPE"], [20, 10]
    spacys = MultiHashEmbed(attrs=attrs, rows=rows, **options)
    spacys.initialize(X=[make_doc()])
    model = MultiFewerHashEmbed(attrs=[*attrs, "_.mark"], rows=[*rows, 5], **options)
    model.initialize(X=[make_doc()])
    tables = get_nodes(model, "hashembed")
    for theirs, ours in zip(get_nodes(spacys, "hashembed"), tables[:2], strict=True):
        ours.from_bytes(theirs.to_bytes())
    (theirs,), (ours,) = (get_nodes(m, "maxout") for m in (spacys, model))
    W = np.zeros_like(ours.get_param("W"))
    W[..., :16] = theirs.get_param("W")
    ours.set_param("W", W)
    expected = spacys.predict([make_doc()])[0]
    np.testing.assert_allclose(model.predict([make_doc()])[0], expected, atol=1e-5)


def test_counting_values_of_a_getter():
    Token.set_extension("coarse", getter=lambda token: token.tag_[:1], force=True)
    nlp, examples = make_pipeline("MultiEmbed", ruler=False)
    nlp.add_pipe("tagger", name="first", first=True)
    nlp.config["training"]["annotating_components"] = ["first"]
    embed = nlp.get_pipe("tagger").model.get_ref("tok2vec").layers[0]
    embed.layers[0].attrs["columns"][1] = "_.coarse"
    (_, column, _) = get_nodes(embed, "symbolembed")
    column.attrs["key"] = "_.coarse"
    count_symbols(nlp, examples, min_freq=1)
    nlp.initialize(lambda: examples)
    assert len(column.attrs["symbols"]) == 3  # N, V and P
