"""Layers of the papers and their gradients, compared with their definitions."""

import numpy as np
import pytest
from thinc.api import Model, NumpyOps, fix_random_seed

from spacy_hashembeds.hashing.murmur import find_rows
from spacy_hashembeds.layers.vocabulary import Symbols, assign_symbols
from spacy_hashembeds.papers.hash_embeddings.batchnorm import BatchNorm
from spacy_hashembeds.papers.hash_embeddings.weightedhashembed import (
    COMBINE,
    WeightedHashEmbed,
)
from spacy_hashembeds.papers.hashformers.compressors import (
    AddCompressor,
    EmbCompressor,
    PoolCompressor,
    ProjCompressor,
)
from spacy_hashembeds.papers.why_attention.charcnn import (
    N_ROWS,
    CharCNN,
    encode_types,
    find_character_rows,
)

from .definitions import assert_is_defined_by, randomize

# Importance-weighted hash embeddings

IDS = np.array([3, 7, 40, 3, 2**63 + 5, 0, 2**64 - 1], dtype="uint64")


def hash_ids(ids, *, num_hashes, rows) -> np.ndarray:
    keys = np.array(ids, dtype="uint64")
    return find_rows(NumpyOps(), keys, seed=9, num_hashes=num_hashes, rows=rows)


@pytest.mark.parametrize("num_hashes", [1, 5])
@pytest.mark.parametrize("combine", COMBINE)
@pytest.mark.parametrize("append_weights", [False, True])
@pytest.mark.parametrize("same_hash", [False, True])
def test_weighted_hashes(num_hashes, combine, append_weights, same_hash):
    """Outputs are the paper's ê, or ê ⊕ p if weights are appended."""

    def define(ids, E, P):
        vectors = []
        for key in ids:
            row = hash_ids([key], num_hashes=num_hashes + 1, rows=len(P))[0, -1]
            hashed = [row if same_hash else key]
            (rows,) = hash_ids(hashed, num_hashes=num_hashes, rows=len(E))
            weighted = [p * E[i] for p, i in zip(P[row], rows, strict=True)]
            vector = sum(weighted) if combine == "sum" else np.concatenate(weighted)
            vectors.append(np.append(vector, P[row]) if append_weights else vector)
        return np.array(vectors)

    options = {"combine": combine, "append_weights": append_weights, "seed": 9}
    options |= {"num_hashes": num_hashes, "same_hash": same_hash}
    model = randomize(WeightedHashEmbed(4, 6, nK=11, **options).initialize())
    assert_is_defined_by(define, model, IDS)
    model.attrs["append_weights"] = not append_weights  # another width
    with pytest.raises(ValueError, match="'combine'"):
        model.predict(IDS)


@pytest.mark.parametrize("initial_weight", [0.0, 1.0])
def test_initial_weights(initial_weight):
    fix_random_seed(0)
    options = {"initial_weight": initial_weight, "seed": 9}
    P = WeightedHashEmbed(4, 6, nK=5000, **options).initialize().get_param("P")
    found = [P.mean(), P.std()]
    np.testing.assert_allclose(found, [initial_weight, 0.0005], atol=2e-5)


@pytest.mark.parametrize("same_hash", [False, True])
def test_symbols_have_weights_and_other_keys_share_them(same_hash):
    model = WeightedHashEmbed(4, 6, nK=None, key="NORM", seed=9, same_hash=same_hash)
    assign_symbols(model, Symbols(np.array([40, 3, 2**63 + 5], dtype="uint64")))
    model.initialize().set_param("P", np.arange(8, dtype="f").reshape(4, 2))
    E, P = model.get_param("E"), model.get_param("P")
    places = np.array([1, 0, 2, 1, 3, 0, 0])  # in ascending order, unknown 0
    rows = hash_ids(places if same_hash else IDS, num_hashes=2, rows=6)
    expected = (E[rows] * P[places][..., None]).sum(axis=1)
    np.testing.assert_allclose(model.predict(IDS), expected, atol=1e-6)


# Batch normalization


def make_numbers(n) -> np.ndarray:
    X = np.random.default_rng(n).normal(size=(n, 3)) * [1, 20, 0.1] + [0, 5, -1]
    return X.astype("f")


def build_batchnorm() -> tuple[Model, list[np.ndarray]]:
    """Return a trained layer and its running statistics."""
    model = BatchNorm(3).initialize()
    for name, value in zip("Gb", make_numbers(2), strict=True):
        model.set_param(name, value)
        model.begin_update(make_numbers(7))
    return model, [model.get_param(name).copy() for name in ("mean", "variance")]


@pytest.mark.parametrize(("n", "is_train"), [(5, True), (5, False), (1, True)])
def test_batch_normalization(n, is_train):
    """A batch of one row uses the running statistics, as in prediction."""
    model, running = build_batchnorm()
    is_batch = is_train and n > 1

    def define(X, G, b, **statistics):
        mean, variance = (X.mean(axis=0), X.var(axis=0)) if is_batch else running
        return (X - mean) / np.sqrt(variance + 1e-5) * G + b

    X = make_numbers(n)
    assert_is_defined_by(define, model, X, is_train=is_train, by_input=True)
    assert np.array_equal(model.get_param("mean"), running[0]) != is_batch


