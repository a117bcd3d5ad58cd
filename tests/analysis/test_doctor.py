from importlib.metadata import EntryPoint, PackageNotFoundError
from types import SimpleNamespace
from typing import Any

import pytest
from thinc.api import NumpyOps, get_current_ops, set_current_ops

from spacy_hashembeds import blas
from spacy_hashembeds.analysis import doctor

SOUND = doctor.Version("spacy", "3.8.18", "<3.9,>=3.8.7", True)
NO_GPU = doctor.Gpu(None, None, None)
BLAS = [blas.Blas("blis", "1", "generic", 1), blas.Blas("openblas", "1", "Zen", 2)]
FASTER = {"blis": [10.0, 20.0], "numpy's BLAS, one thread": [15.0, 60.0]}


def make_cupy(product: float = 8.0, device: bytes = b"Some GPU") -> SimpleNamespace:
    """A CuPy whose matrices have a given sum, whatever is multiplied."""
    matrix = SimpleNamespace(sum=lambda: product)

    class Matrix:
        def __matmul__(self, other: Any) -> SimpleNamespace:
            return matrix

    runtime = SimpleNamespace(getDeviceProperties=lambda number: {"name": device})
    return SimpleNamespace(
        __version__="13.0",
        ones=lambda shape, dtype: Matrix(),
        cuda=SimpleNamespace(runtime=runtime),
    )


@pytest.fixture
def cupy(monkeypatch):
    """Have something imported in the place of CuPy; an exception is raised."""

    def install(module: Any) -> None:
        def import_module(name: str) -> Any:
            assert name == "cupy"
            if isinstance(module, Exception):
                raise module
            return module

        monkeypatch.setattr(doctor, "find_spec", lambda name: "a spec")
        monkeypatch.setattr(doctor, "import_module", import_module)

    return install


def test_this_installation_is_sound():
    health = doctor.examine()
    if health.gpu.error is None:
        assert health.problems == []
    assert {"blis", "numpy's BLAS, one thread"} <= set(health.speeds)
    assert all(len(row) == len(blas.SHAPES) for row in health.speeds.values())
    assert all(speed > 0 for row in health.speeds.values() for speed in row)
    assert health.blas[0].name == "blis"
    assert health.ops == type(get_current_ops()).__name__
    assert health.cores >= 1


def test_environment_variables_for_threads_are_shown(monkeypatch):
    monkeypatch.setattr(doctor, "measure_choices", lambda threads: FASTER)
    for name in doctor.THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert doctor.examine().threads == {"OMP_NUM_THREADS": "3"}


# Versions


def test_requirements_and_installed_extras_are_listed(monkeypatch):
    installed = {"spacy": "3.8.18", "thinc": "8.3.14", "numpy": "2.4", "torch": "2.7"}
    monkeypatch.setattr(doctor, "_get_version", installed.get)
    versions = {v.name: v for v in doctor.find_versions()}
    # tools for tests are nobody's concern, nor are extras that are not there
    assert set(versions) == {"spacy-hashembeds", *installed}
    assert all(version.ok for version in versions.values())


@pytest.mark.parametrize(
    ("name", "installed"), [("spacy", "3.9.0"), ("thinc", None), ("torch", "1.0")]
)
def test_versions_outside_our_ranges_are_a_problem(name, installed, monkeypatch):
    found = {"spacy": "3.8.18", "thinc": "8.3.14", "numpy": "2.4", name: installed}
    monkeypatch.setattr(doctor, "_get_version", found.get)
    versions = doctor.find_versions()
    assert [v.name for v in versions if not v.ok] == [name]
    (problem,) = doctor.find_problems(versions, {}, NO_GPU)
    assert problem.startswith(f"{name} should be ")
    assert installed is None or f"is {installed}" in problem
    assert f"pip install '{name}" in problem


def test_a_later_patch_that_is_not_final_is_within_the_range(monkeypatch):
    found = {"spacy": "3.8.19.dev0", "thinc": "8.3.14", "numpy": "2.4"}
    monkeypatch.setattr(doctor, "_get_version", found.get)
    assert all(version.ok for version in doctor.find_versions())


