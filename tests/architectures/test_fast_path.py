"""The fast path against the reference, and folded tables that are never stale."""

import gc
import os
import signal
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier, Event

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from thinc.api import Model, fix_random_seed, set_dropout_rate
from thinc.layers.chain import forward as forward_reference

from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.layers import checks, mixedembed
from tests.masks import thincs_masks

from ..kernels.paths import Noted, both_paths
from ..layers.plans import get_kept
from ..toy_embedders import (
    BUILDERS,
    CHANGES,
    assert_close,
    assert_gradients_close,
    build_hash,
    build_lookup,
    build_subwords,
    get_gradients,
    get_nodes,
    get_weights,
    load,
    make_docs,
    make_vocab,
    note_calls,
    replace,
    train,
)


@pytest.fixture(params=BUILDERS.values(), ids=BUILDERS)
def model(request, vocab) -> Model:
    fix_random_seed(0)
    return request.param(vocab)


def predict_reference(model, docs):
    Y, _ = forward_reference(model, docs, False)
    return np.concatenate(Y)


def predict(model, docs):
    return np.concatenate(model.predict(docs))


def is_folded(model) -> bool:
    return get_kept(model.attrs["plan"]) is not None


LENGTHS = st.lists(st.one_of(st.integers(0, 90), st.just(300)), min_size=1, max_size=4)

with_fixtures = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    max_examples=2,
)


@with_fixtures
@example(lengths=[255], seed=0)  # one token more, few and beyond few
@example(lengths=[256], seed=0)
@given(lengths=LENGTHS, seed=st.integers(0, 99))
def test_predictions_equal_the_reference(model, vocab, lengths, seed, monkeypatch):
    """Folded and plain, for few tokens and for many."""
    docs = make_docs(vocab, [*lengths, 1], seed)
    expected = predict_reference(model, docs)
    for limit in ("256", "0"):
        model.attrs["plan"] = mixedembed.Fold()
        monkeypatch.setenv(mixedembed.LIMIT_NAME, limit)
        assert_close(predict(model, docs), expected)
        assert is_folded(model) == (limit == "256")
        assert [len(Y) for Y in model.predict(docs)] == [len(doc) for doc in docs]


@both_paths
@with_fixtures
@example(lengths=[255], drop=0.5, seed=0)  # one token more, few and beyond few
@example(lengths=[256], drop=0.0, seed=0)
@given(lengths=LENGTHS, drop=st.sampled_from([0.0, 0.5]), seed=st.integers(0, 99))
def test_training_equals_the_reference(model, vocab, kernels, lengths, drop, seed):
    docs = make_docs(vocab, [*lengths, 1], seed)
    set_dropout_rate(model, drop)
    state = np.random.default_rng(seed)
    width = model.get_dim("nO")
    dY = [state.normal(size=(len(doc), width)).astype("f") for doc in docs]
    results, noted = [], kernels and Noted(kernels)
    for forward in (model._func, forward_reference):
        copied = model.copy()
        fix_random_seed(seed)
        with compiled.using(noted), thincs_masks():
            Y, backprop = forward(copied, docs, True)
            backprop([d.copy() for d in dY])
            # once more, onto gradients that are there already
            Y, backprop = forward(copied, docs, True)
            assert backprop([d.copy() for d in dY]) == []
        results.append((np.concatenate(Y), get_gradients(copied)))
    assert noted is None or {"begin_rows", "backprop_rows"} <= set(noted.names)
    (Y, grads), (expected_Y, expected_grads) = results
    assert_close(Y, expected_Y)
    assert_gradients_close(grads, expected_grads)


@pytest.mark.parametrize("kind", ["vectors", "lookup", "weighted, symbols"])
@pytest.mark.parametrize("change", CHANGES)
def test_folded_tables_are_never_stale(kind, vocab, change):
    model = BUILDERS[kind](vocab)
    docs = make_docs(vocab, [40])
    before = [predict(model, docs) for _ in range(3)][-1]
    assert is_folded(model)
    change(model, docs)
    expected = predict_reference(model, docs)
    assert not np.allclose(expected, before, atol=1e-3), "the change changes nothing"
    for _ in range(3):
        assert_close(predict(model, docs), expected)
    assert is_folded(model), "folded again, as the weights came to rest"


