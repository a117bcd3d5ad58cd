"""`HashFormerEmbed.v1`: any hasher with any compressor, of several attributes."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Linear, Model, fix_random_seed
from thinc.layers.chain import forward as forward_reference

from spacy_hashembeds.architectures.embedders.hash_former_embed import (
    HashFormerEmbed,
    find_hashers,
)
from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.layers.compressors import (
    AddCompressor,
    EmbCompressor,
    PoolCompressor,
    ProjCompressor,
)
from spacy_hashembeds.layers.hashers import LSHHasher, MD5Hasher
from spacy_hashembeds.layers.mixing import folding, mixedembed
from spacy_hashembeds.threads import derived_lock

from ...kernels.paths import both_paths
from ...layers.plans import get_kept
from ...toy_embedders import (
    ATTRS,
    CHANGES,
    assert_close,
    assert_gradients_close,
    get_gradients,
    get_nodes,
    get_weights,
    make_docs,
    make_gradient,
    make_vocab,
    note_calls,
    update,
)

HASHERS = {"md5": MD5Hasher, "lsh": lambda: LSHHasher(max_ngrams=None)}
COMPRESSORS = {
    "emb": lambda: EmbCompressor(rows=11),
    "pool": lambda: PoolCompressor(num_bits=5),
    "add": AddCompressor,
    "proj": ProjCompressor,
}


def make(*pairs, attrs=None, **options) -> Model:
    """Embed an attribute by each pair of a hasher and a compressor."""
    pairs = pairs or [("lsh", "proj"), ("md5", "add"), ("md5", "emb")]
    attrs = attrs or ATTRS[: len(pairs)]
    options = {"width": 6, "include_static_vectors": False, **options}
    return HashFormerEmbed(
        attrs=attrs,
        hashers={a: HASHERS[h]() for a, (h, _) in zip(attrs, pairs, strict=True)},
        compressors={
            a: COMPRESSORS[c]() for a, (_, c) in zip(attrs, pairs, strict=True)
        },
        **options,
    )


def build(vocab, *pairs, **options) -> Model:
    fix_random_seed(0)
    return make(*pairs, **options).initialize(X=make_docs(vocab))


KINDS = {
    **{
        f"{h}, {c}": {"pairs": [(h, c)]}
        for h, c in itertools.product(HASHERS, COMPRESSORS)
    },
    "several": {"pairs": []},
    "vectors": {"pairs": [], "include_static_vectors": True},
    "one and vectors": {"pairs": [("lsh", "proj")], "include_static_vectors": True},
    "two pieces": {"pairs": [], "maxout_pieces": 2},
    "not mixed": {"pairs": [("md5", "pool")], "maxout_pieces": None},
}
MIXED = [kind for kind in KINDS if kind != "not mixed"]


def build_kind(kind, vocab) -> Model:
    options = dict(KINDS[kind])
    return build(vocab, *options.pop("pairs"), **options)


@pytest.fixture(params=KINDS)
def model(request, vocab) -> Model:
    return build_kind(request.param, vocab)


def get_compressors(model) -> list[Model]:
    return get_nodes(model, *(f"{name}compressor" for name in COMPRESSORS))


# What it computes


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


def test_it_is_its_definition(model, docs):
    for doc, Y in zip(docs, model.predict(docs), strict=True):
        assert (Y.shape, Y.dtype) == ((len(doc), 6), "float32")
        if len(doc):
            np.testing.assert_allclose(Y, embed_plainly(model, doc), atol=1e-4)


@pytest.mark.parametrize("kind", MIXED)
def test_the_fast_path_is_taken_and_gives_the_same(monkeypatch, vocab, kind):
    docs, calls = make_docs(vocab, [5, 0, 30]), []
    fast, reference = build_kind(kind, vocab), build_kind(kind, vocab)
    forward = mixedembed.forward

    def spy(*args):
        calls.append(args)
        return forward(*args)

    monkeypatch.setattr(mixedembed, "forward", spy)
    Ys, backprop = fast.begin_update(docs)
    assert len(calls) == 1
    expected, backprop_reference = forward_reference(reference, docs, True)
    for Y, Y_reference in zip(Ys, expected, strict=True):
        assert_close(Y, Y_reference)
    dYs = make_gradient(Ys)
    backprop(dYs)
    backprop_reference(dYs)
    assert_gradients_close(get_gradients(fast), get_gradients(reference))


@pytest.mark.parametrize("hasher", ["md5", "lsh"])
def test_rows_are_found_in_folded_tables(vocab, hasher):
    model, docs = build(vocab, (hasher, "emb"), ("md5", "add")), make_docs(vocab, [400])
    expected = embed_plainly(model, docs[0])
    assert_close(model.predict(docs)[0], expected)
    assert get_kept(model.attrs["plan"]).F.shape == (11, 3 * 6)


def test_what_has_nothing_to_fold_waits_for_nobody(vocab, docs):
    """Such as for another model that is folded by another thread."""
    model = build(vocab, ("md5", "proj"))
    compressor = get_compressors(model)[0]
    compressor._func = partial(compressor._func)  # of which nobody knows what it does
    with derived_lock, ThreadPoolExecutor(1) as pool:
        Ys = pool.submit(model.predict, docs).result(timeout=60)
    assert [len(Y) for Y in Ys] == [len(doc) for doc in docs]


@pytest.mark.parametrize("part", ["hasher", "compressor"])
def test_what_somebody_has_wrapped_is_not_folded(vocab, docs, part):
    model = build(vocab, ("md5", "emb"))
    expected = model.predict(docs)
    (_, hasher), (emb,) = find_hashers(model)[0], get_compressors(model)
    calls = note_calls(hasher if part == "hasher" else emb)
    copied = model.copy()
    for Y, Y_expected in zip(copied.predict(docs), expected, strict=True):
        assert_close(Y, Y_expected)
    assert len(calls) == 1
    assert get_kept(copied.attrs["plan"]) is None


def test_attributes_that_are_not_set_are_empty_text(vocab):
    model = build(vocab, ("lsh", "proj"), attrs=["LEMMA"], maxout_pieces=None)
    (Y,) = model.predict([Doc(vocab, words=["a", "b"])])
    assert not Y.any()
    (Y,) = model.predict([Doc(vocab, words=["a", "b"], lemmas=["c", "d"])])
    assert not np.array_equal(Y[0], Y[1])


def test_words_may_be_the_names_of_symbols(vocab):
    """spaCy's numbers for these are small ones, and no hashes."""
    model = build(vocab, ("lsh", "proj"), attrs=["ORTH"])
    words = ["NORM", "IS_ALPHA", "ID", "nsubj", "NOUN", "norm"]
    (together,) = model.predict([Doc(Vocab(), words=words)])
    alone = [model.predict([Doc(Vocab(), words=[word])])[0] for word in words]
    assert_close(together, np.vstack(alone))
    assert len(np.unique(together.round(4), axis=0)) == len(words)


