"""Embedders on compiled kernels: that these are used, and what they compute."""

from weakref import ref

import numpy as np
import pytest
from thinc.api import fix_random_seed

from spacy_hashembeds.kernels import compiled

from ..kernels.paths import KERNELS, Noted, misalign, needs_kernels
from ..layers.plans import get_kept
from ..toy_embedders import (
    BUILDERS,
    assert_close,
    build_hash,
    build_lookup,
    build_weighted,
    get_nodes,
    make_docs,
)

pytestmark = needs_kernels


def predict(model, docs):
    return np.concatenate(model.predict(docs))


@pytest.mark.parametrize("n_tokens", [1, 700])
@pytest.mark.parametrize("name", BUILDERS)
def test_predictions_are_those_of_numpy(vocab, name, n_tokens):
    fix_random_seed(0)
    model, docs = BUILDERS[name](vocab), make_docs(vocab, [n_tokens, 0, 2])
    with compiled.using(None):
        expected = predict(model, docs)
    with compiled.using(noted := Noted(KERNELS)):
        assert_close(predict(model, docs), expected)
        first = len(noted.names)
        assert_close(predict(model, docs), expected)
    again = noted.names[first:]
    assert "FoldedColumns" not in again, "what describes the tables is kept"
    if "side by side" in name:  # no kernel embeds such a column
        assert "finish_rows" in again
        assert "embed_folded" not in again
    elif "subwords" in name or "vectors" in name:
        # their products are summed for the kernel
        assert {"gather_sums", "embed_folded"} <= {*again}
        assert "finish_rows" not in again
    else:
        assert again == ["embed_folded"]


def change_attributes(model):
    for node in get_nodes(model, "hashembed"):
        node.attrs["seed"] += 1
    for node in get_nodes(model, "symbolembed"):
        n = len(node.attrs["symbols"])
        node.attrs["symbols"] = np.arange(n, dtype="uint64")
    for node in get_nodes(model, "weightedhashembed"):
        node.attrs["same_hash"] = True


@pytest.mark.parametrize("build", [build_hash, build_lookup, build_weighted])
def test_attributes_that_change_are_seen(vocab, build):
    """Though the weights, and so the folded tables, stay."""
    model, docs = build(vocab), make_docs(vocab)
    with compiled.using(KERNELS):
        before = predict(model, docs)
        folded = get_kept(model.attrs["plan"])
        change_attributes(model)
        after = predict(model, docs)
        assert get_kept(model.attrs["plan"]) is folded
    with compiled.using(None):
        assert_close(after, predict(model, docs))
    assert not np.allclose(after, before)


SYMBOLS = np.arange(3, dtype="uint64")
HASHED = (None, 0, 0, 2, 4)


@pytest.mark.parametrize(
    ("shape", "finder"),
    [
        (None, (None, 0, 0, 5, 9)),
        (None, (None, 0, 0, 1, 10**6)),
        (None, (SYMBOLS, 4 * 10**9, 0, 1, 0)),
        (None, (np.arange(10**6, dtype="uint64"), 0, 0, 1, 0)),
        (None, (SYMBOLS, 0, 0, 1, 10**6)),
        (None, (SYMBOLS, 4, 0, 1, 6)),
        # of weights, for two rows of each key
        ((9, 3), (None, 0, 0, 1, 9)),
        ((9, 1), (None, 0, 0, 1, 9)),
        ((9, 2), (None, 0, 0, 1, 10)),
        ((9, 2), (None, 0, 0, 5, 9)),
        ((3, 2), (SYMBOLS, 0, 0, 1, 0)),
        ((9, 2), (SYMBOLS, 0, 0, 2, 0)),
        ((9, 2), (SYMBOLS, 3, 0, 2, 6)),
    ],
)
def test_rows_and_weights_that_no_table_has_are_refused(shape, finder):
    column = (9, finder, None)
    if shape is not None:
        column = (4, HASHED, (np.ones(shape, "f"), finder, False))
    with pytest.raises(ValueError, match="don't fit each other"):
        KERNELS.FoldedColumns([column])


def test_columns_of_another_table_are_refused():
    columns = KERNELS.FoldedColumns([(n, (None, 0, 0, 1, n), None) for n in (3, 4)])
    keys, norm = np.ones((2, 2), "uint64"), np.ones((3, 4), "f")
    F = np.ones((7, 4), "f")
    assert KERNELS.embed_folded(F, columns, keys, norm).shape == (2, 4)
    for others in ((F[1:], keys), (F, keys[:, :1].copy())):
        with pytest.raises(ValueError, match="don't fit each other"):
            KERNELS.embed_folded(others[0], columns, others[1], norm)


def test_the_memory_of_symbols_and_weights_is_held():
    """As long as a kernel is told where it is."""
    symbols, P = np.arange(3, dtype="uint64"), np.ones((4, 1), "f")
    held, finder = (ref(symbols), ref(P)), (symbols, 0, 0, 1, 0)
    columns = KERNELS.FoldedColumns([(4, finder, (P, finder, False))])
    del symbols, P, finder
    assert all(each() is not None for each in held)
    del columns
    assert all(each() is None for each in held)


@pytest.mark.parametrize("build", [build_weighted, build_lookup])
@pytest.mark.parametrize("lay", [misalign, lambda X: np.repeat(X, 2)[::2]])
def test_what_lies_otherwise_in_memory_is_copied_for_kernels(vocab, build, lay):
    model, docs = build(vocab), make_docs(vocab)
    with compiled.using(None):
        expected = predict(model, docs)
    for node in get_nodes(model, "symbolembed", "weightedhashembed"):
        node.attrs["symbols"] = lay(node.attrs["symbols"])
    for node in get_nodes(model, "weightedhashembed"):
        node.set_param("P", np.asfortranarray(node.get_param("P")))
    with compiled.using(noted := Noted(KERNELS)):
        assert_close(predict(model, docs), expected)
    assert "embed_folded" in noted.names