def test_weights_of_any_one_layer_that_change_are_seen(model, vocab):
    docs = make_docs(vocab)
    for node, name in get_weights(model):
        before = [predict(model, docs) for _ in range(2)][-1]
        drawn = np.random.default_rng(1).normal(size=node.get_param(name).shape)
        node.set_param(name, drawn.astype("f"))
        after = predict(model, docs)
        assert_close(after, predict_reference(model, docs))
        assert not np.allclose(after, before, atol=1e-3), node.name


@both_paths
@pytest.mark.parametrize("is_undone", [False, True])
@pytest.mark.parametrize("stage", ["fold", "_make_ready", "_multiply"])
def test_weights_set_while_another_thread_predicts_are_seen(
    vocab, stage, is_undone, kernels, monkeypatch
):
    """Whether they stay or are set back, as by `use_params`, before the stage ends."""
    fix_random_seed(0)
    model, docs = BUILDERS["subwords, weighted"](vocab), make_docs(vocab)
    compute, calls = getattr(mixedembed, stage), []
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

    monkeypatch.setattr(mixedembed, stage, compute_meanwhile)
    with compiled.using(kernels):
        predict(model, docs)
        after = predict(model, docs)
    assert len(calls) > 1
    assert is_folded(model)
    assert_close(after, predict_reference(model, docs))


