"""The choice of a BLAS: measurement, moved layers, unchanged results."""

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
from thinc.api import CupyOps, NumpyOps, get_current_ops, set_current_ops

from spacy_hashembeds import threads as threads_module
from spacy_hashembeds.acceleration import blas
from spacy_hashembeds.acceleration.blas import create_use_fastest_blas
from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.threads import find_openblas, one_thread

from ..kernels.paths import Noted, both_paths
from .accelerate_pipelines import SENTENCES, TEXTS

CALLBACK = {"@callbacks": "spacy-hashembeds.use_fastest_blas.v1"}
OURS = blas.NUMPY_BLAS_OPS


class AppleOps(NumpyOps):
    """Fake ops for a processor."""


@pytest.fixture
def faster(monkeypatch):
    monkeypatch.setattr(blas, "is_numpy_faster", lambda: True)


@pytest.fixture
def nlp(saved) -> Language:
    """A trained pipeline of `ner` and `tagger`, each with an encoder."""
    return spacy.load(saved("inside"))


def nodes(nlp: Language) -> list:
    return [node for _, pipe in nlp.components for node in pipe.model.walk()]


def read_ents(nlp: Language, texts: list[str], size: int = 64) -> list:
    docs = nlp.pipe(texts, batch_size=size)
    return [[(e.start, e.end, e.label_) for e in doc.ents] for doc in docs]


# Results


@pytest.mark.parametrize("rows", [0, 7])
@pytest.mark.parametrize(("trans1", "trans2"), [(False, True), (True, False)])
def test_products_are_those_of_blis(rows, trans1, trans2):
    rng = numpy.random.default_rng(0)
    x = rng.standard_normal((5, rows) if trans1 else (rows, 5), dtype="float32")
    y = rng.standard_normal((3, 5) if trans2 else (5, 3), dtype="float32")
    expected = blas.BLIS_OPS.gemm(x, y, trans1=trans1, trans2=trans2)
    got = OURS.gemm(x, y, trans1=trans1, trans2=trans2)
    assert got.dtype == expected.dtype
    assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    # into all rows except the first, like the parser
    out = numpy.zeros((rows + 1, 3), dtype="float32")
    OURS.gemm(x, y, trans1=trans1, trans2=trans2, out=out[1:])
    assert_allclose(out[1:], expected, rtol=1e-5, atol=1e-6)
    assert not out[0].any()


@pytest.mark.parametrize("beam_width", [1, 4])
@both_paths
def test_equal_weights_give_equal_scores(nlp, kernels, beam_width, faster, monkeypatch):
    """numpy's BLAS would give unequal scores, depending on position and batch size."""
    monkeypatch.setattr(compiled, "kernels", noted := kernels and Noted(kernels))
    pipe = nlp.get_pipe("ner")
    for i in range(40):  # four actions each, more than the columns of a block
        pipe.add_label(f"LABEL{i}")
    pipe.cfg["beam_width"] = beam_width
    pipe.model.attrs["unseen_classes"] = set()
    upper = pipe.model.get_ref("upper")
    W = numpy.random.default_rng(0).normal(size=upper.get_param("W").shape[1])
    upper.set_param("W", numpy.tile(W.astype("f"), (upper.get_dim("nO"), 1)))
    upper.set_param("b", upper.ops.alloc1f(upper.get_dim("nO")))
    texts = [f"{text} {n}" for n in range(4) for text in SENTENCES]
    expected = [read_ents(nlp, texts, size) for size in (1, 2, 5, 64)]
    assert any(chain(*expected))
    assert blas.use_fastest_blas(nlp)
    assert [read_ents(nlp, texts, size) for size in (1, 2, 5, 64)] == expected
    assert kernels is None or "make_cblas" in noted.names


# Moved layers


def test_all_layers_except_the_parsers_last_are_moved(nlp, faster):
    nlp.disable_pipe("ner")
    before = get_current_ops()
    assert blas.use_fastest_blas(nlp)
    upper = nlp.get_pipe("ner").model.get_ref("upper")
    assert [node for node in nodes(nlp) if node.ops is not OURS] == [upper]
    assert get_current_ops() is before
    assert not blas.use_fastest_blas(nlp)
    nlp.get_pipe("tagger").model.ops = NumpyOps()  # like a new layer
    assert blas.use_fastest_blas(nlp)
    # also when sent to other processes
    sent = pickle.loads(pickle.dumps([pipe for _, pipe in nlp.components]))
    moved = [type(node.ops) for pipe in sent for node in pipe.model.walk()]
    assert moved == [type(node.ops) for node in nodes(nlp)]


def test_the_lower_layer_is_not_moved_without_upper(faster):
    nlp = spacy.blank("en")
    ner = nlp.add_pipe("ner", config={"model": {"use_upper": False}})
    assert blas.use_fastest_blas(nlp)
    assert ner.model.get_ref("lower").ops is not OURS
    assert ner.model.ops is OURS