# What is hashed


@pytest.mark.parametrize("is_train", [False, True])
@pytest.mark.parametrize("maxout_pieces", [None, 3])
def test_words_are_hashed_once_and_not_again(vocab, is_train, maxout_pieces):
    model = make(("lsh", "proj"), attrs=["ORTH"], maxout_pieces=maxout_pieces)
    model.initialize()
    ((_, hasher),) = find_hashers(model)
    given_words = note_calls(hasher)
    docs = [Doc(vocab, words=words.split()) for words in ("a B a", "B c", "a")]
    model(docs, is_train)
    model([*docs, Doc(vocab, words=["d", "a"])], is_train)
    assert [sorted(words) for words in given_words if words] == [["B", "a", "c"], ["d"]]


# What prediction keeps


def spy_on_products(monkeypatch) -> list[tuple[int, int]]:
    """Note of how many words of which columns products to keep are computed."""
    computed, multiply = [], mixedembed._multiply

    def spy(mixer, folded, i, keys):
        if mixer.columns[i].is_kept:
            computed.append((i, len(keys)))
        return multiply(mixer, folded, i, keys)

    monkeypatch.setattr(mixedembed, "_multiply", spy)
    return computed


@both_paths
@pytest.mark.parametrize("kind", MIXED)
def test_only_new_words_are_embedded(vocab, kind, kernels, monkeypatch):
    model, computed = build_kind(kind, vocab), spy_on_products(monkeypatch)
    n_columns = len(find_hashers(model))
    texts = [["a", "bb", "a"], ["bb"], ["a", "Zürich", "bb"]]
    docs = [Doc(vocab, words=words) for words in texts]
    other, columns = build_kind(kind, vocab), range(n_columns)
    with compiled.using(kernels):
        for doc in docs:
            assert_close(model.predict([doc])[0], embed_plainly(other, doc))
    assert computed == [(i, 2) for i in columns] + [(i, 1) for i in columns]