def test_threads_fold_once(vocab, monkeypatch):
    """From cold, and though somebody then reads weights, and saves them."""
    model, docs = build_hash(vocab), make_docs(vocab, [5, 90])
    made, fold = [], mixedembed.fold
    monkeypatch.setattr(mixedembed, "fold", lambda *a: made.append(1) or fold(*a))
    start = Barrier(4)

    def work(_: int) -> list[np.ndarray]:
        start.wait()
        return [predict(model, docs) for _ in range(50)]

    with ThreadPoolExecutor(4) as pool:
        results = [Y for Ys in pool.map(work, range(4)) for Y in Ys]
    model.copy().from_bytes(model.to_bytes())
    predict(model, docs)
    assert made == [1]
    for Y in results:
        assert_close(Y, predict_reference(model, docs))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_process_forked_while_another_thread_folds_can_fold(vocab, monkeypatch):
    model, docs = build_hash(vocab), make_docs(vocab)
    folding_now, fold = Event(), mixedembed.fold

    def fold_slowly(mixer):
        folding_now.set()
        time.sleep(0.5)  # while the other thread forks
        return fold(mixer)

    with monkeypatch.context() as patch, ThreadPoolExecutor(1) as pool:
        patch.setattr(mixedembed, "fold", fold_slowly)
        predicted = pool.submit(predict, model, docs)
        assert folding_now.wait(60)
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # instead of waiting for ever
            train(model, docs)
            predict(model, docs)
            os._exit(0 if is_folded(model) else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert_close(predicted.result(), predict_reference(model, docs))


def test_without_an_optimizer_the_next_prediction_alone_is_plain(vocab):
    """As of a step of training: who predicts on has tables that are folded."""
    model, docs = build_hash(vocab), make_docs(vocab)
    predict(model, docs)
    for _ in range(2):
        model.begin_update(docs)
        predict(model, docs)
        assert not is_folded(model)
        predict(model, docs)
        assert is_folded(model)


def test_the_size_of_folded_tables_is_bounded(vocab, monkeypatch):
    """In decimal megabytes, to the byte. Nothing but the limit keeps from folding."""
    model, docs = build_hash(vocab), make_docs(vocab)
    expected = predict_reference(model, docs)
    n_bytes = (11 + 7 + 5) * 6 * 3 * 4
    monkeypatch.setenv(mixedembed.LIMIT_NAME, str((n_bytes - 1) / 1e6))
    for _ in range(3):
        assert_close(predict(model, docs), expected)
        assert not is_folded(model)
    monkeypatch.setenv(mixedembed.LIMIT_NAME, str(n_bytes / 1e6))
    assert_close(predict(model, docs), expected)
    assert get_kept(model.attrs["plan"]).F.nbytes == n_bytes
    monkeypatch.setenv(mixedembed.LIMIT_NAME, "much")
    model.attrs["plan"] = mixedembed.Fold()
    with pytest.raises(ValueError, match=r"FOLD_MB should be a number .* is 'much'"):
        predict(model, docs)
    monkeypatch.delenv(mixedembed.LIMIT_NAME)
    assert mixedembed._get_limit() == 256, "as documented"


@pytest.mark.parametrize(
    "build",
    [
        partial(build_lookup, dropout=None),
        partial(build_lookup, include_static_vectors=True),
        lambda vocab: build_hash(
            vocab, include_static_vectors=True, subwords=build_subwords()
        ),
    ],
)
def test_a_node_that_is_not_as_it_was_made_is_never_bypassed(vocab, build):
    """Each node in turn is wrapped: then the reference runs."""
    model, docs = build(vocab), make_docs(vocab)
    n_nodes = len(list(model.walk()))
    assert n_nodes > 10
    for i in range(1, n_nodes):
        copied = model.copy()
        predict(copied, docs)
        assert is_folded(copied)
        node = list(copied.walk())[i]
        calls = note_calls(node)
        expected = predict_reference(copied, docs)
        n_calls = len(calls)
        assert n_calls > 0, node.name
        np.testing.assert_array_equal(predict(copied, docs), expected)
        assert len(calls) == 2 * n_calls, node.name
    predict(model, docs)
    assert is_folded(model)


def test_a_node_that_is_added_is_never_bypassed(vocab):
    """At the end of each chain in turn: then the reference runs."""
    model, docs = build_hash(vocab, include_static_vectors=True), make_docs(vocab)
    n_added = 0
    for i, node in enumerate(model.walk()):
        if node._func is not forward_reference:
            continue
        copied = model.copy()
        predict(copied, docs)
        added = Model("added", lambda added, X, is_train: (X, lambda dX: dX))
        calls = note_calls(added)
        list(copied.walk())[i].layers.append(added)
        assert_close(predict(copied, docs), predict(model, docs))
        assert len(calls) == 1, node.name
        n_added += 1
    assert n_added > 4


@pytest.mark.parametrize(
    "columns",
    [
        *(["NORM"], ["NORM", "SHAPE", "NONE"], "NORM", None),
        *(["NORM", "SHAPE", True], ["NORM", "SHAPE", 0], ["NORM"] * 4),
    ],
)
def test_damaged_columns_are_refused(vocab, columns):
    model, docs = build_hash(vocab), make_docs(vocab)
    (extractor,) = get_nodes(model, "extract_features")
    extractor.attrs["columns"] = columns
    loaded = build_hash(vocab).from_bytes(model.to_bytes())
    for is_train in (False, True):
        with pytest.raises(ValueError, match=r"'columns' of .* should be 3 token"):
            loaded(docs, is_train)


def test_weights_are_checked_once(vocab, monkeypatch):
    """Not at each call, nor at each step of an optimizer; and those that arrive."""
    model, docs = build_hash(vocab), make_docs(vocab)  # which embeds docs, and checks
    checked = []
    check = checks.check_param
    monkeypatch.setattr(
        checks, "check_param", lambda *a: checked.append(a[1]) or check(*a)
    )
    for _ in range(3):
        train(model, docs)
        predict(model, docs)
    assert sorted(checked) == ["G", "W", "b", "b"]
    checked.clear()
    load(model, docs)
    predict(model, docs)
    assert sorted(checked) == ["E", "E", "E", "G", "W", "b", "b"]


@pytest.mark.parametrize("is_train", [False, True])
def test_vectors_are_those_of_the_first_docs_vocab(vocab, is_train):
    """As in spaCy, for all Docs of a batch, even where the first has no tokens."""
    model, other = build_hash(vocab, include_static_vectors=True), make_vocab(seed=1)
    found = []
    for first in (vocab, other):
        docs = [Doc(first), *make_docs(vocab, [3]), *make_docs(other, [5])]
        expected, _ = forward_reference(model, docs, is_train)
        Ys, _ = model(docs, is_train)
        assert_close(np.concatenate(Ys), np.concatenate(expected))
        found.append(np.concatenate(Ys))
    assert not np.allclose(*found, atol=1e-3)


def test_memory_is_let_go_at_once(vocab):
    """Without the garbage collector: folded tables are larger than the weights."""
    model, docs = build_hash(vocab), make_docs(vocab)
    E = weakref.ref(get_nodes(model, "hashembed")[0].get_param("E"))
    gc.collect()
    gc.disable()
    try:
        predict(model, docs)
        F = weakref.ref(get_kept(model.attrs["plan"]).F)
        model.begin_update(docs)
        assert F() is None, "training will change it"
        for _ in range(2):
            predict(model, docs)
        F = weakref.ref(get_kept(model.attrs["plan"]).F)
        assert E() is not None
        assert F() is not None
        del model
        assert E() is F() is None
    finally:
        gc.enable()
