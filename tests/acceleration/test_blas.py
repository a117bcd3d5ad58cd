"""The choice of a BLAS: what is measured, what is moved, and that results stay."""

import ctypes
import os
import pickle
import signal
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, count

import numpy
import pytest
import spacy
from numpy.testing import assert_allclose
from spacy.language import Language
from spacy.training import Example
from spacy.util import load_model_from_config
from thinc.api import (
    Config,
    CupyOps,
    MPSOps,
    NumpyOps,
    fix_random_seed,
    get_current_ops,
    set_current_ops,
)

from spacy_hashembeds import threads as threads_module
from spacy_hashembeds.acceleration import blas
from spacy_hashembeds.acceleration.blas import create_use_fastest_blas
from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.threads import find_openblas, one_thread

from .. import toy_ner
from ..kernels.paths import KERNELS, Noted, both_paths, needs_kernels
from .accelerate_pipelines import LISTENER, tok2vec

CALLBACK = {"@callbacks": "spacy-hashembeds.use_fastest_blas.v1"}


class AppleOps(NumpyOps):
    """Stands for operations that are made for a processor."""


@pytest.fixture(autouse=True)
def _restore_ops():
    ops = get_current_ops()
    yield
    set_current_ops(ops)


@pytest.fixture
def faster(monkeypatch):
    """A machine on which numpy's BLAS is faster."""
    monkeypatch.setattr(blas, "is_numpy_faster", lambda: True)


def make_pipeline(**callbacks: dict) -> tuple[Language, list[Example]]:
    """A pipeline that was initialised, equal each time, and examples for it."""
    fix_random_seed(0)
    ner = {"@architectures": "spacy.TransitionBasedParser.v2", "state_type": "ner"}
    ner |= {"extra_state_tokens": False, "hidden_width": 16, "maxout_pieces": 2}
    components = {
        "tok2vec": {"factory": "tok2vec", "model": tok2vec()},
        "ner": {"factory": "ner", "model": {**ner, "tok2vec": LISTENER}},
    }
    block = {"lang": "xx", "pipeline": list(components), **callbacks}
    nlp = load_model_from_config(
        Config({"nlp": block, "components": components}), auto_fill=True
    )
    golds = [toy_ner.make_doc(text) for text in toy_ner.TRAIN]
    examples = [Example(nlp.make_doc(gold.text), gold) for gold in golds]
    nlp.initialize(lambda: examples)
    return nlp, examples


def train(nlp: Language, examples: list[Example]) -> None:
    optimizer = nlp.create_optimizer()
    optimizer.learn_rate = 0.01
    for _ in range(20):
        nlp.update(examples, sgd=optimizer)


def read(nlp: Language, **settings) -> list[tuple]:
    docs = nlp.pipe([gold.text for gold in toy_ner.make_test_docs()], **settings)
    return [(doc.text, [(e.text, e.label_) for e in doc.ents]) for doc in docs]


def nodes(nlp: Language) -> list:
    return [node for _, pipe in nlp.components for node in pipe.model.walk()]


def moved_names(nlp: Language) -> set[str]:
    return {node.name for node in nodes(nlp) if node.ops is blas.NUMPY_BLAS_OPS}


# Results


@pytest.mark.parametrize("trans1", [False, True])
@pytest.mark.parametrize("trans2", [False, True])
@pytest.mark.parametrize("rows", [0, 7])
def test_products_are_those_of_blis(rows, trans1, trans2):
    rng = numpy.random.default_rng(0)
    x = rng.standard_normal((5, rows) if trans1 else (rows, 5), dtype="float32")
    y = rng.standard_normal((3, 5) if trans2 else (5, 3), dtype="float32")
    expected = blas.BLIS_OPS.gemm(x, y, trans1=trans1, trans2=trans2)
    got = blas.NUMPY_BLAS_OPS.gemm(x, y, trans1=trans1, trans2=trans2)
    assert got.dtype == expected.dtype
    assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    # as the parser does, into all rows but the first
    out = numpy.zeros((rows + 1, 3), dtype="float32")
    blas.NUMPY_BLAS_OPS.gemm(x, y, trans1=trans1, trans2=trans2, out=out[1:])
    assert_allclose(out[1:], expected, rtol=1e-5, atol=1e-6)
    assert not out[0].any()