def test_of_many_tokens_nothing_is_kept(vocab):
    model = build(vocab)
    model.predict(make_docs(vocab, [mixedembed.FEW_TOKENS + 1]))
    assert get_kept(model.attrs["plan"]).ready.products._kept is None


def change_hashers(model, docs):
    for _, hasher in find_hashers(model):
        if "lsh_seed" in hasher.attrs:
            hasher.attrs["lsh_seed"] = 5
        else:
            hasher.attrs["md5_key"] = "another"


def replace_hashers(model, docs):
    for _, hasher in find_hashers(model):
        other = hasher.copy()
        change = {"lsh_seed": 6} if "lsh_seed" in other.attrs else {"md5_key": "other"}
        other.attrs.update(change)
        model.replace_node(hasher, other)


@pytest.mark.parametrize("change", [*CHANGES, change_hashers, replace_hashers])
@pytest.mark.parametrize("kind", ["md5, pool", "lsh, emb", "vectors"])
def test_what_is_kept_is_never_stale(vocab, kind, change):
    model, docs = build_kind(kind, vocab), make_docs(vocab, [6, 1])
    for _ in range(2):
        before = np.concatenate(model.predict(docs))
        assert len(get_kept(model.attrs["plan"]).ready.kept) > 0
        change(model, docs)
        after = model.predict(docs)
        for doc, Y in zip(docs, after, strict=True):
            assert_close(Y, embed_plainly(model, doc))
    if change not in (change_hashers, replace_hashers):  # to the same ones again
        assert not np.allclose(np.concatenate(after), before, atol=1e-3)


@pytest.mark.parametrize("megabytes", [0, 0.01])
def test_memory_is_bounded_with_that_of_folded_tables(vocab, megabytes, monkeypatch):
    monkeypatch.setenv(folding.LIMIT_NAME, str(megabytes))
    model, other = build(vocab), build(vocab)
    for i in range(30):
        doc = Doc(vocab, words=[f"w{i}", "a", f"x{i}"])
        assert_close(model.predict([doc])[0], embed_plainly(other, doc))
    folded = get_kept(model.attrs["plan"])
    assert (folded is None) == (megabytes == 0)
    if folded is not None:
        n_bytes = folded.F.nbytes + folded.ready.products._kept.codes.nbytes
        assert n_bytes <= 1e6 * megabytes


# Parameters, saved and learned


@pytest.mark.parametrize(
    ("compressor", "count"),
    [
        (EmbCompressor(rows=50_260), 50_260),
        (PoolCompressor(), 13 + 1024),
        (AddCompressor(), 256),
        (ProjCompressor(), 128),
    ],
)
def test_parameters_are_those_of_the_paper(compressor, count):
    """For each dimension of the output."""
    arguments = of_one(MD5Hasher(), compressor)
    model = HashFormerEmbed(**arguments, maxout_pieces=None).initialize()
    sizes = [node.get_param(name).size for node, name in get_weights(model)]
    assert sum(sizes) == count * PLAIN["width"]


def test_any_layer_of_thincs_may_compress_bits(vocab, docs):
    model = HashFormerEmbed(
        width=6,
        attrs=["NORM", "SHAPE"],
        hashers={"NORM": MD5Hasher(), "SHAPE": HASHERS["lsh"]()},
        compressors={"NORM": Linear(nO=4), "SHAPE": Linear()},
        include_static_vectors=False,
    ).initialize(X=docs)
    assert [n.get_dim("nO") for n in get_nodes(model, "linear")] == [4, 6]
    assert [n.get_dim("nI") for n in get_nodes(model, "linear")] == [128, 128]
    for doc, Y in zip(docs, model.predict(docs), strict=True):
        assert Y.shape == (len(doc), 6)
    update(model, docs, make_gradient(model.predict(docs)))
    assert all(node.get_grad("W").any() for node in get_nodes(model, "linear"))


# What is refused


PLAIN = {"width": 6, "attrs": ATTRS, "include_static_vectors": False}


def of_one(hasher: Model, compressor: Model) -> dict[str, Any]:
    parts = {"hashers": {"NORM": hasher}, "compressors": {"NORM": compressor}}
    return {**PLAIN, "attrs": ["NORM"], **parts}


def make_one(hasher: Model, compressor: Model) -> Model:
    return HashFormerEmbed(**of_one(hasher, compressor))


