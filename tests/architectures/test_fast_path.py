"""The fast path against the reference, and invalidation of folded tables."""

import gc
import multiprocessing
import os
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest
from spacy.tokens import Doc
from thinc.api import Model, fix_random_seed, set_dropout_rate
from thinc.layers.chain import forward as forward_reference

from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.layers import checks, folding
from tests.masks import thincs_masks

from ..contract import REGISTERED
from ..kernels.paths import KERNELS, Noted, both_paths, misalign, needs_kernels
from ..layers.plans import get_cached
from ..toy_embedders import (
    ATTRS,
    BUILDERS,
    CHANGES,
    assert_close,
    assert_gradients_close,
    build_hash,
    get_gradients,
    get_nodes,
    get_weights,
    initialize,
    load,
    make_docs,
    make_gradient,
    make_vocab,
    note_calls,
    replace,
    train,
)

HASH_FORMERS = {
    f"hash former, {name}": lambda vocab, name=name: initialize(
        REGISTERED[f"HashFormerEmbed: {name}"].make(), vocab
    )
    for name in ("md5, emb", "several, vectors")
}
KINDS = BUILDERS | HASH_FORMERS


def build(kind, vocab) -> Model:
    fix_random_seed(0)
    return KINDS[kind](vocab)


def predict_reference(model, docs):
    Y, _ = forward_reference(model, docs, False)
    return np.concatenate(Y)


def predict(model, docs):
    return np.concatenate(model.predict(docs))


def is_folded(model) -> bool:
    return get_cached(model.attrs["plan"]) is not None


all_kinds = pytest.mark.parametrize("kind", KINDS)

#: Below, at and above the threshold of large batches.
LENGTHS = [[1], [255, 1], [256, 0, 1], [300, 40]]
all_lengths = pytest.mark.parametrize("lengths", LENGTHS)


@both_paths
@all_lengths
@all_kinds
def test_predictions_equal_the_reference(vocab, kind, lengths, kernels, monkeypatch):
    """Tables are plain or folded. Their descriptions for kernels are cached."""
    model, docs = build(kind, vocab), make_docs(vocab, lengths)
    expected = predict_reference(model, docs)
    with compiled.using(noted := kernels and Noted(kernels)):
        for limit in ("0", "256"):
            model.attrs["plan"] = folding.Fold()
            monkeypatch.setenv(folding.LIMIT_NAME, limit)
            assert_close(predict(model, docs), expected)
            assert is_folded(model) == (limit == "256")
        assert [len(Y) for Y in model.predict(docs)] == lengths
        first = len(noted.names) if kernels else 0
        assert_close(predict(model, docs), expected)
    if kernels:
        again = noted.names[first:]
        # no kernel for these columns
        is_by_numpy = "side by side" in kind or kind in HASH_FORMERS
        assert ("embed_folded" in again) != is_by_numpy
        assert ("finish_rows" in again) == is_by_numpy
        assert "FoldedColumns" not in again
        # products of other columns are summed for the kernel
        if not is_by_numpy and "subwords" not in kind and "vectors" not in kind:
            assert again == ["embed_folded"]


@both_paths
@all_lengths
@all_kinds
@pytest.mark.parametrize("drop", [0.0, 0.5])
def test_training_equals_the_reference(vocab, kind, kernels, lengths, drop):
    model, docs = build(kind, vocab), make_docs(vocab, lengths)
    set_dropout_rate(model, drop)
    dY = make_gradient(model.predict(docs))
    results, noted = [], kernels and Noted(kernels)
    for forward in (model._func, forward_reference):
        copied = model.copy()
        fix_random_seed(0)
        with compiled.using(noted), thincs_masks():
            for _ in range(2):  # the second time, gradients accumulate
                Y, backprop = forward(copied, docs, True)
                assert backprop([d.copy() for d in dY]) == []
        results.append((np.concatenate(Y), get_gradients(copied)))
    assert noted is None or {"begin_rows", "backprop_rows"} <= set(noted.names)
    (Y, grads), (expected_Y, expected_grads) = results
    assert_close(Y, expected_Y)
    assert_gradients_close(grads, expected_grads)


