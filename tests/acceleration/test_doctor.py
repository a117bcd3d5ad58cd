"""What the doctor finds of an installation and a machine, and what it advises."""

import platform
import re
import sys
from configparser import ConfigParser
from dataclasses import replace
from importlib.metadata import EntryPoint
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from packaging.requirements import Requirement
from thinc.api import Config, NumpyOps

from spacy_hashembeds.acceleration import doctor, installation
from spacy_hashembeds.acceleration.blas import SHAPES, Blas
from spacy_hashembeds.acceleration.conversion import convert_config
from spacy_hashembeds.acceleration.doctor import (
    advise_on_installation,
    advise_on_speed,
    examine,
    find_problems,
)
from spacy_hashembeds.acceleration.installation import NEWEST, Gpu, Version
from spacy_hashembeds.kernels import compiled

from ..conftest import ROOT
from ..kernels.paths import KERNELS

BLAS = [Blas("blis", "1", "generic"), Blas("openblas", "1", "SkylakeX")]


def test_this_installation_is_sound():
    health = examine()
    if health.gpu.error is None:
        assert health.problems == []
    assert {"blis", "numpy's BLAS"} <= {*health.speeds}
    for row in health.speeds.values():
        assert len(row) == len(SHAPES)
        assert min(row) > 0
    assert health.blas[0].name == "blis"
    assert health.compiled == (compiled.kernels is not None)
    assert {*health.instructions} == {"bfloat16", "int8"}
    assert health.processor
    assert health.python == platform.python_version()


# Versions

#: Of all that we require.
REQUIRED = {
    **{"spacy": "3.8.18", "thinc": "8.3.14", "numpy": "2.4"},
    **{"jinja2": "3.1.6", "tqdm": "4.70.1"},
}


@pytest.fixture
def find(monkeypatch):
    def find(**others: str | None) -> list[Version]:
        found = {**REQUIRED, "import-linter": "2.16", **others}
        monkeypatch.setattr(installation, "_get_version", found.get)
        return installation.find_versions()

    return find


def test_requirements_and_installed_extras_are_listed(find):
    # tools for tests are nobody's concern, nor are extras that are not there
    assert {v.name for v in find()} == {"spacy-hashembeds", *REQUIRED}
    versions = find(torch="2.7", spacy="3.8.19.dev0")
    assert {v.name for v in versions} == {"spacy-hashembeds", *REQUIRED, "torch"}
    assert all(version.ok for version in versions)


@pytest.mark.parametrize(
    ("name", "installed"), [("spacy", "3.9.0"), ("thinc", None), ("torch", "1.0")]
)
def test_versions_outside_our_ranges_are_a_problem(name, installed, find):
    versions = find(**{name: installed})
    assert [v.name for v in versions if not v.ok] == [name]
    (problem,) = find_problems(versions, {}, Gpu())
    assert f"pip install '{name}" in problem


@pytest.mark.parametrize(
    ("name", "version", "is_tested"),
    [
        *(("numpy", version, True) for version in ("2.0", "2.4.6", "2.5", "2.5.99")),
        *(("tqdm", "99.0", True), ("spacy", "3.8.18", True)),
        *(("numpy", "2.6.0", False), ("spacy", "3.8.19.dev0", False)),
        # which are problems
        *(("numpy", "3.0", True), ("spacy", None, True)),
    ],
)
def test_a_version_that_is_newer_than_the_tests_is_named(
    name, version, is_tested, find, monkeypatch
):
    monkeypatch.setattr(installation, "NEWEST", {"numpy": "2.5", "spacy": "3.8.18"})
    versions = find(**{name: version})
    versions = [replace(v, required="<3") if v.name == "numpy" else v for v in versions]
    untested = list(installation.find_untested(versions))
    assert len(untested) == (not is_tested)
    for text in untested:
        requirement = Requirement(re.findall("'(.+)'", text)[0])
        assert requirement.specifier.contains(installation.NEWEST[name])


