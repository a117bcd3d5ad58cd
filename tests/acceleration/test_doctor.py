"""What the doctor finds of an installation and a machine, and what it advises."""

import platform
import re
import sys
from configparser import ConfigParser
from importlib.metadata import EntryPoint
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import spacy
from packaging.requirements import Requirement
from thinc.api import Config, NumpyOps

from spacy_hashembeds.acceleration import doctor
from spacy_hashembeds.acceleration.blas import SHAPES, Blas
from spacy_hashembeds.acceleration.conversion import convert_config
from spacy_hashembeds.acceleration.doctor import Gpu, advise, examine, find_problems
from spacy_hashembeds.kernels import compiled

from ..conftest import ROOT
from ..kernels.paths import KERNELS


class OtherOps(NumpyOps):
    """Stands for operations that are made for a processor."""


def test_this_installation_is_sound(monkeypatch):
    monkeypatch.setattr(doctor, "get_current_ops", OtherOps)
    health = examine()
    if doctor.examine_gpu().error is None:
        assert health["problems"] == []
    assert {*health["speeds"]} == {"blis", "numpy's BLAS", "OtherOps"}
    for row in health["speeds"].values():
        assert len(row) == len(SHAPES)
        assert min(row) > 0
    assert health["blas"][0].name == "blis"
    machine = health["machine"]
    assert machine["Python"] == platform.python_version()
    assert machine["Processor"]
    assert (machine["Kernels of our layers"] == "compiled") == bool(compiled.kernels)
    assert {"Products of bfloat16", "Products of int8"} <= {*machine}


# Versions


@pytest.fixture
def find(monkeypatch):
    def find(**others: str | None) -> doctor.Versions:
        found = {"spacy": "3.8.18", "thinc": "8.3.14", "numpy": "2.4"}
        found |= {"jinja2": "3.1.6", "tqdm": "4.70.1", "import-linter": "2.16"} | others

        def get_version(name: str) -> str:
            if found.get(name) is None:
                raise doctor.PackageNotFoundError
            return found[name]

        monkeypatch.setattr(doctor, "version", get_version)
        return doctor.find_versions()

    return find


def test_requirements_and_installed_extras_are_listed(find):
    # tools for tests are nobody's concern, nor are extras that are not there
    required = {"spacy-hashembeds", "spacy", "thinc", "numpy", "jinja2", "tqdm"}
    assert {*find()} == required
    versions = find(torch="2.7", spacy="3.8.19.dev0")
    assert {*versions} == {*required, "torch"}
    assert versions["torch"] == ("2.7", ">=2.6")
    assert [*find_problems(versions, Gpu())] == []


@pytest.mark.parametrize(
    ("name", "installed"), [("spacy", "3.9.0"), ("thinc", None), ("torch", "1.0")]
)
def test_versions_outside_our_ranges_are_a_problem(name, installed, find):
    (problem,) = find_problems(find(**{name: installed}), Gpu())
    assert f"pip install '{name}" in problem


def test_pythons_and_ranges_are_the_same_everywhere():
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf8")
    readme, page, project = (
        (ROOT / name).read_text(encoding="utf8")
        for name in ("README.md", "docs/versions.md", "pyproject.toml")
    )
    pythons = re.findall(r"Python :: (3\.\d+)", setup["metadata"]["classifiers"])
    assert setup["options"]["python_requires"] == f">={pythons[0]}"
    assert f"Python {pythons[0]} to {pythons[-1]}" in readme
    assert f'target-version = "py{pythons[0].replace(".", "")}"' in project
    assert f'python_version = "{pythons[0]}"' in project
    lines = setup["options"]["install_requires"].split("\n")
    required = {
        one.name: one.specifier for one in map(Requirement, filter(None, lines))
    }
    rows = re.findall(r"^\| ([a-z]\w+) \| ([\d.]+) \| ([\d.]+) \|", page, re.M)
    assert {name for name, *_ in rows} == set(required)
    for name, oldest, newest in rows:
        lowest = [one.version for one in required[name] if one.operator == ">="]
        assert lowest == [oldest]
        assert required[name].contains(newest)


# Entry points, GPUs, the parser


