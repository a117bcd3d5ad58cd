"""Sums of n-gram embeddings, beside one n-gram at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thinc.api import Model, Ragged, fix_random_seed

from spacy_hashembeds.layers.hashembed import HashEmbed
from spacy_hashembeds.layers.sumngrams import find_ngrams, sum_ngrams
from spacy_hashembeds.layers.symbolembed import SymbolEmbed
from spacy_hashembeds.layers.symboltaker import Symbols, give_symbols
from spacy_hashembeds.layers.weightedhashembed import WeightedHashEmbed

from ..kernels.test_ngrams import list_ngrams

TEXTS = st.lists(st.lists(st.integers(1, 4), max_size=6), max_size=5)


def make_words(texts: list[list[int]]) -> Ragged:
    words = np.array([word for text in texts for word in text], dtype="uint64")
    return Ragged(words, np.array([len(text) for text in texts], dtype="int32"))


def build_hashed() -> Model:
    return HashEmbed(3, 7, num_hashes=1, seed=9)


def build_weighted() -> Model:
    return WeightedHashEmbed(3, 7, nK=11, num_hashes=2, seed=9)


def build_known() -> Model:
    embed, ngrams = SymbolEmbed(3, key="n-grams"), list_ngrams([1, 2, 3], 2)
    give_symbols(embed, Symbols(np.unique(np.array(ngrams, dtype="uint64"))))
    return embed


def build_weighted_known() -> Model:
    embed = WeightedHashEmbed(3, 7, nK=None, key="n-grams", seed=9)
    give_symbols(embed, Symbols(build_known().attrs["symbols"]))
    return embed


BUILDERS = [build_hashed, build_weighted, build_known, build_weighted_known]


def build(build_embed, **options) -> Model:
    fix_random_seed(0)
    model = sum_ngrams(build_embed(), **{"ngram_size": 2, **options}).initialize()
    embed = model.layers[0]
    for name in embed.param_names:
        shape = embed.get_param(name).shape
        embed.set_param(name, np.random.normal(size=shape).astype("f"))
    return model


def list_known(embed: Model, text: list[int]) -> np.ndarray:
    keys = np.array(list_ngrams(text, 2), dtype="uint64")
    return keys[np.isin(keys, embed.attrs["symbols"])] if "key" in embed.attrs else keys


def get_gradients(embed: Model) -> dict[str, np.ndarray]:
    return {
        name: embed.get_grad(name) if embed.has_grad(name) else np.zeros(1)
        for name in embed.param_names
    }


@pytest.mark.parametrize("build_embed", BUILDERS)
@given(texts=TEXTS, is_train=st.booleans())
@settings(max_examples=20)
def test_sums_and_gradients_are_those_of_one_ngram_at_a_time(
    build_embed, is_train, texts
):
    model, reference = build(build_embed), build(build_embed).layers[0]
    Y, backprop = model(make_words(texts), is_train)
    assert (Y.shape, Y.dtype) == ((len(texts), 3), "float32")
    dY = np.random.default_rng(0).normal(size=Y.shape).astype("f")
    backprop(dY)
    expected = np.zeros((len(texts), 3), dtype="f")
    for i, text in enumerate(texts):
        for key in list_known(reference, text):
            vector, backprop_key = reference(np.array([key]), is_train)
            expected[i] += vector[0]
            backprop_key(dY[i : i + 1])
    np.testing.assert_allclose(Y, expected, atol=1e-4)
    actual = get_gradients(model.layers[0])
    for name, gradient in get_gradients(reference).items():
        np.testing.assert_allclose(actual[name], gradient, atol=1e-4)


def test_an_ngram_is_embedded_once_in_a_batch():
    model, given_keys = build(build_hashed), []
    embed = model.layers[0]

    def spy(layer, keys, is_train):
        given_keys.append(keys.tolist())
        return forward(layer, keys, is_train)

    forward, embed._func = embed._func, spy
    model.predict(make_words([[1, 2, 1], [1, 2]]))
    assert len(given_keys[0]) == len(set(given_keys[0])) == 4  # 1, 2, 1 2, 2 1


def test_without_known_ngrams_texts_sum_to_zero():
    empty = SymbolEmbed(3, key="n-grams")
    give_symbols(empty, Symbols(np.zeros(0, dtype="uint64")))
    model = sum_ngrams(empty, ngram_size=2).initialize()
    assert not model.predict(make_words([[1, 2]])).any()


def test_training_sees_snippets_of_known_ngrams_and_prediction_whole_texts():
    words = make_words([[1, 2, 3] * 20])
    model = build(build_known, shortest=2, longest=5)
    whole = find_ngrams(model, words, False)
    assert whole.lengths.tolist() == [60 + 40]  # "3 1" is unknown
    sizes = {len(find_ngrams(model, words, True).keys) for _ in range(50)}
    assert sizes == {2, 3, 4, 5}
    assert set(find_ngrams(model, words, True).keys) <= set(whole.keys)


@pytest.mark.parametrize(
    "damage",
    [lambda symbols: symbols[::-1], lambda symbols: symbols[:0], lambda symbols: "x"],
    ids=["reversed", "none", "text"],
)
@pytest.mark.parametrize("build_embed", [build_known, build_weighted_known])
def test_damaged_symbols_are_refused_where_they_leave_no_ngram(build_embed, damage):
    model = build(build_embed)
    model.predict(make_words([[1, 2]]))
    embed = model.layers[0]
    embed.attrs["symbols"] = damage(embed.attrs["symbols"])
    with pytest.raises(ValueError, match="symbols for n-grams should be distinct"):
        model.predict(make_words([[1, 2]]))


@pytest.mark.parametrize("build_embed", [build_hashed, build_weighted])
def test_layers_without_a_dictionary_refuse_one(build_embed):
    model = build(build_embed)
    model.layers[0].attrs["symbols"] = np.array([7], dtype="uint64")
    with pytest.raises(ValueError, match="has the attribute 'symbols' of such a layer"):
        model.predict(make_words([[1, 2]]))


@pytest.mark.parametrize(
    ("name", "value", "bounds"),
    [
        ("ngram_size", 0, "1 to 100"),
        ("ngram_size", 101, "1 to 100"),
        ("shortest", 0, "1 to 2147483646"),
        ("shortest", 2**31, "1 to 2147483646"),
        ("longest", 3, "4 to 2147483646"),
        ("longest", 2**31, "4 to 2147483646"),
    ],
)
def test_attributes_have_bounds(name, value, bounds):
    model = build(build_hashed, shortest=4, longest=100)
    model.attrs[name] = value
    with pytest.raises(ValueError, match=rf"'{name}' of.*be {bounds}, but is "):
        model.predict(make_words([[1, 2]]))
