import sys
from importlib.metadata import EntryPoint
from types import SimpleNamespace
from typing import Any

import pytest

from spacy_hashembeds.acceleration import installation
from spacy_hashembeds.acceleration.doctor import find_problems
from spacy_hashembeds.acceleration.installation import Gpu, Version

SOUND = Version("spacy", "3.8.18", "<3.9,>=3.8.7", True)
NO_GPU = Gpu()


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

        monkeypatch.setattr(installation, "find_spec", lambda name: "a spec")
        monkeypatch.setattr(installation, "import_module", import_module)
        # which tests/gpu has kernels for
        monkeypatch.setattr(installation, "try_kernels", lambda cupy: None)

    return install


# Versions

#: Of all that we require.
REQUIRED = {
    "spacy": "3.8.18",
    "thinc": "8.3.14",
    "jinja2": "3.1.6",
    "numpy": "2.4",
    "tqdm": "4.70.1",
}


def test_requirements_and_installed_extras_are_listed(monkeypatch):
    assert installation._get_version("no-such-distribution") is None
    installed = {**REQUIRED, "torch": "2.7"}
    monkeypatch.setattr(installation, "_get_version", installed.get)
    versions = {v.name: v for v in installation.find_versions()}
    # tools for tests are nobody's concern, nor are extras that are not there
    assert set(versions) == {"spacy-hashembeds", *installed}
    assert all(version.ok for version in versions.values())


@pytest.mark.parametrize(
    ("name", "installed"), [("spacy", "3.9.0"), ("thinc", None), ("torch", "1.0")]
)
def test_versions_outside_our_ranges_are_a_problem(name, installed, monkeypatch):
    found = {**REQUIRED, name: installed}
    monkeypatch.setattr(installation, "_get_version", found.get)
    versions = installation.find_versions()
    assert [v.name for v in versions if not v.ok] == [name]
    (problem,) = find_problems(versions, {}, NO_GPU)
    assert problem.startswith(f"{name} should be ")
    assert installed is None or f"is {installed}" in problem
    assert f"pip install '{name}" in problem


def test_a_later_patch_that_is_not_final_is_within_the_range(monkeypatch):
    found = {**REQUIRED, "spacy": "3.8.19.dev0"}
    monkeypatch.setattr(installation, "_get_version", found.get)
    assert all(version.ok for version in installation.find_versions())


# Entry points


def test_all_our_entry_points_load():
    assert installation.check_entry_points() == {}


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
    monkeypatch.setattr(installation, "distribution", lambda name: fake)
    errors = installation.check_entry_points()
    assert list(errors) == ["spacy_architectures: spacy-hashembeds.X.v1"]
    (problem,) = find_problems([SOUND], errors, NO_GPU)
    with pytest.raises(ValueError, match=f"spacy-hashembeds.X.v1.*{error}"):
        raise ValueError(problem)


# GPUs


def test_no_cupy_is_no_problem(monkeypatch):
    monkeypatch.setattr(installation, "find_spec", lambda name: None)
    assert installation.examine_gpu() == NO_GPU
    assert find_problems([SOUND], {}, NO_GPU) == []


def test_a_usable_gpu_is_named(cupy):
    cupy(make_cupy())
    gpu = installation.examine_gpu()
    assert gpu == Gpu("13.0", "Some GPU")
    assert find_problems([SOUND], {}, gpu) == []


def fail(cupy: Any) -> None:
    raise RuntimeError("nvrtc: error: no such architecture")


@pytest.mark.parametrize(
    ("module", "error"),
    [
        (ImportError("libcublas.so.12 is missing"), "ImportError: libcublas.so.12"),
        (RuntimeError("no driver"), "RuntimeError: no driver"),
        (make_cupy(), "RuntimeError: nvrtc: error: no such architecture"),
        (make_cupy(product=7.0), "ValueError: the product of two matrices is wrong"),
        (SimpleNamespace(__version__="13.0"), "AttributeError: .*ones"),
    ],
)
def test_a_cupy_that_cannot_be_used_is_a_problem_with_its_error(
    module, error, cupy, monkeypatch
):
    cupy(module)
    monkeypatch.setattr(installation, "try_kernels", fail)
    gpu = installation.examine_gpu()
    assert gpu.device is None
    assert gpu.error is not None
    (problem,) = find_problems([SOUND], {}, gpu)
    with pytest.raises(ValueError, match=rf"can't be used \({error}.*cuda12x"):
        raise ValueError(problem)


# spaCy's parser


def test_the_parser_is_compiled_as_spacy_compiles_it():
    """Its setup.py asks for profiling below Python 3.12 alone."""
    assert installation.is_parser_profiled() is (sys.version_info < (3, 12))


def test_profiling_is_read_from_the_compiled_file(monkeypatch, tmp_path):
    path = tmp_path / "parser_model.so"
    module = SimpleNamespace(__file__=str(path))
    monkeypatch.setattr(installation, "import_module", lambda name: module)
    for names, expected in (
        (b"\0PyGILState_Ensure\0PyThreadState_EnterTracing\0", True),
        (b"\0PyGILState_Ensure\0", False),
    ):
        path.write_bytes(b"\x7fELF" + names)
        assert installation.is_parser_profiled() is expected