@needs_kernels
@pytest.mark.parametrize("n_docs", [1, 200])
def test_a_parser_finds_with_numpys_blas_what_it_finds_with_blis(n_docs, monkeypatch):
    """Of many Docs in parts: OpenBLAS would use more threads for the whole product."""
    monkeypatch.setattr(compiled, "kernels", noted := Noted(KERNELS))
    nlp = make_recognizer()
    pipe = nlp.get_pipe("ner")
    # any action is as likely: of those beyond the columns of a block too
    pipe.model.attrs["unseen_classes"] = set()
    upper = pipe.model.get_ref("upper")
    shape = upper.get_param("W").shape
    upper.set_param("W", numpy.random.default_rng(0).normal(size=shape).astype("f"))
    texts = ["Anna lives in Paris", "Ben works in Rome today"] * (n_docs // 2 + 1)
    found = []
    for ops in (NumpyOps(), blas.NUMPY_BLAS_OPS):
        for node in pipe.model.walk():
            node.ops = ops
        docs = [nlp.make_doc(text) for text in texts[:n_docs]]
        assert "make_cblas" not in noted.names
        pipe.set_annotations(docs, pipe.predict(docs))
        found.append([[(e.start, e.end, e.label_) for e in doc.ents] for doc in docs])
    assert "make_cblas" in noted.names
    assert found[0] == found[1]
    assert any(found[0])


def make_recognizer() -> Language:
    """Make an NER component that is trained a little, with more actions (4 for a label)
    than columns of a block.
    """
    nlp = spacy.blank("en")
    ner = nlp.add_pipe("ner")
    for i in range(40):
        ner.add_label(f"LABEL{i}")
    examples = [
        Example(nlp.make_doc(doc.text), doc)
        for doc in map(toy_ner.make_doc, toy_ner.TRAIN)
    ]
    fix_random_seed(0)
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(15):
        nlp.update(examples, sgd=optimizer)
    return nlp


@pytest.mark.parametrize("beam_width", [1, 4])
@both_paths
def test_moves_of_equal_weights_stay_tied(kernels, beam_width, faster, monkeypatch):
    """numpy's BLAS would give them unequal scores, by place and size of the batch."""
    monkeypatch.setattr(compiled, "kernels", noted := kernels and Noted(kernels))
    nlp = make_recognizer()
    pipe = nlp.get_pipe("ner")
    pipe.cfg["beam_width"] = beam_width
    pipe.model.attrs["unseen_classes"] = set()
    upper = pipe.model.get_ref("upper")
    W = numpy.random.default_rng(0).normal(size=upper.get_param("W").shape[1])
    upper.set_param("W", numpy.tile(W.astype("f"), (upper.get_dim("nO"), 1)))
    upper.set_param("b", upper.ops.alloc1f(upper.get_dim("nO")))
    texts = [f"{gold.text} {n}" for n in range(2) for gold in toy_ner.make_test_docs()]

    def read() -> list:
        found = []
        for size in (1, 2, 5, 64):
            docs = nlp.pipe(texts, batch_size=size)
            found.append([[(e.start, e.end, e.label_) for e in d.ents] for d in docs])
        return found

    expected = read()
    assert blas.use_fastest_blas(nlp)
    assert {"maxout", "precomputable_affine"} <= moved_names(nlp)
    assert read() == expected
    assert kernels is None or "make_cblas" in noted.names


def test_without_kernels_c_has_blis(monkeypatch):
    monkeypatch.setattr(compiled, "kernels", None)
    table = numpy.ones((2, 3), dtype="f")
    sums = blas.NUMPY_BLAS_OPS.gather_add(table, numpy.array([[0, 1]], dtype="uint32"))
    assert sums.tolist() == [[2, 2, 2]]


def test_predictions_and_gradients_are_the_same_but_for_rounding(faster):
    trained, examples = make_pipeline()
    train(trained, examples)
    stock, ours = (make_pipeline()[0].from_bytes(trained.to_bytes()) for _ in "ab")
    assert blas.use_fastest_blas(ours)
    for text in toy_ner.TRAIN:
        doc = toy_ner.make_doc(text)
        expected, got = stock(doc.text), ours(doc.text)
        assert_allclose(got.tensor, expected.tensor, rtol=1e-5, atol=1e-5)
        assert [str(e) for e in got.ents] == [str(e) for e in expected.ents]
    for nlp in (stock, ours):
        fix_random_seed(0)
        nlp.update(examples, sgd=False, drop=0.2)
    compared = 0
    for theirs, own in zip(nodes(stock), nodes(ours), strict=True):
        for name in theirs.grad_names:
            expected = theirs.get_grad(name)
            size = abs(expected).max()
            assert_allclose(own.get_grad(name), expected, rtol=0, atol=1e-5 * size)
            compared += bool(size)
    assert compared == 19


# What is moved


def test_all_layers_of_the_pipeline_and_of_no_other_are_moved(faster):
    nlp, _ = make_pipeline()
    other, _ = make_pipeline()
    nlp.disable_pipe("ner")
    before = get_current_ops()
    assert blas.use_fastest_blas(nlp)
    upper = nlp.get_pipe("ner").model.get_ref("upper")
    stayed = [node for node in nodes(nlp) if node.ops is not blas.NUMPY_BLAS_OPS]
    assert stayed == [upper]
    nlp.add_pipe("sentencizer")  # which has none
    assert moved_names(other) == set()
    assert get_current_ops() is before
    assert not blas.use_fastest_blas(nlp)
    nlp.get_pipe("tok2vec").model.ops = NumpyOps()  # as one made since
    assert blas.use_fastest_blas(nlp)


def test_without_upper_the_layer_below_scores_moves_and_stays(faster):
    nlp = spacy.blank("en")
    ner = nlp.add_pipe("ner", config={"model": {"use_upper": False}})
    assert blas.use_fastest_blas(nlp)
    lower = ner.model.get_ref("lower")
    assert lower.ops is not blas.NUMPY_BLAS_OPS
    assert ner.model.ops is blas.NUMPY_BLAS_OPS


def test_nothing_moves_where_numpy_is_not_faster(monkeypatch):
    monkeypatch.setattr(blas, "is_numpy_faster", lambda: False)
    nlp, _ = make_pipeline()
    before = [node.ops for node in nodes(nlp)]
    current = get_current_ops()
    assert not blas.use_fastest_blas(nlp)
    assert create_use_fastest_blas()(Language) is Language
    assert all(n.ops is ops for n, ops in zip(nodes(nlp), before, strict=True))
    assert get_current_ops() is current


@pytest.mark.parametrize(
    "ops",
    [CupyOps(), MPSOps(), AppleOps(), NumpyOps(use_blis=False), blas.NUMPY_BLAS_OPS],
    ids=lambda ops: type(ops).__name__,
)
def test_other_operations_are_left_alone_and_nothing_is_measured(ops, monkeypatch):
    monkeypatch.setattr(blas, "is_numpy_faster", lambda: pytest.fail("measured"))
    assert blas.choose_ops(ops) is ops
    set_current_ops(ops)
    assert create_use_fastest_blas()(Language) is Language
    assert get_current_ops() is ops


# The measurement


@pytest.mark.parametrize(
    ("numpy_speeds", "expected"),
    [([30, 60], True), ([12, 24], True), ([11, 60], False), ([30, 23], False)],
)
def test_numpy_must_be_clearly_faster_at_every_shape(
    numpy_speeds, expected, monkeypatch
):
    def measure(choices):
        assert choices["numpy"] is blas.NUMPY_BLAS_OPS
        assert choices["blis"].use_blis
        return {"numpy": numpy_speeds, "blis": [10, 20]}

    monkeypatch.setattr(blas, "measure_speeds", measure)
    assert blas.is_numpy_faster.__wrapped__() is expected


def test_speeds_are_of_the_fastest_round_and_choices_take_turns(monkeypatch):
    # the round that goes before would be the fastest, and the last one is disturbed
    seconds = chain([0, 0.1, 0.2, 0.3], range(1, 9), count(10, 5))
    monkeypatch.setattr(blas.time, "perf_counter", lambda: next(seconds))
    monkeypatch.setattr(blas, "SHAPES", [(8, 4, 2)])
    turns = []

    class Counting(NumpyOps):
        def gemm(self, x, y, **settings):
            turns.append((self, x.shape, y.shape, x.dtype.name))
            return super().gemm(x, y, **settings)

    a, b = Counting(), Counting()
    speeds = blas.measure_speeds({"a": a, "b": b}, rounds=3)
    # two products of 8 * 4 * 2 multiplications and as many additions in a second
    assert speeds == {"a": [2 * 2 * 64 / 1e9], "b": [2 * 2 * 64 / 1e9]}
    assert [turn[0] for turn in turns] == [a, a, b, b] * 4
    assert [turn[1:] for turn in turns[:2]] == [
        ((8, 4), (2, 4), "float32"),
        ((8, 2), (8, 4), "float32"),
    ]


def test_the_libraries_are_described(monkeypatch):
    blis, own = blas.describe_blis(), blas.describe_numpy_blas()
    assert blis.name == "blis"
    assert blis.version.split(".")[0].isdigit()
    built = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]
    assert (own.name, own.version) == (built["name"], built["version"])
    assert own.kernels or "openblas" not in own.name
    monkeypatch.setattr(blas, "find_function", lambda *args: None)
    monkeypatch.setattr(blas, "find_openblas", lambda *args: None)
    monkeypatch.setattr(threads_module, "find_openblas", lambda *args: None)
    assert blas.describe_blis().kernels is blas.describe_numpy_blas().kernels is None
    x = numpy.eye(3, dtype="float32")
    assert_allclose(blas.NUMPY_BLAS_OPS.gemm(x, x), x)