@pytest.mark.parametrize("value", ["spacy_hashembeds.no_module:make", "json:no_name"])
def test_an_entry_point_that_does_not_load_is_a_problem(value, monkeypatch):
    own = [EntryPoint("spacy-hashembeds.X.v1", value, "spacy_architectures")]
    own += [EntryPoint("spacy-hashembeds.Y.v1", "json:dumps", "spacy_architectures")]
    fake = SimpleNamespace(entry_points=own)
    monkeypatch.setattr(doctor, "distribution", lambda name: fake)
    (problem,) = find_problems({}, Gpu())
    assert "spacy_architectures: spacy-hashembeds.X.v1" in problem


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
        (type("Broken", (FakeCupy,), {"ones": np.zeros}), 3.0, "ValueError"),
        (ImportError("libcublas.so.12 is missing"), 3.0, "libcublas"),
    ],
)
def test_a_gpu_is_tried(cupy, number, expected, monkeypatch):
    """Each of four sums is one of three rows of ones."""

    def import_module(name: str) -> Any:
        if isinstance(cupy, Exception):
            raise cupy
        return cupy

    monkeypatch.setattr(doctor, "find_spec", lambda name: "a spec")
    monkeypatch.setattr(doctor, "import_module", import_module)
    monkeypatch.setattr(doctor, "gather_rows", lambda k, t, out: out.fill(number))
    gpu = doctor.examine_gpu()
    problems = [*find_problems({}, gpu)]
    if isinstance(expected, Gpu):
        assert (gpu, problems) == (expected, [])
    else:
        assert gpu.device is None
        assert expected in problems[0]
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    assert doctor.examine_gpu() == Gpu()


# Speed


@pytest.fixture
def get_advice(monkeypatch):
    """Advise on a machine where nothing could be faster, but for what is given."""
    monkeypatch.setattr(compiled, "find", lambda: (KERNELS or "kernels", None))
    monkeypatch.delenv(compiled.SWITCH, raising=False)

    def get_advice(
        kernels="SkylakeX", faster=False, instructions="AVX-512", ops=NumpyOps, path=""
    ):
        monkeypatch.setattr(doctor, "is_numpy_faster", lambda: faster)
        monkeypatch.setattr(doctor, "name_instructions", lambda name: instructions)
        monkeypatch.setattr(doctor, "get_current_ops", ops)
        module = SimpleNamespace(__file__=path or None)
        monkeypatch.setattr(doctor, "import_module", lambda name: module)
        return [*advise([Blas("blis", "1", "generic"), Blas("openblas", "1", kernels)])]

    return get_advice


def test_a_faster_blas_is_advised_by_what_to_write(get_advice):
    assert get_advice() == []
    (advice,) = get_advice(faster=True)
    assert "its generic kernels" in advice
    config = Config({"nlp": {}, "components": {}})
    written = convert_config(spacy.blank("en"), config, blas=True)["nlp"]
    ((place, block),) = written.items()
    assert f'[nlp.{place}] @callbacks = "{block["@callbacks"]}"' in advice
    assert get_advice(faster=True, ops=OtherOps) == []


@pytest.mark.parametrize(
    ("kernels", "instructions", "is_advised"),
    [
        *(("Haswell", "AVX-512", True), ("Zen", "AVX-512", True)),
        *(("SkylakeX", "AVX-512", False), ("Haswell", "AVX2", False)),
    ],
)
def test_openblas_without_avx512_gets_advice(
    kernels, instructions, is_advised, get_advice
):
    advice = get_advice(kernels, instructions=instructions)
    assert ["OPENBLAS_CORETYPE=" in each for each in advice] == [True] * is_advised


@pytest.mark.parametrize("error", [None, ImportError("file too short")])
def test_missing_kernels_get_advice(get_advice, error, monkeypatch):
    monkeypatch.setattr(compiled, "find", lambda: (None, error))
    (advice,) = get_advice()
    assert advice == doctor.describe_missing_kernels()
    assert ("file too short" in advice) == bool(error)
    monkeypatch.setenv(compiled.SWITCH, "0")
    assert doctor.describe_missing_kernels() is None
    (advice,) = get_advice()
    assert compiled.SWITCH in advice


def test_a_parser_that_is_compiled_for_profiling_gets_advice(get_advice, tmp_path):
    # spaCy's setup.py asks for profiling below Python 3.12 alone
    assert doctor.is_parser_profiled() is (sys.version_info < (3, 12))
    path = tmp_path / "parser_model.so"
    for names, n_advised in ((b"\0PyThreadState_EnterTracing\0", 1), (b"\0", 0)):
        path.write_bytes(b"\x7fELF" + names)
        assert len(get_advice(path=str(path))) == n_advised
