"""Rows of their own for symbols, hashed ones for the rest: what no other table does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from thinc.api import Model, NumpyOps

from spacy_hashembeds.layers.hybridembed import HybridEmbed
from spacy_hashembeds.layers.symboltaker import Symbols, give_symbols

FREQUENT = np.array([900, 3, 2**63 + 5, 40], dtype="uint64")
RARE = np.arange(1000, 1020, dtype="uint64")
IDS = np.array([3, 1004, 40, 3, 2**63 + 5, 0, 2**64 - 1, 1019], dtype="uint64")


def build(rows=12, frequent=FREQUENT, rare=RARE, **options) -> Model:
    model = HybridEmbed(3, rows, **{"key": "NORM", "seed": 9, **options})
    give_symbols(model, Symbols(frequent, rare))
    return model.initialize()


def hash_plainly(model, key, n):
    """The hashed rows of a key, as the docstring has them."""
    attrs, h = model.attrs, model.get_dim("nV") - n
    hashes = NumpyOps().hash(np.array([key], dtype="uint64"), attrs["seed"])[0]
    return [n + int(x) % h for x in hashes[: attrs["num_hashes"]]]


@given(
    frequent=hnp.arrays("uint64", st.integers(0, 8), unique=True),
    num_hashes=st.integers(1, 4),
    seed=st.sampled_from([0, 8, 9, 2**32 - 1]),
    data=st.data(),
)
def test_it_is_its_definition(frequent, num_hashes, seed, data):
    rare = data.draw(hnp.arrays("uint64", st.integers(1, 30), unique=True))
    rare = np.setdiff1d(rare, frequent)
    if not len(rare):
        return
    rows = len(frequent) + data.draw(st.integers(1, 20))
    model = build(rows, frequent, rare, num_hashes=num_hashes, seed=seed)
    E, n = model.get_param("E"), len(frequent)
    assert n < len(E) <= rows
    # the value of a symbol says which row is its own
    expected = E[np.searchsorted(np.sort(frequent), frequent)]
    np.testing.assert_array_equal(model.predict(frequent), expected)
    # what is in no corpus is hashed as what is rare is
    others = np.setdiff1d(np.append(rare, np.uint64(2**64 - 1)), frequent)
    expected = np.array([E[hash_plainly(model, key, n)].sum(axis=0) for key in others])
    np.testing.assert_allclose(model.predict(others), expected, atol=1e-6)
    Y, backprop = model.begin_update(np.concatenate([frequent, rare]))
    dY = np.random.default_rng(0).normal(size=Y.shape).astype("f")
    backprop(dY)
    dE = np.zeros(E.shape)
    dE[np.searchsorted(np.sort(frequent), frequent)] = dY[:n]
    for key, d_sum in zip(rare, dY[n:], strict=True):
        for row in hash_plainly(model, key, n):
            dE[row] += d_sum
    np.testing.assert_allclose(model.get_grad("E"), dE, atol=1e-5)
    assert dE.any(axis=1).all(), "a row is not trained"


def test_rows_that_rare_symbols_do_not_reach_are_left_out():
    assert build(12).get_dim("nV") == 12
    large = build(5000)
    n_hashed = large.get_dim("nV") - len(FREQUENT)
    assert 5 < n_hashed <= 2 * len(RARE)
    reached = {row for key in RARE for row in hash_plainly(large, key, len(FREQUENT))}
    assert reached == set(range(len(FREQUENT), large.get_dim("nV")))


def test_bytes_hold_the_symbols_once():
    assert build().to_bytes().count(np.sort(FREQUENT).tobytes()) == 1


def test_too_few_rows_for_the_symbols_are_refused():
    match = (
        r"'rows' gives the table for NORM 4 rows, but 4 symbols .*"
        r"'min_freq' higher, or the rows for NORM to 5 or more"
    )
    with pytest.raises(ValueError, match=match):
        build(4)


def test_rare_symbols_must_be_known():
    match = r"table for NORM needs the rare symbols .*'tables'.* hashembeds tables`"
    with pytest.raises(ValueError, match=match):
        build(rare=None)


def test_a_row_that_is_never_trained_is_warned_of():
    match = r"Each NORM of the corpus has a row .* never trained.*'min_freq' higher"
    with pytest.warns(UserWarning, match=match):
        model = build(rare=RARE[:0])
    assert model.get_dim("nV") == len(FREQUENT) + 1
    assert model.predict(IDS).shape == (len(IDS), 3)


def test_symbols_that_make_another_table_are_refused_once_initialised():
    model = build()
    give_symbols(model, Symbols(FREQUENT, RARE))
    with pytest.raises(
        ValueError, match=r"initialised with 12 rows .* 2 symbols, which need 9"
    ):
        give_symbols(model, Symbols(FREQUENT[:2], RARE[:7]))
    with pytest.raises(ValueError, match=r"symbols for NORM should be distinct"):
        give_symbols(model, Symbols(np.array([3, 3], "uint64"), RARE))
