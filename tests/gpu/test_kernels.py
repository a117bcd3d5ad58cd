"""The kernels against plain numpy."""

import shutil
import subprocess
from dataclasses import replace

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from thinc.api import NumpyOps

from spacy_hashembeds.acceleration import doctor
from spacy_hashembeds.hashing.murmur import find_rows
from spacy_hashembeds.kernels import cuda
from spacy_hashembeds.kernels.rows import Hashing, Lookup, Table

from ..left_out import NO_NVCC

shared = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25
)

# keys at the edges of the range, few so that they occur often, and any others
KEYS = st.sampled_from([*range(10), 2**63, 2**64 - 1]) | st.integers(0, 2**64 - 1)
SEEDS = st.sampled_from([0, 8, 2**32 - 1]) | st.integers(0, 2**32 - 1)


@st.composite
def batches(draw):
    """Draw tables, functions that find their rows, and keys."""
    width = draw(st.sampled_from([1, 3, 4, 8, 33, 96]))
    n = draw(st.sampled_from([0, 1, 2, 7, 8, 9, 40, 90]))
    state = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    arrays, finders, columns = [], [], []
    for _ in range(draw(st.integers(1, 5))):
        symbols = numpy.array(sorted(draw(st.sets(KEYS, max_size=9))), "uint64")
        if draw(st.booleans()):
            n_rows = len(symbols) + 1
            finders.append(Lookup(symbols, unk=draw(st.integers(0, len(symbols)))))
        else:
            n_rows = draw(st.sampled_from([1, 2, 5, 64, 1001]))
            finders.append(Hashing(draw(SEEDS), draw(st.integers(1, 4))))
        arrays.append(state.normal(size=(n_rows, width)).astype("f"))
        pool = numpy.array(draw(st.lists(KEYS, min_size=1, max_size=9)), dtype="uint64")
        columns.append(state.choice(pool, n))
    return arrays, finders, numpy.stack(columns, axis=1)


def find(finder, n_rows, keys):
    """Find rows with Thinc's hashing or a dictionary."""
    if isinstance(finder, Hashing):
        options = {"seed": finder.seed, "num_hashes": finder.num_hashes}
        keys = numpy.ascontiguousarray(keys)
        return find_rows(NumpyOps(), keys, rows=n_rows, **options).astype("int64")
    free = [row for row in range(n_rows) if row != finder.unk]
    rows = dict(zip(finder.symbols.tolist(), free, strict=True))
    found = [rows.get(key, finder.unk) for key in keys.tolist()]
    return numpy.array(found, dtype="int64").reshape(-1, 1)


def put(gpu, arrays, finders):
    """Copy tables to the GPU."""
    tables = []
    for array, finder in zip(arrays, finders, strict=True):
        if isinstance(finder, Lookup):
            finder = replace(finder, symbols=gpu.array(finder.symbols))
        tables.append(Table(gpu.array(array), finder))
    return tables


def assert_close(actual, expected):
    numpy.testing.assert_allclose(actual, expected, atol=1e-5, rtol=1e-5)


@shared
@given(
    batch=batches(),
    n_more=st.sampled_from([0, 1, 4]),
    has_scale=st.booleans(),
    has_weights=st.booleans(),
)
def test_rows_are_gathered_and_their_gradients_scattered(
    gpu, batch, n_more, has_scale, has_weights
):
    arrays, finders, keys = batch
    n, width, state = len(keys), arrays[0].shape[1], numpy.random.default_rng(0)
    n_columns = len(arrays) * width
    # weights of each token's rows, for each table
    weights = [state.normal(size=(n, f.num_hashes)).astype("f") for f in finders]
    scale, options = numpy.arange(n_columns, dtype="f") % 3, {}
    if has_weights:
        options["weights"] = gpu.array(numpy.hstack(weights))
    else:
        weights = [numpy.ones_like(array) for array in weights]
    if has_scale:
        options["scale"] = gpu.array(scale)
    else:
        scale[:] = 1
    out = gpu.array(numpy.full((n, n_columns + n_more), 99, dtype="f"))
    tables = put(gpu, arrays, finders)
    pairs = cuda.gather_rows(gpu.array(keys), tables, out, **options)
    each = zip(finders, arrays, keys.T, strict=True)
    all_rows = [find(finder, len(array), column) for finder, array, column in each]
    sums = [
        (array[rows] * of_rows[..., None]).sum(axis=1)
        for array, rows, of_rows in zip(arrays, all_rows, weights, strict=True)
    ]
    out = gpu.get(out)
    assert_close(out[:, :n_columns], numpy.hstack(sums) * scale)
    assert (out[:, n_columns:] == 99).all(), "other columns are unchanged"

    d_out = state.normal(size=out.shape).astype("f")
    gradients = put(gpu, [numpy.ones_like(array) for array in arrays], finders)
    for _ in range(2):  # the second call adds to existing gradients
        cuda.scatter_rows(pairs, gpu.array(d_out), gradients, **options)
    dYs = numpy.split((d_out[:, :n_columns] * scale).astype("d"), len(arrays), axis=1)
    for i, (gradient, rows) in enumerate(zip(gradients, all_rows, strict=True)):
        expected = numpy.ones(arrays[i].shape)
        for rows_of_hash, weight in zip(rows.T, weights[i].T, strict=True):
            numpy.add.at(expected, rows_of_hash, 2 * dYs[i] * weight[:, None])
        assert_close(gpu.get(gradient.array), expected)