@pytest.mark.parametrize(
    "kind", ["vectors", "lookup", "weighted, symbols", *HASH_FORMERS]
)
@pytest.mark.parametrize("change", CHANGES)
def test_folded_tables_are_never_stale(kind, vocab, change):
    model, docs = build(kind, vocab), make_docs(vocab, [40])
    before = [predict(model, docs) for _ in range(3)][-1]
    assert is_folded(model)
    change(model, docs)
    expected = predict_reference(model, docs)
    assert not np.allclose(expected, before, atol=1e-3), "the change has no effect"
    for _ in range(3):
        assert_close(predict(model, docs), expected)
    assert is_folded(model), "should fold again once weights are stable"


@all_kinds
def test_changed_weights_of_any_layer_invalidate(vocab, kind):
    model, docs = build(kind, vocab), make_docs(vocab)
    for node, name in get_weights(model):
        before = [predict(model, docs) for _ in range(2)][-1]
        drawn = np.random.default_rng(1).normal(size=node.get_param(name).shape)
        node.set_param(name, drawn.astype("f"))
        after = predict(model, docs)
        assert_close(after, predict_reference(model, docs))
        assert not np.allclose(after, before, atol=1e-3), node.name


@both_paths
@pytest.mark.parametrize("is_undone", [False, True])
@pytest.mark.parametrize("stage", ["fold", "_make_state", "_multiply"])
def test_weights_set_during_prediction_in_another_thread_invalidate(
    vocab, stage, is_undone, kernels, monkeypatch
):
    """Weights may be restored before the stage ends, as in `use_params`."""
    model, docs = build("subwords, weighted", vocab), make_docs(vocab)
    compute, calls = getattr(folding, stage), []
    others = {(n.id, name): n.get_param(name) * -1.5 for n, name in get_weights(model)}

    def compute_meanwhile(*args):
        calls.append(args)
        if len(calls) > 1:
            return compute(*args)
        with model.use_params(others):
            found = compute(*args)
        if not is_undone:
            replace(model, docs)
        predict(model, docs)  # as a third thread
        return found

    monkeypatch.setattr(folding, stage, compute_meanwhile)
    with compiled.using(kernels):
        predict(model, docs)
        after = predict(model, docs)
    assert len(calls) > 1
    assert is_folded(model)
    assert_close(after, predict_reference(model, docs))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="requires os.fork")
def test_fork_while_another_thread_folds(vocab, monkeypatch):
    model, docs = build_hash(vocab), make_docs(vocab)
    folding_now, fold = Event(), folding.fold

    def fold_slowly(mixer):
        folding_now.set()
        time.sleep(0.5)  # while the other thread forks
        return fold(mixer)

    def train_and_fold():
        train(model, docs)
        predict(model, docs)
        assert is_folded(model)

    monkeypatch.setattr(folding, "fold", fold_slowly)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(predict, model, docs)
        assert folding_now.wait(60)
        child = multiprocessing.get_context("fork").Process(target=train_and_fold)
        child.start()
        child.join(20)  # with a timeout
        child.kill()
        assert child.exitcode == 0


def test_only_the_first_prediction_after_a_change_is_plain(vocab):
    """Without an optimizer, later predictions are folded."""
    model, docs = build_hash(vocab), make_docs(vocab)
    predict(model, docs)
    for _ in range(2):
        model.begin_update(docs)
        predict(model, docs)
        assert not is_folded(model)
        predict(model, docs)
        assert is_folded(model)