def test_what_is_not_installed_has_no_version(monkeypatch):
    def raise_error(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(doctor, "version", raise_error)
    assert doctor._get_version("anything") is None


# Entry points


def test_all_our_entry_points_load():
    assert doctor.check_entry_points() == {}


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("spacy_hashembeds.no_such_module:make", "ModuleNotFoundError.*no_such_module"),
        ("spacy_hashembeds.callbacks:no_such_function", "AttributeError.*no_such_func"),
    ],
)
def test_an_entry_point_that_does_not_load_is_a_problem(value, error, monkeypatch):
    own = [EntryPoint("spacy-hashembeds.X.v1", value, "spacy_architectures")]
    own += [EntryPoint("spacy-hashembeds.Y.v1", "json:dumps", "spacy_architectures")]
    fake = SimpleNamespace(entry_points=own)
    monkeypatch.setattr(doctor, "distribution", lambda name: fake)
    errors = doctor.check_entry_points()
    assert list(errors) == ["spacy_architectures: spacy-hashembeds.X.v1"]
    (problem,) = doctor.find_problems([SOUND], errors, NO_GPU)
    with pytest.raises(ValueError, match=f"spacy-hashembeds.X.v1.*{error}"):
        raise ValueError(problem)


# GPUs


def test_no_cupy_is_no_problem(monkeypatch):
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    assert doctor.examine_gpu() == NO_GPU
    assert doctor.find_problems([SOUND], {}, NO_GPU) == []


def test_a_usable_gpu_is_named(cupy):
    cupy(make_cupy())
    gpu = doctor.examine_gpu()
    assert gpu == ("13.0", "Some GPU", None)
    assert doctor.find_problems([SOUND], {}, gpu) == []
    assert doctor.advise_on_gpu(gpu) == []


@pytest.mark.parametrize(
    ("module", "error"),
    [
        (ImportError("libcublas.so.12 is missing"), "ImportError: libcublas.so.12"),
        (RuntimeError("no driver"), "RuntimeError: no driver"),
        (make_cupy(product=7.0), "ValueError: the product of two matrices is wrong"),
        (SimpleNamespace(__version__="13.0"), "AttributeError: .*ones"),
    ],
)
def test_a_cupy_that_cannot_be_used_is_a_problem_with_its_error(module, error, cupy):
    cupy(module)
    gpu = doctor.examine_gpu()
    assert gpu.device is None
    assert gpu.error is not None
    (problem,) = doctor.find_problems([SOUND], {}, gpu)
    with pytest.raises(ValueError, match=rf"can't be used \({error}.*cuda12x"):
        raise ValueError(problem)


def test_a_gpu_without_cupy_gets_advice(monkeypatch):
    monkeypatch.setattr(doctor.shutil, "which", lambda name: "/usr/bin/nvidia-smi")
    (advice,) = doctor.advise_on_gpu(NO_GPU)
    assert "pip install 'spacy-hashembeds[cuda12x]'" in advice
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    assert doctor.advise_on_gpu(NO_GPU) == []


# BLAS


def test_advice_says_what_to_write_and_what_it_brings():
    (advice,) = doctor.advise_on_blas(BLAS, FASTER)
    assert "1.5 to 3.0 times as fast" in advice
    assert "its generic kernels" in advice
    assert '[nlp.before_creation] @callbacks = "spacy-hashembeds.use' in advice


def test_there_is_no_advice_where_nothing_would_be_gained():
    even = {"blis": [10.0, 20.0], "numpy's BLAS, one thread": [11.0, 60.0]}
    assert doctor.advise_on_blas(BLAS, even) == []


class OtherOps(NumpyOps):
    """Stands for operations that are made for a processor."""


@pytest.fixture
def _other_ops():
    before = get_current_ops()
    set_current_ops(OtherOps())
    yield
    set_current_ops(before)


@pytest.mark.usefixtures("_other_ops")
def test_other_operations_are_measured_and_left_alone(monkeypatch):
    monkeypatch.setattr(
        doctor, "measure_speeds", lambda choices: dict.fromkeys(choices)
    )
    assert "OtherOps" in doctor.measure_choices(1)
    assert doctor.advise_on_blas(BLAS, FASTER) == []


@pytest.mark.parametrize(("threads", "more"), [(None, []), (1, []), (4, ["4 threads"])])
def test_several_threads_are_measured_too(threads, more, monkeypatch):
    monkeypatch.setattr(
        doctor, "measure_speeds", lambda choices: dict.fromkeys(choices)
    )
    names = list(doctor.measure_choices(threads))
    expected = ["blis", "numpy's BLAS, one thread"]
    assert names == expected + [f"numpy's BLAS, {name}" for name in more]