# Threads


@pytest.fixture
def threads(monkeypatch):
    """An OpenBLAS with four threads: what they are, and what they were set to."""
    state = {"now": 4, "set": []}

    def set_threads(number):
        state["now"] = number
        state["set"].append(number)

    functions = {
        "get_num_threads": lambda: state["now"],
        "set_num_threads": set_threads,
    }
    monkeypatch.setattr(
        threads_module, "find_openblas", lambda name, _: functions[name]
    )
    threads_module._find_limit.cache_clear()
    yield state
    threads_module._find_limit.cache_clear()


def test_products_run_on_one_thread_and_leave_the_others_as_they_were(threads):
    x = numpy.eye(3, dtype="float32")
    with pytest.raises(ValueError, match="shapes"):
        blas.NUMPY_BLAS_OPS.gemm(x, x[:2])
    assert threads["set"] == [1, 4]
    with one_thread():
        blas.NUMPY_BLAS_OPS.gemm(x, x)
        assert threads["now"] == 1
    assert threads["set"] == [1, 4, 1, 4]
    threads["now"] = 1
    blas.NUMPY_BLAS_OPS.gemm(x, x)
    assert threads["set"] == [1, 4, 1, 4]


def test_a_limit_that_another_library_sets_meanwhile_is_left_to_it(threads):
    """It restores what it found, ours, and the next of our own restores what was."""
    with one_thread():
        found, threads["now"] = threads["now"], 2
        with one_thread():
            pass
        assert threads["now"] == 2
    assert threads["now"] == 2, "the other library's"
    with one_thread():
        assert threads["now"] == 1
    assert threads["now"] == 2
    threads["now"] = found
    with one_thread():
        assert threads["now"] == 1
    assert threads["now"] == 4
    threads["now"] = 1  # the user's own wish, later
    with one_thread():
        pass
    assert threads["now"] == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_process_forked_meanwhile_restores_the_threads(threads):
    with one_thread():
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # instead of waiting for ever
            with one_thread():
                pass
            os._exit(threads["now"])
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4