def test_the_doctor_tries_the_kernels(gpu, monkeypatch):
    doctor.try_kernels(gpu.ops.xp)
    monkeypatch.setattr(doctor, "gather_rows", lambda *_: None)
    with pytest.raises(ValueError, match="kernel"):
        doctor.try_kernels(gpu.ops.xp)


@pytest.mark.parametrize("chunk_size", [8, 16, 64])
def test_long_runs_and_large_batches(gpu, monkeypatch, chunk_size):
    """Most keys are equal, so that runs exceed chunks; tokens exceed one grid."""
    assert [cuda._get_chunk_size(10**k) for k in (0, 6, 8)] == [8, 32, 256]
    monkeypatch.setattr(cuda, "_get_chunk_size", lambda n_pairs: chunk_size)
    monkeypatch.setattr(cuda, "MAX_BLOCKS", 2)
    finder, table = Hashing(seed=3, num_hashes=2), numpy.zeros((5, 4), dtype="f")
    for n in (1, 2, 16, 17, 63, 64, 65, 300):
        keys = numpy.full((n, 1), 7, dtype="uint64")
        keys[:: n // 3 + 1] = 8
        d_out = numpy.random.default_rng(n).normal(size=(n, 4)).astype("f")
        (gradient,) = put(gpu, [table], [finder])
        out = gpu.array(numpy.ones_like(d_out))
        pairs = cuda.gather_rows(gpu.array(keys), [gradient], out)
        assert not gpu.get(out).any()
        cuda.scatter_rows(pairs, gpu.array(d_out), [gradient])
        expected = table.astype("float64")
        for rows in find(finder, 5, keys[:, 0]).T:
            numpy.add.at(expected, rows, d_out.astype("float64"))
        numpy.testing.assert_allclose(gpu.get(gradient.array), expected, atol=1e-4)


@pytest.mark.parametrize(
    ("offset", "width", "n_more", "vector"),
    [(0, 4, 0, "float4"), (1, 4, 0, "float"), (0, 6, 0, "float"), (0, 4, 1, "float")],
)
def test_float4(gpu, used, offset, width, n_more, vector):
    """Kernels use float4 only if 16 bytes divide the addresses of all rows."""
    keys = numpy.arange(20, dtype="uint64").reshape(-1, 1)
    values = numpy.arange(offset + 6 * width, dtype="f")
    table = gpu.array(values)[offset:].reshape(6, width)
    finder = Hashing(seed=1, num_hashes=2)
    out = gpu.array(numpy.empty((20, width + n_more), dtype="f"))
    pairs = cuda.gather_rows(gpu.array(keys), [Table(table, finder)], out)
    rows = find(finder, 6, keys[:, 0])
    expected = values[offset:].reshape(6, width)[rows].sum(axis=1)
    assert_close(gpu.get(out)[:, :width], expected)
    gradient = gpu.array(numpy.zeros(offset + 6 * width, "f"))[offset:]
    cuda.scatter_rows(pairs, out, [Table(gradient.reshape(6, width), finder)])
    assert_close(gpu.get(gradient).sum(), 2 * expected.sum())
    names = ["gather_sum", "sum_runs", "join_runs"]
    assert used == [(name, vector) for name in names]


def test_too_many_rows_raise(gpu):
    keys = numpy.broadcast_to(numpy.uint64(1), (2**30, 1))  # takes no memory
    table = Table(numpy.zeros((2, 4), "f"), Hashing(seed=1, num_hashes=4))
    with pytest.raises(ValueError, match="4294967296 rows"):
        cuda.gather_rows(keys, [table], numpy.zeros((1, 4), "f"))


@pytest.mark.skipif(shutil.which("nvcc") is None, reason=NO_NVCC)
@pytest.mark.parametrize("vector", ["float", "float4"])
@pytest.mark.parametrize("code", ["80", "90"])
def test_sources_compile(tmp_path, code, vector):
    target = f"-gencode=arch=compute_{code},code=sm_{code}"
    options = ["-std=c++17", f"-DVector={vector}", "-Werror", "all-warnings", target]
    sources = ["-include", str(cuda.HEADER), str(cuda.SOURCE)]
    output = ["-c", "-o", str(tmp_path / "embed.o")]
    subprocess.run(["nvcc", *options, *sources, *output], check=True)