def test_another_python_or_system_is_named(monkeypatch):
    monkeypatch.setattr(platform, "python_version_tuple", lambda: ("3", "10", "1"))
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    untested = " ".join(installation.find_untested([]))
    assert "3.10" in untested
    assert "Darwin" in untested


def test_pythons_and_ranges_are_the_same_everywhere():
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf8")
    pythons = re.findall(r"Python :: (3\.\d+)", setup["metadata"]["classifiers"])
    assert setup["options"]["python_requires"] == f">={pythons[0]}"
    assert f"Python {pythons[0]} to {pythons[-1]}" in read("README.md")
    page = read("docs/versions.md")
    assert re.findall(r"^\| (3\.\d+) \|", page, re.M) == pythons
    project = read("pyproject.toml")
    assert f'target-version = "py{pythons[0].replace(".", "")}"' in project
    assert f'python_version = "{pythons[0]}"' in project
    lines = setup["options"]["install_requires"].split("\n")
    required = {
        one.name: one.specifier for one in map(Requirement, filter(None, lines))
    }
    pins = re.findall(r"^([^#\n]+)==(.+)$", read("constraints.txt").lower(), re.M)
    rows = re.findall(r"^\| ([a-z]\w+) \| ([\d.]+) \| ([\d.]+) \|", page, re.M)
    assert {name for name, *_ in rows} == set(required) > set(NEWEST)
    for name, oldest, newest in rows:
        lowest = [one.version for one in required[name] if one.operator == ">="]
        assert lowest == [oldest]
        assert newest == NEWEST.get(name, dict(pins)[name])
        assert required[name].contains(newest)


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf8")


# Entry points, GPUs, the parser


@pytest.mark.parametrize("value", ["spacy_hashembeds.no_module:make", "json:no_name"])
def test_an_entry_point_that_does_not_load_is_a_problem(value, monkeypatch):
    assert installation.check_entry_points() == {}
    own = [EntryPoint("spacy-hashembeds.X.v1", value, "spacy_architectures")]
    own += [EntryPoint("spacy-hashembeds.Y.v1", "json:dumps", "spacy_architectures")]
    fake = SimpleNamespace(entry_points=own)
    monkeypatch.setattr(installation, "distribution", lambda name: fake)
    errors = installation.check_entry_points()
    assert list(errors) == ["spacy_architectures: spacy-hashembeds.X.v1"]
    (problem,) = find_problems([], errors, Gpu())
    assert "no_" in problem


class FakeCupy:
    """Numpy with what else is asked of CuPy."""

    __version__ = "13.0"
    runtime = SimpleNamespace(getDeviceProperties=lambda number: {"name": b"Some GPU"})
    cuda = SimpleNamespace(runtime=runtime)
    zeros, ones = np.zeros, np.ones


@pytest.mark.parametrize(
    ("cupy", "number", "expected"),
    [
        (FakeCupy, 3.0, Gpu("13.0", "Some GPU")),
        (FakeCupy, 1.0, "ValueError"),
        (ImportError("libcublas.so.12 is missing"), 3.0, "libcublas"),
        (RuntimeError("no driver"), 3.0, "no driver"),
        (SimpleNamespace(), 3.0, "AttributeError"),
    ],
)
def test_a_gpu_is_tried(cupy, number, expected, monkeypatch):
    """Each of four sums is one of three rows of ones."""

    def import_module(name: str) -> Any:
        if isinstance(cupy, Exception):
            raise cupy
        return cupy

    monkeypatch.setattr(installation, "find_spec", lambda name: "a spec")
    monkeypatch.setattr(installation, "import_module", import_module)
    monkeypatch.setattr(installation, "gather_rows", lambda k, t, out: out.fill(number))
    gpu = installation.examine_gpu()
    if isinstance(expected, Gpu):
        assert gpu == expected
        assert find_problems([], {}, gpu) == []
    else:
        assert gpu.device is None
        (problem,) = find_problems([], {}, gpu)
        assert expected in problem