@pytest.mark.parametrize(
    "ops",
    [None, CupyOps(), AppleOps(), NumpyOps(use_blis=False)],
    ids=lambda ops: type(ops).__name__,
)
def test_other_ops_are_kept_without_measuring(nlp, ops, monkeypatch):
    """Other ops are kept, and blis (None) if numpy's BLAS is not faster."""
    is_faster = (lambda: pytest.fail("measured")) if ops else lambda: False
    monkeypatch.setattr(blas, "is_numpy_faster", is_faster)
    ops = ops or get_current_ops()
    set_current_ops(ops)
    assert create_use_fastest_blas()(Language) is Language
    assert get_current_ops() is ops
    for node in nodes(nlp):
        node.ops = ops
    assert not blas.use_fastest_blas(nlp)


@pytest.mark.parametrize("place", ["before_creation", "after_pipeline_creation"])
def test_the_callback_works_in_two_places_of_a_config(saved, nlp, faster, place):
    loaded = spacy.load(saved("inside"), config={"nlp": {place: CALLBACK}})
    moved = {node.name for node in nodes(loaded) if node.ops is OURS}
    assert {"maxout", "precomputable_affine"} <= moved
    assert (get_current_ops() is OURS) == (place == "before_creation")
    assert read_ents(loaded, TEXTS) == read_ents(nlp, TEXTS)


# Measurement


@pytest.mark.parametrize(
    ("speeds", "expected"), [([12, 24], True), ([11, 60], False), ([30, 23], False)]
)
def test_numpy_must_be_clearly_faster_at_every_shape(speeds, expected, monkeypatch):
    def measure(choices):
        assert choices == {"numpy": OURS, "blis": blas.BLIS_OPS}
        return {"numpy": speeds, "blis": [10, 20]}

    monkeypatch.setattr(blas, "time_products", measure)
    assert blas.is_numpy_faster.__wrapped__() is expected


def test_the_fastest_round_counts_and_choices_alternate(monkeypatch):
    # the warm-up would be the fastest round; the last one is slow
    seconds = chain([0, 0.1, 0.2, 0.3], range(1, 9), count(10, 5))
    monkeypatch.setattr(blas.time, "perf_counter", lambda: next(seconds))
    monkeypatch.setattr(blas, "SHAPES", [(8, 4, 2)])
    turns = []

    class Counting(NumpyOps):
        def gemm(self, x, y, **settings):
            turns.append((self, x.shape, y.shape, x.dtype))
            return super().gemm(x, y, **settings)

    a, b = Counting(), Counting()
    speeds = blas.time_products({"a": a, "b": b}, rounds=3)
    # two products per second, of 8 * 4 * 2 multiplications and as many additions
    assert speeds == {"a": [2 * 2 * 64 / 1e9], "b": [2 * 2 * 64 / 1e9]}
    products = [((8, 4), (2, 4), "float32"), ((8, 2), (8, 4), "float32")]
    assert turns == [(ops, *product) for ops in (a, b) for product in products] * 4


def test_libraries_are_described(monkeypatch):
    blis, own = blas.describe_libraries()
    assert (blis.name, blis.version.split(".")[0].isdigit()) == ("blis", True)
    built = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]
    assert (own.name, own.version) == (built["name"], built["version"])
    assert own.kernels or "openblas" not in own.name
    monkeypatch.setattr(blas, "find_function", lambda *args: None)
    monkeypatch.setattr(blas, "find_openblas", lambda *args: None)
    assert [each.kernels for each in blas.describe_libraries()] == [None, None]


# Threads


@pytest.fixture
def threads(monkeypatch) -> list[int]:
    """Fake OpenBLAS: all numbers of threads that were set, the current one last."""
    numbers = [4]
    limit = threads_module._Limit(lambda: numbers[-1], numbers.append)
    monkeypatch.setattr(threads_module, "_find_limit", lambda: limit)
    return numbers


def test_products_run_on_one_thread_and_restore_the_number(threads):
    x = numpy.eye(3, dtype="float32")
    with pytest.raises(ValueError, match="shapes"):
        OURS.gemm(x, x[:2])
    assert threads == [4, 1, 4]
    with one_thread():
        OURS.gemm(x, x)
        assert threads == [4, 1, 4, 1]
    assert threads == [4, 1, 4, 1, 4]


def test_a_limit_set_by_another_library_is_kept(threads):
    """It restores our limit of 1; our next block restores the original number."""
    with one_thread():
        threads.append(2)
        with one_thread():
            pass
    with one_thread():
        pass
    assert threads == [4, 1, 2, 1, 2]
    threads.append(1)  # restored by the other library
    with one_thread():
        pass
    assert threads[5:] == [1, 4]
    threads.append(1)  # set by the user later
    with one_thread():
        pass
    assert threads[7:] == [1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no os.fork")
def test_a_process_forked_in_a_block_restores_the_threads(threads):
    with one_thread():
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # timeout
            with one_thread():
                pass
            os._exit(threads[-1])
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4


def test_openblas_threads_are_restored_with_several_python_threads():
    get_threads = find_openblas("get_num_threads", ctypes.c_int)
    set_threads = find_openblas("set_num_threads", None)
    if get_threads is None or set_threads is None:
        pytest.skip("numpy was not built with OpenBLAS")
    before, x = get_threads(), numpy.ones((64, 64), dtype="float32")
    set_threads(2)
    try:
        with one_thread():
            assert get_threads() == 1
        with ThreadPoolExecutor(4) as pool:
            products = pool.map(lambda _: OURS.gemm(x, x), range(400))
            assert all((product == 64).all() for product in products)
        assert get_threads() == 2
    finally:
        set_threads(before)
