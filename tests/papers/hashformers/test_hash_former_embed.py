"""`HashFormerEmbed.v1`: any hasher with any compressor, of several attributes."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from thinc.api import Model, fix_random_seed
from thinc.layers.chain import forward as forward_reference

from spacy_hashembeds.papers.hashformers.compressors import (
    AddCompressor,
    EmbCompressor,
    PoolCompressor,
    ProjCompressor,
)
from spacy_hashembeds.papers.hashformers.hash_former_embed import (
    HashFormerEmbed,
    find_hashers,
)
from spacy_hashembeds.papers.hashformers.hashers import LSHHasher, MD5Hasher

from ...layers.plans import get_kept
from ...toy_embedders import (
    ATTRS,
    CHANGES,
    assert_close,
    assert_gradients_close,
    get_gradients,
    get_nodes,
    make_docs,
    make_gradient,
)

HASHERS = {"md5": MD5Hasher, "lsh": lambda: LSHHasher(max_ngrams=None)}
COMPRESSORS = {
    "emb": lambda: EmbCompressor(rows=11),
    "pool": lambda: PoolCompressor(num_bits=5),
    "add": AddCompressor,
    "proj": ProjCompressor,
}


def build(vocab, *pairs, **options) -> Model:
    """Embed an attribute by each pair of a hasher and a compressor."""
    fix_random_seed(0)
    parts = dict(zip(ATTRS, pairs, strict=False))
    model = HashFormerEmbed(
        attrs=list(parts),
        hashers={attr: HASHERS[h]() for attr, (h, _) in parts.items()},
        compressors={attr: COMPRESSORS[c]() for attr, (_, c) in parts.items()},
        **{"width": 6, "include_static_vectors": False, **options},
    )
    return model.initialize(X=make_docs(vocab))


SEVERAL = [("lsh", "proj"), ("md5", "add"), ("md5", "emb")]
KINDS = {
    **{f"{h}, {c}": ([(h, c)], {}) for h, c in product(HASHERS, COMPRESSORS)},
    "vectors, two pieces": (
        SEVERAL,
        {"include_static_vectors": True, "maxout_pieces": 2},
    ),
    "not mixed": ([("md5", "pool")], {"maxout_pieces": None}),
}
MIXED = [kind for kind in KINDS if kind != "not mixed"]


def build_kind(kind, vocab) -> Model:
    pairs, options = KINDS[kind]
    return build(vocab, *pairs, **options)


def embed_plainly(model, doc) -> np.ndarray:
    """A token at a time, from the layers."""
    parts = []
    words = [node for node in model.walk() if "attr" in node.attrs]
    for node, (attr, hasher) in zip(words, find_hashers(model), strict=True):
        compressor = node.layers[0].layers[1]
        texts = [getattr(token, f"{attr.lower()}_") for token in doc]
        codes = np.vstack([hasher.predict([text]) for text in texts])
        if compressor.name != "embcompressor":
            codes = np.unpackbits(codes, axis=1).astype("f")
        parts.append(compressor.predict(codes))
    if vectors := get_nodes(model, "static_vectors"):
        W = vectors[0].get_param("W")
        parts.append(np.vstack([token.vector for token in doc]) @ W.T)
    features = np.hstack(parts)
    if len(model.layers) == 1:
        return features
    return model.layers[1].layers[0].predict(features)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_its_definition(kind, vocab, docs):
    model = build_kind(kind, vocab)
    for doc, Y in zip(docs, model.predict(docs), strict=True):
        assert (Y.shape, Y.dtype) == ((len(doc), 6), "float32")
        if len(doc):
            np.testing.assert_allclose(Y, embed_plainly(model, doc), atol=1e-4)


@pytest.mark.parametrize("kind", MIXED)
def test_the_fast_path_has_the_gradients_of_thinc_s_layers(vocab, kind):
    docs = make_docs(vocab, [5, 0, 30])
    fast, reference = build_kind(kind, vocab), build_kind(kind, vocab)
    Ys, backprop = fast.begin_update(docs)
    expected, backprop_reference = forward_reference(reference, docs, True)
    assert_close(np.concatenate(Ys), np.concatenate(expected))
    dYs = make_gradient(Ys)
    backprop(dYs)
    backprop_reference(dYs)
    assert_gradients_close(get_gradients(fast), get_gradients(reference))


def change_hashers(model, docs):
    for _, hasher in find_hashers(model):
        if "lsh_seed" in hasher.attrs:
            hasher.attrs["lsh_seed"] = 5
        else:
            hasher.attrs["md5_key"] = "another"


@pytest.mark.parametrize("change", [*CHANGES, change_hashers])
@pytest.mark.parametrize("kind", ["md5, pool", "lsh, emb", "vectors, two pieces"])
def test_what_is_kept_is_never_stale(vocab, kind, change):
    model, docs = build_kind(kind, vocab), make_docs(vocab, [6, 1])
    for _ in range(2):
        before = np.concatenate(model.predict(docs))
        assert len(get_kept(model.attrs["plan"]).ready.kept) > 0
        change(model, docs)
        after = model.predict(docs)
        for doc, Y in zip(docs, after, strict=True):
            assert_close(Y, embed_plainly(model, doc))
    if change is not change_hashers:  # to the same ones again
        assert not np.allclose(np.concatenate(after), before, atol=1e-3)


def make_arguments(**changes: Any) -> dict[str, Any]:
    hashers = {attr: MD5Hasher() for attr in ATTRS}
    compressors = {attr: ProjCompressor() for attr in ATTRS}
    arguments = {"hashers": hashers, "compressors": compressors, "attrs": ATTRS}
    return {**arguments, "width": 6, "include_static_vectors": False, **changes}


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"maxout_pieces": None}, "maxout_pieces"),
        ({"attrs": ["NORM", "IS_ALPHA", "SUFFIX"]}, "attrs"),
        ({"attrs": ["NORM", "norm", "SUFFIX"]}, "attrs"),
        ({"attrs": ["NORM"]}, "hashers"),
        ({"hashers": ["NORM"]}, "hashers"),
        ({"hashers": dict.fromkeys(ATTRS, ProjCompressor())}, "hashers.NORM"),
        ({"compressors": {"NORM": ProjCompressor()}}, "compressors"),
        ({"compressors": dict.fromkeys(ATTRS, "x")}, "compressors.NORM"),
    ],
)
def test_bad_arguments_are_refused_when_built(changes, name):
    with pytest.raises((ValueError, TypeError), match=f"'{name}'"):
        HashFormerEmbed(**make_arguments(**changes))


def test_a_word_is_not_compared_with_too_many_rows():
    pair = {
        "hashers": {"NORM": LSHHasher()},
        "compressors": {"NORM": EmbCompressor(rows=2**20 + 1)},
    }
    with pytest.raises(ValueError, match="'rows'"):
        HashFormerEmbed(**make_arguments(attrs=["NORM"], **pair))