def test_the_running_variance_is_unbiased():
    """Each batch has the weight 0.1."""
    model = BatchNorm(3).initialize()
    model.begin_update(np.array([[1, 0, 5], [3, 0, 9]], dtype="f"))
    np.testing.assert_allclose(model.get_param("mean"), [0.2, 0, 0.7])
    np.testing.assert_allclose(model.get_param("variance"), [1.1, 0.9, 1.7])


# Compressors: one dimension of a code

N_BITS, N_ROWS_OF_EMB = 11, 7


def find_emb(code, d, *, E) -> float:
    return E[int(code[0]), d]


def find_pool(code, d, *, E, W) -> float:
    chunks = [code[start : start + 4] for start in range(0, len(code), 4)]
    words = [int("".join(str(int(bit)) for bit in chunk), 2) for chunk in chunks]
    weights = np.exp(W[:, d]) / np.exp(W[:, d]).sum()
    return (E[words, d] * weights).sum()


def find_add(code, d, *, E) -> float:
    return sum(E[j, int(bit), d] for j, bit in enumerate(code)) / np.sqrt(len(code))


def find_proj(code, d, *, W) -> float:
    return 0.0 if len(set(code)) == 1 else np.corrcoef(code, W[d])[0, 1]


@pytest.mark.parametrize("n", [0, 1, 12])
@pytest.mark.parametrize(
    ("make", "find", "size"),
    [
        (lambda: EmbCompressor(rows=N_ROWS_OF_EMB), find_emb, N_ROWS_OF_EMB),
        (lambda: PoolCompressor(num_bits=4), find_pool, 2**4 + 3),
        (AddCompressor, find_add, 2 * N_BITS),
        (ProjCompressor, find_proj, N_BITS),
    ],
)
def test_compressors(make, find, size, n):
    """Check equations and the number of parameters per dimension."""
    model = make()
    model.set_dim("nO", 3)
    if model.has_dim("nI") is None:
        model.set_dim("nI", N_BITS)
    randomize(model.initialize())
    assert sum(model.get_param(name).size for name in model.param_names) == 3 * size
    codes = np.random.default_rng(n).integers(2, size=(n, N_BITS)).astype("f")
    codes[:2] = np.array([[0], [1]])[:n]  # zero correlation
    if find is find_emb:
        codes = np.arange(n, dtype="uint32")[:, None] % N_ROWS_OF_EMB

    def define(codes, **params) -> np.ndarray:
        rows = [[find(code, d, **params) for d in range(3)] for code in codes]
        return np.array(rows).reshape(n, 3)

    assert_is_defined_by(define, model, codes)


# Convolutions over characters

WORDS = ["Hello", "a", "U.S.", "żółw", "aaa", "", "中文字", "ab-ab12", "a", "a\ud800"]


def encode(word) -> np.ndarray:
    return np.array([ord(char) for char in word], dtype="uint32")


def convolve(words, *, E, b, **kernels) -> np.ndarray:
    """Convolve word by word, for at most five characters."""
    Y = np.zeros((len(words), len(b)))
    for i, word in enumerate(words):
        codes = encode(word[:5])
        X = np.hstack([E[find_character_rows(codes)].sum(axis=1), encode_types(codes)])
        found = []
        for W in kernels.values():
            padded = np.vstack([X, np.zeros((W.shape[1], X.shape[1]))])
            windows = [padded[start : start + W.shape[1]] for start in range(len(X))]
            found += [[(w * kernel).sum() for w in windows] for kernel in W]
        if word:
            Y[i] = np.max(found, axis=1) + b
    return Y


@pytest.mark.parametrize(
    ("words", "sizes"), [([], (3, 2, 3)), (WORDS, (1, 1, 1)), (WORDS[::-1], (2, 3, 4))]
)
def test_convolutions_over_characters(words, sizes):
    nM, num_kernels, ngram_size = sizes
    model = CharCNN(nM, num_kernels=num_kernels, ngram_size=ngram_size, max_chars=5)
    randomize(model.initialize())
    is_used = np.zeros(model.get_param("E").shape, dtype=bool)
    is_used[find_character_rows(encode("".join(word[:5] for word in words)))] = True
    assert_is_defined_by(convolve, model, words, E=is_used)


def test_characters_have_distinct_rows():
    rows = find_character_rows(np.arange(0x110000, dtype="uint32"))
    assert rows.dtype == "uint32"
    pairs = rows[:, 0].astype("uint64") * N_ROWS + rows[:, 1]
    assert len(np.unique(pairs)) == len(pairs)
    assert rows[:, 0].max() < rows[:, 1].min() <= rows.max() == N_ROWS - 1
    # saved weights depend on them
    expected = [[97, 1153], [1046, 2102], [1005, 2043], [736, 1671]]
    assert rows[encode("aЖ中😀")].tolist() == expected


def test_types_of_characters():
    kinds = [
        "AZÄЖΩ",
        "azßжω",
        "09٣३",
        ".,-\"'()#@_“”¿。«$+<=>^`|~",
        " \n中あ²½€😀\u0301\0",
    ]
    for column, chars in enumerate(kinds):
        types = encode_types(encode(chars))
        assert (types == np.eye(5, 4)[column]).all()
        assert (types.shape, types.dtype) == ((len(chars), 4), "float32")
