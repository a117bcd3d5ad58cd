import platform

import pytest
from thinc.api import Config, NumpyOps, get_current_ops

from spacy_hashembeds.acceleration import blas, doctor, installation
from spacy_hashembeds.acceleration.conversion import convert_config
from spacy_hashembeds.acceleration.machine import Spread

NO_GPU = doctor.Gpu(None, None, None)
BLAS = [blas.Blas("blis", "1", "generic", 1), blas.Blas("openblas", "1", "Zen", 2)]
KERNELS = doctor.Kernels("compiled", True, None, {})


def make_speeds(*numpys: float) -> dict[str, list[Spread]]:
    speeds = {"blis": (10.0, 20.0), "numpy's BLAS, one thread": numpys}
    return {name: [(x, (x, x)) for x in row] for name, row in speeds.items()}


EVEN, FASTER = make_speeds(11.0, 60.0), make_speeds(15.0, 60.0)


def test_this_installation_is_sound():
    health = doctor.examine()
    if health.gpu.error is None:
        assert health.problems == []
    assert {"blis", "numpy's BLAS, one thread"} <= set(health.speeds)
    assert all(len(row) == len(health.shapes) for row in health.speeds.values())
    assert all(one[1][0] > 0 for row in health.speeds.values() for one in row)
    assert health.blas[0].name == "blis"
    assert health.ops == type(get_current_ops()).__name__
    assert health.cores >= 1
    assert health.python == platform.python_version()


def test_environment_variables_for_threads_are_shown(monkeypatch):
    monkeypatch.setattr(doctor, "measure_choices", lambda threads: FASTER)
    for name in doctor.THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert doctor.examine().threads == {"OMP_NUM_THREADS": "3"}


def test_the_measurement_that_varied_most_speaks_against_all(monkeypatch):
    speeds = EVEN | {"another": [(50.0, (48.0, 51.0)), (9.0, (6.0, 12.0))]}
    monkeypatch.setattr(doctor, "measure_choices", lambda threads: speeds)
    *_, disturbance = doctor.examine().disturbances
    assert "quartiles of products (another) are 67 percent" in disturbance


# Advice


def test_a_gpu_without_cupy_gets_advice(monkeypatch):
    monkeypatch.setattr(doctor.shutil, "which", lambda name: "/usr/bin/nvidia-smi")
    (advice,) = doctor.advise_on_gpu(NO_GPU)
    assert "pip install 'spacy-hashembeds[cuda12x]'" in advice
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    assert not [*doctor.advise_on_gpu(NO_GPU)]
    monkeypatch.setattr(doctor.shutil, "which", lambda name: "/usr/bin/nvidia-smi")
    assert not [*doctor.advise_on_gpu(doctor.Gpu("13.0", "Some GPU", None))]


def test_a_parser_that_is_profiled_gets_advice_and_is_not_broken(monkeypatch):
    monkeypatch.setattr(doctor, "measure_choices", lambda threads: EVEN)
    monkeypatch.setattr(doctor, "examine_kernels", lambda: KERNELS)
    monkeypatch.setattr(doctor, "name_instructions", lambda precision: None)
    monkeypatch.setattr(installation, "examine_gpu", lambda: NO_GPU)
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    for profiled in (True, False):
        monkeypatch.setattr(installation, "is_parser_profiled", lambda p=profiled: p)
        health = doctor.examine()
        assert health.parser_profiled is profiled
        assert health.problems == []
        assert len(health.advice) == profiled
    (advice,) = doctor.advise_on_python(True)
    assert f"for this Python, {platform.python_version()}," in advice
    assert "wheels for Python 3.12 and later" in advice


# BLAS


@pytest.fixture
def chosen(monkeypatch):
    """Says whether the callback would choose numpy's BLAS here."""
    return lambda is_it: monkeypatch.setattr(doctor, "is_numpy_faster", lambda: is_it)


def test_advice_says_what_to_write_and_what_it_brings(chosen):
    chosen(True)
    (advice,) = doctor.advise_on_blas(BLAS, FASTER)
    assert "1.5 to 3.0 times as fast" in advice
    assert "its generic kernels" in advice
    written = convert_config(Config({"nlp": {}}), blas=True)["nlp"]
    ((place, block),) = written.items()
    assert f'[nlp.{place}] @callbacks = "{block["@callbacks"]}"' in advice


@pytest.mark.parametrize(("is_chosen", "speeds"), [(True, EVEN), (False, FASTER)])
def test_there_is_no_advice_where_nothing_would_be_gained(chosen, is_chosen, speeds):
    chosen(is_chosen)
    assert doctor.advise_on_blas(BLAS, speeds) == []


@pytest.mark.parametrize(
    ("kernels", "instructions", "is_advised"),
    [
        ("Haswell", "AVX-512", True),
        ("Zen", "AVX-512", True),
        ("SkylakeX", "AVX-512", False),
        ("Haswell", "AVX2", False),
        (None, "AVX-512", False),
        ("Haswell", None, False),
    ],
)
def test_openblas_without_avx512_gets_advice(kernels, instructions, is_advised):
    found = blas.Blas("openblas", "1", kernels, 1)
    advice = [*doctor.advise_on_openblas(found, instructions)]
    assert len(advice) == is_advised
    assert all("OPENBLAS_CORETYPE=SKYLAKEX" in each for each in advice)


class OtherOps(NumpyOps):
    """Stands for operations that are made for a processor."""


def test_other_operations_are_measured_and_left_alone(monkeypatch, chosen):
    monkeypatch.setattr(doctor, "get_current_ops", OtherOps)
    chosen(True)
    monkeypatch.setattr(
        doctor, "measure_speeds", lambda choices: dict.fromkeys(choices, ())
    )
    assert "OtherOps" in doctor.measure_choices(1)
    assert doctor.advise_on_blas(BLAS, FASTER) == []


@pytest.mark.parametrize(("threads", "more"), [(None, []), (1, []), (4, ["4 threads"])])
def test_several_threads_are_measured_too(threads, more, monkeypatch):
    monkeypatch.setattr(
        doctor, "measure_speeds", lambda choices: dict.fromkeys(choices, ())
    )
    names = list(doctor.measure_choices(threads))
    expected = ["blis", "numpy's BLAS, one thread"]
    assert names == expected + [f"numpy's BLAS, {name}" for name in more]
