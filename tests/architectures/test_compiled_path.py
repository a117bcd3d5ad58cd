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

#: Those of which no kernel embeds a column.
OTHERS = [name for name in BUILDERS if "side by side" in name]


def predict(model, docs):
    return np.concatenate(model.predict(docs))


@pytest.mark.parametrize("n_tokens", [1, 5, 700])
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
    with compiled.using(again := Noted(KERNELS)):
        predict(model, docs)
    assert name in OTHERS or again.names[0] == "FoldedColumns", (
        "the first ones' is kept"
    )
    if name in OTHERS:
        assert "finish_rows" in noted.names
        assert "embed_folded" not in noted.names
    elif "subwords" in name or "vectors" in name:
        # their products are summed for the kernel
        assert {"gather_sums", "embed_folded"} <= set(noted.names[first:])
        assert "finish_rows" not in noted.names[first:]
    else:
        assert noted.names[first:] == ["embed_folded"]


def change_seeds(model):
    for node in get_nodes(model, "hashembed"):
        node.attrs["seed"] += 1


def change_symbols(model):
    for node in get_nodes(model, "symbolembed"):
        n = len(node.attrs["symbols"])
        node.attrs["symbols"] = np.arange(n, dtype="uint64")


def change_what_hashes(model):
    for node in get_nodes(model, "weightedhashembed"):
        node.attrs["same_hash"] = True


@pytest.mark.parametrize(
    ("build", "change"),
    [
        (build_hash, change_seeds),
        (build_lookup, change_symbols),
        (build_weighted, change_what_hashes),
    ],
)
def test_attributes_that_change_are_seen(vocab, build, change):
    """Though the weights, and so the folded tables, stay."""
    model, docs = build(vocab), make_docs(vocab)
    with compiled.using(KERNELS):
        before = predict(model, docs)
        folded = get_kept(model.attrs["plan"])
        change(model)
        after = predict(model, docs)
        assert get_kept(model.attrs["plan"]) is folded
    with compiled.using(None):
        assert_close(after, predict(model, docs))
    assert not np.allclose(after, before)


SYMBOLS = np.arange(3, dtype="uint64")


@pytest.mark.parametrize(
    "finder",
    [
        (None, 0, 0, 5, 9),
        (None, 0, 0, 1, 10**6),
        (SYMBOLS, 4 * 10**9, 0, 1, 0),
        (np.arange(10**6, dtype="uint64"), 0, 0, 1, 0),
        (SYMBOLS, 0, 0, 1, 10**6),
        (SYMBOLS, 4, 0, 1, 6),
    ],
)
def test_rows_that_no_table_has_are_refused(finder):
    with pytest.raises(ValueError, match="don't fit each other"):
        KERNELS.FoldedColumns([(9, finder, None)])


@pytest.mark.parametrize(
    ("shape", "finder"),
    [
        ((9, 3), (None, 0, 0, 1, 9)),
        ((9, 1), (None, 0, 0, 1, 9)),
        ((9, 2), (None, 0, 0, 1, 10)),
        ((9, 2), (None, 0, 0, 5, 9)),
        ((3, 2), (SYMBOLS, 0, 0, 1, 0)),
        # of which a symbol has no second row
        ((9, 2), (SYMBOLS, 0, 0, 2, 0)),
        ((9, 2), (SYMBOLS, 3, 0, 2, 6)),
    ],
)
def test_weights_that_no_table_has_are_refused(shape, finder):
    weights = (np.ones(shape, "f"), finder, False)
    with pytest.raises(ValueError, match="don't fit each other"):
        KERNELS.FoldedColumns([(4, (None, 0, 0, 2, 4), weights)])


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


def lay_symbols(model, lay):
    for node in get_nodes(model, "symbolembed", "weightedhashembed"):
        node.attrs["symbols"] = lay(node.attrs["symbols"])


def lay_by_column(model):
    for node in get_nodes(model, "weightedhashembed"):
        node.set_param("P", np.asfortranarray(node.get_param("P")))


def lay_with_gaps(model):
    lay_symbols(model, lambda X: np.repeat(X, 2)[::2])


def lay_misaligned(model):
    lay_symbols(model, misalign)


@pytest.mark.parametrize(
    ("build", "lay"),
    [
        (build_weighted, lay_by_column),
        (build_weighted, lay_with_gaps),
        (build_lookup, lay_with_gaps),
        (build_lookup, lay_misaligned),
    ],
)
def test_what_lies_otherwise_in_memory_is_copied_for_kernels(vocab, build, lay):
    model, docs = build(vocab), make_docs(vocab)
    with compiled.using(None):
        expected = predict(model, docs)
    lay(model)
    with compiled.using(noted := Noted(KERNELS)):
        assert_close(predict(model, docs), expected)
    assert "embed_folded" in noted.names