def test_no_cupy_is_no_problem_but_a_gpu_without_it_gets_advice(monkeypatch):
    monkeypatch.setattr(installation, "find_spec", lambda name: None)
    assert installation.examine_gpu() == Gpu()
    assert find_problems([], {}, Gpu()) == []
    for found, cupy, is_advised in (
        ("/usr/bin/nvidia-smi", None, True),
        (None, None, False),
        ("/usr/bin/nvidia-smi", "13.0", False),
    ):
        monkeypatch.setattr(doctor.shutil, "which", lambda name, found=found: found)
        advice = [*advise_on_installation(False, Gpu(cupy))]
        assert ["spacy-hashembeds[cuda12x]" in each for each in advice] == [
            True
        ] * is_advised


def test_a_parser_that_is_compiled_for_profiling_gets_advice(monkeypatch, tmp_path):
    # spaCy's setup.py asks for profiling below Python 3.12 alone
    assert installation.is_parser_profiled() is (sys.version_info < (3, 12))
    path = tmp_path / "parser_model.so"
    module = SimpleNamespace(__file__=str(path))
    monkeypatch.setattr(installation, "import_module", lambda name: module)
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    for names, expected in (
        (b"\0PyGILState_Ensure\0PyThreadState_EnterTracing\0", True),
        (b"\0PyGILState_Ensure\0", False),
    ):
        path.write_bytes(b"\x7fELF" + names)
        assert installation.is_parser_profiled() is expected
        assert len([*advise_on_installation(expected, Gpu())]) == expected


# Speed


@pytest.fixture
def advise(monkeypatch):
    """Advise on a machine where nothing could be faster, but for what is given."""

    def advise(blas=BLAS, is_faster=False, instructions="AVX-512", ops=NumpyOps):
        monkeypatch.setattr(doctor, "is_numpy_faster", lambda: is_faster)
        monkeypatch.setattr(doctor, "name_instructions", lambda name: instructions)
        monkeypatch.setattr(doctor, "get_current_ops", ops)
        return [*advise_on_speed(blas)]

    monkeypatch.setattr(compiled, "find", lambda: (KERNELS or "kernels", None))
    monkeypatch.delenv(compiled.SWITCH, raising=False)
    return advise


class OtherOps(NumpyOps):
    """Stands for operations that are made for a processor."""


def test_a_faster_blas_is_advised_by_what_to_write(advise):
    assert advise() == []
    (advice,) = advise(is_faster=True)
    assert "its generic kernels" in advice
    written = convert_config(Config({"nlp": {}}), blas=True)["nlp"]
    ((place, block),) = written.items()
    assert f'[nlp.{place}] @callbacks = "{block["@callbacks"]}"' in advice
    assert advise(is_faster=True, ops=OtherOps) == []


def test_other_operations_are_measured(monkeypatch):
    monkeypatch.setattr(doctor, "get_current_ops", OtherOps)
    assert "OtherOps" in examine().speeds


@pytest.mark.parametrize(
    ("kernels", "instructions", "is_advised"),
    [
        *(("Haswell", "AVX-512", True), ("Zen", "AVX-512", True)),
        *(("SkylakeX", "AVX-512", False), ("Haswell", "AVX2", False)),
        *((None, "AVX-512", False), ("Haswell", None, False)),
    ],
)
def test_openblas_without_avx512_gets_advice(kernels, instructions, is_advised, advise):
    blas = [BLAS[0], Blas("openblas", "1", kernels)]
    advice = advise(blas, instructions=instructions)
    assert ["OPENBLAS_CORETYPE=" in each for each in advice] == [True] * is_advised


@pytest.mark.parametrize("error", [None, ImportError("file too short")])
def test_missing_kernels_get_advice(advise, error, monkeypatch):
    assert installation.describe_missing_kernels() is None
    monkeypatch.setattr(compiled, "find", lambda: (None, error))
    (advice,) = advise()
    assert advice == installation.describe_missing_kernels()
    assert "install a C++ compiler" in advice
    assert ("file too short" in advice) == bool(error)
    monkeypatch.setenv(compiled.SWITCH, "0")
    assert installation.describe_missing_kernels() is None
    (advice,) = advise()
    assert compiled.SWITCH in advice