@pytest.mark.parametrize(
    "kind",
    ["lookup, no dropout", "width 8, vectors", "subwords, three hashes, vectors"],
)
def test_modified_nodes_are_never_bypassed(vocab, kind):
    """The reference runs if any node is wrapped, or a chain is extended."""
    model, docs = build(kind, vocab), make_docs(vocab)
    for i, is_chain in enumerate(n._func is forward_reference for n in model.walk()):
        for is_added in [False] * (i > 0) + [True] * is_chain:
            copied = model.copy()
            predict(copied, docs)
            assert is_folded(copied)
            node = list(copied.walk())[i]
            if is_added:
                added = Model("added", lambda added, X, is_train: (X, lambda dX: dX))
                node.layers.append(added)
            calls = note_calls(added if is_added else node)
            expected = predict_reference(copied, docs)
            n_calls = len(calls)
            np.testing.assert_array_equal(predict(copied, docs), expected)
            assert len(calls) == 2 * n_calls > 0, node.name


@pytest.mark.parametrize(
    "damaged",
    [["NORM"], [*ATTRS[:2], "NONE"], "NORM", None, [*ATTRS[:2], 0], [True] * 3],
)
def test_damaged_columns_are_refused(vocab, damaged):
    model, docs = build_hash(vocab), make_docs(vocab)
    get_nodes(model, "extract_features")[0].attrs["columns"] = damaged
    loaded = build_hash(vocab).from_bytes(model.to_bytes())
    for is_train in (False, True):
        with pytest.raises(ValueError, match=r"'columns' of .* should be 3 token"):
            loaded(docs, is_train)


def test_the_size_of_folded_tables_is_bounded(vocab, monkeypatch):
    model, docs = build_hash(vocab), make_docs(vocab)
    n_bytes = (11 + 7 + 5) * 6 * 3 * 4
    for limit in (n_bytes - 1, n_bytes):
        monkeypatch.setenv(folding.LIMIT_NAME, str(limit / 1e6))
        predict(model, docs)
        assert is_folded(model) == (limit == n_bytes)
    assert get_cached(model.attrs["plan"]).F.nbytes == n_bytes
    monkeypatch.delenv(folding.LIMIT_NAME)
    assert folding._get_limit() == 256, "as documented"
    monkeypatch.setenv(folding.LIMIT_NAME, "256MB")
    with pytest.raises(ValueError, match=folding.LIMIT_NAME):
        folding._get_limit()


def test_weights_are_checked_once(vocab, monkeypatch):
    """Checks are repeated if weights are set, but not in calls or optimizer steps."""
    model, docs = build_hash(vocab), make_docs(vocab)  # initialization checks weights
    checked, check = [], checks.check_param
    monkeypatch.setattr(
        checks, "check_param", lambda *a: checked.append(a[1]) or check(*a)
    )
    for _ in range(3):
        train(model, docs)
        predict(model, docs)
    assert sorted(checked) == ["G", "W", "b", "b"]
    load(model, docs)
    predict(model, docs)
    assert sorted(checked[4:]) == ["E", "E", "E", "G", "W", "b", "b"]


@pytest.mark.parametrize("is_train", [False, True])
def test_vectors_are_those_of_the_first_docs_vocab(vocab, is_train):
    """spaCy uses this vocab for the whole batch, even if the first Doc is empty."""
    model, found = build_hash(vocab, include_static_vectors=True), []
    other = make_vocab(seed=1, attr="LOWER")
    for first in (vocab, other):
        docs = [Doc(first), *make_docs(vocab, [30]), *make_docs(other, [5])]
        expected, _ = forward_reference(model, docs, is_train)
        Ys, _ = model(docs, is_train)
        assert_close(np.concatenate(Ys), np.concatenate(expected))
        found.append(np.concatenate(Ys))
    assert not np.allclose(*found, atol=1e-3)


