"""`SubwordEmbed.v1`: character n-grams of words beside the tables of an embedder.

That it is the same by the fast path, in numpy, on a GPU, trained, copied and changed,
is tested for it as for all embedders: see `BUILDERS`.
"""

import numpy as np
import pytest
from spacy.tokens import Doc
from thinc.api import Model, fix_random_seed

from spacy_hashembeds.architectures.embedders import subword_embed
from spacy_hashembeds.architectures.embedders.distinct_words import Words
from spacy_hashembeds.architectures.embedders.multi_embed import MultiEmbed
from spacy_hashembeds.architectures.embedders.multi_fewer_hash_embed import (
    MultiFewerHashEmbed,
)
from spacy_hashembeds.architectures.embedders.multi_hybrid_embed import MultiHybridEmbed
from spacy_hashembeds.architectures.embedders.multi_weighted_hash_embed import (
    MultiWeightedHashEmbed,
)
from spacy_hashembeds.architectures.embedders.subword_embed import SubwordEmbed
from spacy_hashembeds.layers.subwords import Ngrams

from ...layers.differences import differentiate
from ...toy_embedders import build_hash, get_nodes


def make(docs, **options) -> tuple[Model, Model]:
    """The layer that runs once for each word, and what it runs."""
    fix_random_seed(0)
    model = SubwordEmbed(**{"rows": 50, "width": 7, **options})
    model.initialize(X=docs)
    return model, model.layers[0]


def test_a_word_is_the_scaled_sum_of_its_rows(nlp):
    docs = [nlp("Anna sang"), nlp("")]
    model, layer = make(docs, num_hashes=2)
    vectors = model.predict(docs)
    assert [v.shape for v in vectors] == [(2, 7), (0, 7)]
    E = layer.get_param("E")
    ngrams = Ngrams(3, 5, False, 2, 50)
    for word, vector in zip(["anna", "sang"], vectors[0], strict=True):
        rows, _ = ngrams.find_rows([word])
        expected = E[rows].sum(axis=0) / np.sqrt(len(rows))
        np.testing.assert_allclose(vector, expected, rtol=1e-5)


def test_gradients_are_those_of_finite_differences(nlp):
    docs = [nlp("Anna sang ana Anna"), nlp("s")]
    model, layer = make(docs, rows=11, width=3, minn=1, maxn=2)
    d_outputs = [np.cos(v) for v in model.predict(docs)]
    _, backprop = model.begin_update(docs)
    backprop([d.copy() for d in d_outputs])

    def get_loss():
        outputs = model.predict(docs)
        return sum((d * Y).sum() for d, Y in zip(d_outputs, outputs, strict=True))

    expected = differentiate(get_loss, layer.get_param("E"), step=0.5)
    np.testing.assert_allclose(layer.get_grad("E"), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("attr", "is_same"), [("LOWER", True), ("NORM", True), ("ORTH", False)]
)
def test_what_a_word_is_says_the_attribute(nlp, attr, is_same):
    docs = [Doc(nlp.vocab, words=["Anna", "anna"])]
    model, _ = make(docs, attr=attr)
    first, second = model.predict(docs)[0]
    assert (first == second).all() == is_same


@pytest.mark.parametrize(
    ("embedder", "rows"),
    [
        (MultiEmbed, {}),
        (MultiFewerHashEmbed, {"rows": [5]}),
        (MultiHybridEmbed, {"rows": [5]}),
        (MultiWeightedHashEmbed, {"rows": [5]}),
    ],
)
def test_each_embedder_by_tables_takes_it(embedder, rows):
    settings = {"width": 4, "attrs": ["NORM"], "include_static_vectors": False, **rows}
    model = embedder(**settings, subwords=SubwordEmbed(rows=9, width=3))
    (maxout,) = get_nodes(model, "maxout")
    assert get_nodes(model, "subwordembed")
    assert maxout.get_dim("nI") == 4 + 3


@pytest.mark.parametrize("wrong", [Model("other", lambda *_: None), "LOWER", {}])
def test_nothing_else_is_taken_for_subwords(nlp, wrong):
    with pytest.raises(ValueError, match=r"'subwords' should.*SubwordEmbed\.v1, or"):
        build_hash(nlp.vocab, subwords=wrong)


def test_damaged_attributes_are_refused(nlp):
    docs = [nlp("Anna sang")]
    model, layer = make(docs)
    layer.attrs["kept_rows"] = {}
    with pytest.raises(ValueError, match="'kept_rows'"):
        model.predict(docs)


def test_settings_that_change_are_seen(nlp):
    """Rows that are kept are those of the settings of now."""
    docs = [nlp("Anna sang")]
    model, layer = make(docs)
    before = model.predict(docs)[0]
    layer.attrs["maxn"] = 3
    after = model.predict(docs)[0]
    assert (before != after).any()
    other, _ = make(docs, maxn=3)
    np.testing.assert_array_equal(after, other.predict(docs)[0])


@pytest.mark.parametrize("n_docs", [1, 40])
def test_rows_that_are_kept_are_bounded(nlp, monkeypatch, n_docs):
    monkeypatch.setattr(subword_embed, "MAX_KEPT", 1000)
    words = [f"word{i}" for i in range(80)]
    docs = [Doc(nlp.vocab, words=words[i::n_docs]) for i in range(n_docs)]
    model, layer = make(docs)
    expected = np.concatenate(make(docs)[0].predict(docs))
    one_by_one = np.concatenate([model.predict([doc])[0] for doc in docs])
    np.testing.assert_array_equal(one_by_one, expected)
    _, kept = layer.attrs["kept_rows"]._kept
    assert 0 < len(kept) < 20


def test_many_words_are_embedded_in_blocks(nlp, monkeypatch):
    docs = [Doc(nlp.vocab, words=[f"word{i}" for i in range(50)])]
    model, _ = make(docs)
    expected = model.predict(docs)[0]
    sizes = []
    get = subword_embed.KeptRows.get

    def note(kept, ngrams, words):
        sizes.append(len(words.keys))
        return get(kept, ngrams, words)

    monkeypatch.setattr(subword_embed.KeptRows, "get", note)
    monkeypatch.setattr(subword_embed, "_BLOCK", 20)
    np.testing.assert_array_equal(model.predict(docs)[0], expected)
    assert sizes == [20, 20, 10]
    sizes.clear()
    model.begin_update(docs)
    assert sizes == [50]


def test_no_words_have_no_vectors(nlp):
    _, layer = make([nlp("a")])
    words = Words([nlp.vocab], np.zeros((0, 1), dtype="uint64"))
    assert layer.predict(words).shape == (0, 7)
