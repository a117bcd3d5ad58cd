"""The benchmark of compiled kernels in a tiny setting."""

from typing import Any

import numpy as np
import pytest

from benchmarks import kernels
from spacy_hashembeds.kernels import compiled

from .kernels.paths import KERNELS, Noted, needs_kernels
from .toy_benchmarks import ONCE, assert_timing, assert_writes

#: What each piece should call.
CALLED = {
    "convolution, float32": ["copy_windows", "finish_rows"],
    "convolution, bfloat16": ["add_convolved"],
    "convolution, int8": ["add_convolved"],
    "finish, prediction": ["finish_rows"],
    "finish, forward and backward": ["begin_rows", "backprop_rows"],
    "windows, forward and backward": ["copy_windows", "add_windows"],
    "sums of four rows, forward and backward": ["gather_sums", "scatter_sums"],
    "distinct tokens": ["find_distinct"],
    "dropout mask": ["draw_mask"],
    "Adam": ["step_adam"],
}


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    with compiled.using(KERNELS):
        return kernels.measure_kernels(ONCE, rows=8, calls=2)


@needs_kernels
def test_each_piece_is_timed_on_both_paths(results):
    assert list(results["timings"]) == list(CALLED)
    for timed in results["timings"].values():
        assert list(timed["contenders"]) == ["numpy", "compiled"]
        us = {name: t["us_per_word"] for name, t in timed["contenders"].items()}
        for name, timing in timed["contenders"].items():
            assert_timing(timing)
            ratio = timed["times_as_fast_as_numpy"][name]
            assert ratio == pytest.approx(us["numpy"] / us[name])
    assert len(kernels.find_baselines(results)) == len(CALLED)


@pytest.mark.usefixtures("fewer_bits")
@pytest.mark.parametrize("name", CALLED)
def test_a_piece_calls_its_kernels(name):
    with compiled.using(noted := Noted(KERNELS)):
        run = kernels.ALL_PIECES[name](np.random.default_rng(0), 8)
        noted.names.clear()
        run()
    assert noted.names == CALLED[name]


@needs_kernels
def test_kernels_write_data_and_chart(results, tmp_path, capsys):
    with compiled.using(KERNELS):
        assert_writes(kernels, results, "measure_kernels", tmp_path)
    assert "| dropout mask |" in capsys.readouterr().out


def test_without_kernels_there_is_nothing_to_measure():
    with (
        compiled.using(None),
        pytest.raises(RuntimeError, match="should be compiled kernels in use"),
    ):
        kernels.measure_kernels(ONCE)
