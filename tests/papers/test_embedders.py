"""Embedders of the papers, compared with their layers, token by token."""

import numpy as np
import pytest
from spacy.ml.models.tok2vec import MultiHashEmbed

from spacy_hashembeds.architectures.symbols import SYMBOL_SOURCE
from spacy_hashembeds.papers.hash_embeddings.multi_weighted_hash_embed import (
    MultiWeightedHashEmbed,
)
from spacy_hashembeds.papers.hashformers.hash_former_embed import find_columns
from spacy_hashembeds.papers.why_attention.char_cnn_embed import (
    CharCNNEmbed,
    find_mixer,
    find_word,
)
from spacy_hashembeds.papers.why_attention.words import find_capitalization

from ..contract import CHARACTERS, HASHED, REGISTERED, VECTORS, get_vocab
from ..layers.plans import get_cached
from ..toy_embedders import get_nodes, initialize, make_docs

HASH_FORMERS = [name for name in REGISTERED if name.startswith("HashFormerEmbed")]
CHAR_CNNS = [name for name in REGISTERED if name.startswith("CharCNNEmbed")]


def embed_by_hash_former(model, doc) -> np.ndarray:
    parts = []
    for column in find_columns(model):
        hasher, compressor = column.hasher, column.model
        texts = [getattr(token, f"{column.attr.lower()}_") for token in doc]
        codes = np.vstack([hasher.predict([text]) for text in texts])
        if compressor.name != "embcompressor":
            codes = np.unpackbits(codes, axis=1).astype("f")
        parts.append(compressor.predict(codes))
    for vectors in get_nodes(model, "static_vectors"):
        W = vectors.get_param("W")
        parts.append(np.vstack([token.vector for token in doc]) @ W.T)
    features = np.hstack(parts)
    mixed = [layer.layers[0].predict(features) for layer in model.layers[1:]]
    return mixed[0] if mixed else features


def embed_by_char_cnn(model, doc) -> np.ndarray:
    (chars,), mixer = get_nodes(model, "charcnn"), find_mixer(model)
    words = [token.text for token in doc]
    parts = [
        np.vstack([chars.predict([word])[0] for word in words]),
        np.eye(5, 4, dtype="f")[[find_capitalization(word) for word in words]],
    ]
    if get_nodes(model, "word_vectors"):
        parts.append(np.vstack([token.vector for token in doc]))
    if word := find_word(model):
        parts.append(word.predict([doc])[0])
    features = np.hstack(parts)
    return features if mixer is None else mixer.predict(features)


def build(name):
    """Build an embedder of the contract, or a CharCNNEmbed with a mixer."""
    if name in REGISTERED:
        return REGISTERED[name].build()
    options = {**CHARACTERS, **VECTORS, "width": 7, "maxout_pieces": 2}
    return initialize(CharCNNEmbed(**options), get_vocab())


@pytest.mark.parametrize("name", [*HASH_FORMERS, *CHAR_CNNS, "CharCNNEmbed, mixed"])
def test_parts_are_concatenated_or_mixed(name):
    model, docs = build(name), make_docs(get_vocab())
    embed = embed_by_hash_former if name in HASH_FORMERS else embed_by_char_cnn
    for doc, Y in zip(docs, model.predict(docs), strict=True):
        assert (Y.shape, Y.dtype) == ((len(doc), model.get_dim("nO")), "float32")
        if len(doc):
            np.testing.assert_allclose(Y, embed(model, doc), atol=1e-4)


@pytest.mark.parametrize("name", HASH_FORMERS)
def test_changed_hashers_invalidate_the_cache(name):
    model, (doc,) = build(name), make_docs(get_vocab(), [6])
    (before,) = model.predict([doc])
    if "not mixed" not in name:
        assert len(get_cached(model.attrs["plan"]).state.kept) > 0
    for attrs in (column.hasher.attrs for column in find_columns(model)):
        attrs.update({"lsh_seed": 5} if "lsh_seed" in attrs else {"md5_key": "x"})
    (after,) = model.predict([doc])
    np.testing.assert_allclose(after, embed_by_hash_former(model, doc), atol=1e-4)
    assert not np.allclose(after, before, atol=1e-3)


def test_an_embedder_of_unknown_width(docs):
    options = {**CHARACTERS, "word": MultiHashEmbed(**HASHED)}
    (Y, *_) = (model := CharCNNEmbed(**options).initialize(X=docs)).predict(docs)
    assert model.get_dim("nO") == Y.shape[1] == 2 * 3 + 4 + 6


def test_capitalizations():
    kinds = [
        "A I USA U.S. F16 ÄÖ ЖЗ",
        "Hello Über O'clock Жук McDonald HELLo ǅ",
        "a hello n't 3rd über жук @user",
        "iPhone eBay #Obama 1St 'Tis",
        "12 ! 中文 ﷺ 😀 $",
    ]
    for column, words in enumerate(kinds):
        assert {find_capitalization(word) for word in words.split()} == {column}


def test_tables_have_separate_rows_and_seeds_and_are_concatenated(docs):
    model = MultiWeightedHashEmbed(
        **{**HASHED, "combine": "concat", "append_weights": True, "num_hashes": 3},
        **{"importance_rows": [50, 30, 20], "seed": 5},
    )
    assert SYMBOL_SOURCE not in model.attrs
    (maxout,) = get_nodes(model.initialize(X=docs), "maxout")
    assert maxout.get_dim("nI") == 3 * (3 * 6 + 3)
    tables = get_nodes(model, "weightedhashembed")
    assert [table.attrs["hash_seed"] for table in tables] == [5, 6, 7]
    sizes = [(table.get_dim("nV"), table.get_dim("nK")) for table in tables]
    assert sizes == [(11, 50), (7, 30), (5, 20)]