@pytest.mark.parametrize("kind", ["lookup", "vectors", "subwords", *HASH_FORMERS])
def test_another_vocab_keeps_the_cache_and_is_not_referenced(vocab, kind):
    model, other = build(kind, vocab), make_vocab(seed=1)
    predict(model, make_docs(vocab))
    state = get_cached(model.attrs["plan"]).state
    docs = make_docs(other)
    found = predict(model, docs)
    assert get_cached(model.attrs["plan"]).state is state is not None
    assert_close(found, predict_reference(model, docs))
    of_other = weakref.ref(other.lookups)
    del other, docs
    gc.collect()
    assert of_other() is None


def test_memory_is_freed_without_garbage_collection(vocab):
    """Folded tables are larger than the weights."""
    model, docs = build_hash(vocab), make_docs(vocab)
    E = weakref.ref(get_nodes(model, "hashembed")[0].get_param("E"))
    gc.collect()
    gc.disable()
    try:
        F = fold(model, docs)
        model.begin_update(docs)
        assert F() is None, "should be freed in training"
        predict(model, docs)
        F = fold(model, docs)
        assert all(each() is not None for each in (E, F))
        del model
        assert E() is F() is None
    finally:
        gc.enable()


def fold(model, docs) -> weakref.ref:
    predict(model, docs)
    return weakref.ref(get_cached(model.attrs["plan"]).F)


# Folded tables in kernels


@needs_kernels
@pytest.mark.parametrize("kind", ["four hashes", "lookup", "weighted, symbols"])
@pytest.mark.parametrize("lay", [np.copy, misalign, lambda X: np.repeat(X, 2)[::2]])
def test_changed_attributes_invalidate(vocab, kind, lay):
    """Weights and folded tables are unchanged, in any memory layout."""
    model, docs = build(kind, vocab), make_docs(vocab)
    for node in get_nodes(model, "weightedhashembed"):
        node.set_param("P", np.asfortranarray(node.get_param("P")))
    with compiled.using(noted := Noted(KERNELS)):
        before = predict(model, docs)
        folded = get_cached(model.attrs["plan"])
        for node in get_nodes(model, "hashembed"):
            node.attrs["seed"] += 1
        for node in get_nodes(model, "symbolembed", "weightedhashembed"):
            symbols = np.arange(len(node.attrs["symbols"]), dtype="uint64")
            node.attrs.update(symbols=lay(symbols), same_hash=True)
        after = predict(model, docs)
        assert get_cached(model.attrs["plan"]) is folded
    assert "embed_folded" in noted.names
    with compiled.using(None):
        assert_close(after, predict(model, docs))
    assert not np.allclose(after, before)


SYMBOLS = np.arange(3, dtype="uint64")
HASHED = (None, 0, 0, 2, 4)


@needs_kernels
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
def test_invalid_rows_and_weights_are_refused(shape, finder):
    column = (9, finder, None)
    if shape is not None:
        column = (4, HASHED, (np.ones(shape, "f"), finder, False))
    with pytest.raises(ValueError, match="don't fit each other"):
        KERNELS.FoldedColumns([column])


@needs_kernels
def test_columns_of_another_table_are_refused():
    columns = KERNELS.FoldedColumns([(n, (None, 0, 0, 1, n), None) for n in (3, 4)])
    norm = np.ones((3, 4), "f")
    for n_rows, n_columns in ((6, 2), (7, 1)):
        F, keys = np.ones((n_rows, 4), "f"), np.ones((2, n_columns), "uint64")
        with pytest.raises(ValueError, match="don't fit each other"):
            KERNELS.embed_folded(F, columns, keys, norm)


@needs_kernels
def test_kernels_keep_references_to_symbols_and_weights():
    symbols, P = np.arange(3, dtype="uint64"), np.ones((4, 1), "f")
    held = weakref.ref(symbols), weakref.ref(P)
    finder = (symbols, 0, 0, 1, 0)
    columns = KERNELS.FoldedColumns([(4, finder, (P, finder, False))])
    del symbols, P, finder
    assert all(each() is not None for each in held)
    del columns
    assert all(each() is None for each in held)