#: Of which the n-grams of one attribute would be those of the other.
SHARED = dict.fromkeys(ATTRS, LSHHasher())
#: Of which a config has lost the names.
NAMELESS = {attr: {"num_bits": 5} for attr in ATTRS}
MANY_ROWS = 2**20 + 1


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"maxout_pieces": None}, r"'maxout_pieces' should be a number .* 3 vectors"),
        ({"attrs": []}, r"'attrs' should be a list of token attributes"),
        ({"attrs": ["NORM", "IS_ALPHA", "SUFFIX"]}, r"holds IS_ALPHA, which.*no text"),
        ({"attrs": ["NORM", "norm", "SUFFIX"]}, r"each attribute once, but.*NORM, NO"),
        ({"attrs": ["NORM"]}, r"'hashers'.*each of 'attrs' \(NORM\), but has NORM, S"),
        ({"hashers": {}}, r"'hashers' should have a block .* but has none"),
        ({"compressors": {"NORM": 1}}, r"'compressors' should have a block"),
        ({"compressors": {"NORM": ProjCompressor()}}, r"'compressors' .*but has NORM"),
        ({"hashers": ["NORM"]}, r"'hashers' should be a block for each of 'attrs'"),
        ({"compressors": ["NORM"]}, r"'compressors' should be a block for each of 'at"),
        ({"hashers": NAMELESS}, r"'hashers.NORM' should be a layer.* type dict"),
        (
            {"compressors": NAMELESS},
            r"'compressors.NORM' should be a layer.* type dict",
        ),
        ({"hashers": SHARED}, r"'hashers' .* own .* but has one twice"),
        ({"compressors": SHARED}, r"'compressors' .* own .* but has one twice"),
        (
            of_one(ProjCompressor(), ProjCompressor()),
            r"'hashers.NORM' should be MD5Hasher or LSHHasher.* layer 'projcompressor'",
        ),
        (
            of_one(LSHHasher(), MD5Hasher()),
            r"'compressors.NORM' .* but is a layer 'md5hasher'",
        ),
        (
            of_one(LSHHasher(), EmbCompressor(rows=MANY_ROWS)),
            r"'rows' should be 1 to 1048576 where LSH",
        ),
    ],
)
def test_bad_arguments_are_refused_when_built(changes, error):
    arguments = {
        **PLAIN,
        "hashers": {attr: MD5Hasher() for attr in ATTRS},
        "compressors": {attr: ProjCompressor() for attr in ATTRS},
    }
    with pytest.raises((ValueError, TypeError), match=error):
        HashFormerEmbed(**{**arguments, **changes})


def test_md5_may_have_more_rows():
    model = make_one(MD5Hasher(), EmbCompressor(rows=MANY_ROWS))
    (hasher,) = get_nodes(model, "md5hasher")
    assert hasher.get_dim("nV") == MANY_ROWS


@pytest.mark.parametrize("n_vocabs", [1, 2])
def test_words_whose_texts_nobody_knows_are_refused(vocab, n_vocabs):
    doc = Doc(vocab, words=["a"]).from_array(["NORM"], np.array([[2**63]], "uint64"))
    docs = [doc, *(Doc(Vocab(), words=["b"]) for _ in range(n_vocabs - 1))]
    with pytest.raises(ValueError, match=r"does not know the text.*strings\.add"):
        build(vocab).predict(docs)


def test_a_word_with_a_row_that_the_vectors_have_not_is_refused():
    damaged = make_vocab()
    docs = make_docs(damaged, [9])
    model = build(damaged, include_static_vectors=True)
    model.predict(docs)
    n_rows = len(damaged.vectors.data)
    damaged.vectors.key2row[docs[0][0].orth] = n_rows
    with pytest.raises(ValueError, match=rf"have {n_rows} rows, but a word.*the saved"):
        model.predict(docs)


@pytest.mark.parametrize("rows", [0, 128, 2**40, "x" * 1000])
@pytest.mark.parametrize("is_kept", [False, True])
def test_rows_that_arrive_in_place_of_bits_are_refused(vocab, rows, is_kept):
    model = make_one(LSHHasher(max_ngrams=None), ProjCompressor()).initialize()
    ((_, hasher),) = find_hashers(model)
    docs = make_docs(vocab, [5])
    if is_kept:
        model.predict(docs)
    hasher.set_dim("nV", rows)
    with pytest.raises(ValueError, match=r"'nV' of layer 'lsh.* None, but is") as error:
        model.predict(docs)
    assert len(str(error.value)) < 300