def test_the_threads_of_openblas_are_restored_when_python_threads_mix():
    get_threads = find_openblas("get_num_threads", ctypes.c_int)
    set_threads = find_openblas("set_num_threads", None)
    if get_threads is None or set_threads is None:
        pytest.skip("numpy was not built with OpenBLAS")
    before = get_threads()
    x = numpy.ones((64, 64), dtype="float32")
    set_threads(2)
    try:
        with one_thread():
            assert get_threads() == 1
        with ThreadPoolExecutor(4) as pool:
            products = pool.map(lambda _: blas.NUMPY_BLAS_OPS.gemm(x, x), range(400))
            assert all((product == 64).all() for product in products)
        assert get_threads() == 2
    finally:
        set_threads(before)


# The callback


@pytest.mark.slow
@pytest.mark.parametrize("is_faster_there", [True, False])
def test_a_pipeline_whose_config_has_it_is_trained_saved_and_loaded(
    faster, tmp_path, monkeypatch, is_faster_there
):
    nlp, examples = make_pipeline(before_creation=CALLBACK)
    # spaCy has the parser's last layer on the default operations, whatever is set
    assert {"maxout", "precomputable_affine", "linear"} <= moved_names(nlp)
    assert get_current_ops() is blas.NUMPY_BLAS_OPS
    train(nlp, examples)
    expected = read(nlp)
    assert any(ents for _, ents in expected)
    nlp.to_disk(tmp_path / "model")
    set_current_ops(NumpyOps())
    monkeypatch.setattr(blas, "is_numpy_faster", lambda: is_faster_there)
    loaded = spacy.load(tmp_path / "model")
    assert loaded.config["nlp"]["before_creation"] == CALLBACK
    assert moved_names(loaded) == (moved_names(nlp) if is_faster_there else set())
    assert read(loaded) == expected


# Threads and processes


def test_layers_that_are_sent_to_other_processes_stay_on_numpys_blas(faster):
    nlp, _ = make_pipeline()
    blas.use_fastest_blas(nlp)
    sent = pickle.loads(pickle.dumps([pipe for _, pipe in nlp.components]))
    moved = [type(node.ops) for pipe in sent for node in pipe.model.walk()]
    assert moved == [type(node.ops) for node in nodes(nlp)]
    assert blas.NumpyBlasOps in moved
