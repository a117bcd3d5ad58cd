"""`HashFormerEmbed.v1`: any hasher with any compressor, of several attributes.

Training, and weights that change, are tested with those of all embedders.
"""

from itertools import product

import numpy as np
import pytest
from thinc.api import Model, fix_random_seed

from spacy_hashembeds.papers.hashformers.compressors import (
    AddCompressor,
    EmbCompressor,
    PoolCompressor,
    ProjCompressor,
)
from spacy_hashembeds.papers.hashformers.hash_former_embed import (
    HashFormerEmbed,
    find_columns,
)
from spacy_hashembeds.papers.hashformers.hashers import LSHHasher, MD5Hasher

from ...layers.plans import get_kept
from ...toy_embedders import ATTRS, assert_close, get_nodes, make_docs

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


def build_kind(kind, vocab) -> Model:
    pairs, options = KINDS[kind]
    return build(vocab, *pairs, **options)


def embed_plainly(model, doc) -> np.ndarray:
    """A token at a time, from the layers."""
    parts = []
    for column in find_columns(model):
        hasher, compressor = column.hasher, column.model
        texts = [getattr(token, f"{column.attr.lower()}_") for token in doc]
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


@pytest.mark.parametrize("kind", ["md5, pool", "lsh, emb", "vectors, two pieces"])
def test_hashers_that_change_are_seen(vocab, kind):
    """Though what they make of words is kept."""
    model, (doc,) = build_kind(kind, vocab), make_docs(vocab, [6])
    (before,) = model.predict([doc])
    assert len(get_kept(model.attrs["plan"]).ready.kept) > 0
    for attrs in (column.hasher.attrs for column in find_columns(model)):
        attrs.update({"lsh_seed": 5} if "lsh_seed" in attrs else {"md5_key": "x"})
    (after,) = model.predict([doc])
    assert_close(after, embed_plainly(model, doc))
    assert not np.allclose(after, before, atol=1e-3)


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
        # a word would be compared with too many
        ({"compressors": dict.fromkeys(ATTRS, EmbCompressor(rows=2**20 + 1))}, "rows"),
    ],
)
def test_bad_arguments_are_refused_when_built(changes, name):
    arguments = {
        **{"attrs": ATTRS, "width": 6, "include_static_vectors": False},
        "hashers": {attr: LSHHasher() for attr in ATTRS},
        "compressors": {attr: ProjCompressor() for attr in ATTRS},
    }
    with pytest.raises((ValueError, TypeError), match=f"'{name}'"):
        HashFormerEmbed(**{**arguments, **changes})
