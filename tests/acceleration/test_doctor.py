"""Problems and advice of the doctor."""

import platform
import re
import sys
from collections.abc import Iterable
from configparser import ConfigParser
from importlib.metadata import EntryPoint
from operator import contains
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
from packaging.requirements import Requirement
from thinc.api import NumpyOps

from spacy_hashembeds.acceleration import doctor
from spacy_hashembeds.acceleration.blas import SHAPES, Blas
from spacy_hashembeds.acceleration.conversion import BLAS
from spacy_hashembeds.acceleration.doctor import Gpu, examine, find_problems
from spacy_hashembeds.kernels import compiled

from ..conftest import ROOT
from ..kernels.paths import KERNELS


class OtherOps(NumpyOps):
    """Fake ops for a processor."""


def check(said: Iterable[str], parts: list[str]) -> None:
    """Check that each message contains its part."""
    said = [*said]
    assert len(said) == len(parts)
    assert all(map(contains, said, parts))


def test_this_installation_has_no_problems(monkeypatch):
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
    assert (machine["Kernels"] == "compiled") == bool(compiled.kernels)
    assert {"Products in bfloat16", "Products in int8"} <= {*machine}


@pytest.mark.parametrize(
    ("kernels", "float32", "int8"),
    [
        ([], "AVX2", "not supported: needs AVX-512 VNNI, AVX-VNNI or NEON I8MM"),
        ([("AVX-VNNI", "int8", True)], "AVX2", "AVX-VNNI"),
        (None, "BLAS", "not supported: needs compiled kernels"),
    ],
)
def test_precisions_are_supported_or_named_with_what_they_need(
    kernels, float32, int8, monkeypatch
):
    if kernels is not None:
        sets = [*kernels, ("AVX2", "float32", True)]
        kernels = SimpleNamespace(INSTRUCTION_SETS=sets)
    monkeypatch.setattr(compiled, "kernels", kernels)
    assert doctor.describe_support("float32") == float32
    assert doctor.describe_support("int8").partition("; float32 is used")[0] == int8


# Versions


@pytest.mark.parametrize(
    ("others", "extras", "problems"),
    [
        ({}, set(), []),
        ({"torch": "2.7", "spacy": "3.8.19.dev0"}, {"torch"}, []),
        ({"spacy": "3.9.0"}, set(), ["but is 3.9.0. Try: pip install 'spacy"]),
        ({"thinc": None}, set(), ["not installed. Try: pip install 'thinc"]),
        ({"torch": "1.0"}, {"torch"}, ["but is 1.0. Try: pip install 'torch>=2.6'"]),
    ],
)
def test_requirements_and_installed_extras_are_checked(
    others, extras, problems, monkeypatch
):
    found = {"spacy": "3.8.18", "thinc": "8.3.14", "numpy": "2.4", "jinja2": "3.1.6"}
    # test tools and missing extras are ignored
    found |= {"tqdm": "4.70.1", "import-linter": "2.16"} | others

    def get_version(name: str) -> str:
        if found.get(name) is None:
            raise doctor.PackageNotFoundError
        return found[name]

    monkeypatch.setattr(doctor, "version", get_version)
    versions = doctor.find_versions()
    required = {"spacy-hashembeds", "spacy", "thinc", "numpy", "jinja2", "tqdm"}
    assert {*versions} == required | extras
    check(find_problems(versions, Gpu()), problems)


def test_versions_are_equal_in_all_files():
    names = ("setup.cfg", "README.md", "docs/versions.md", "pyproject.toml")
    config, readme, page, project = ((ROOT / n).read_text("utf8") for n in names)
    setup = ConfigParser()
    setup.read_string(config)
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
def test_broken_entry_points_are_problems(value, monkeypatch):
    own = [EntryPoint("spacy-hashembeds.X.v1", value, "spacy_architectures")]
    own += [EntryPoint("spacy-hashembeds.Y.v1", "json:dumps", "spacy_architectures")]
    fake = SimpleNamespace(entry_points=own)
    monkeypatch.setattr(doctor, "distribution", lambda name: fake)
    check(find_problems({}, Gpu()), ["spacy_architectures: spacy-hashembeds.X.v1"])


class FakeCupy:
    """numpy with functions of CuPy."""

    __version__ = "13.0"
    runtime = SimpleNamespace(getDeviceProperties=lambda number: {"name": b"Some GPU"})
    cuda = SimpleNamespace(runtime=runtime)
    zeros, ones = np.zeros, np.ones


@pytest.mark.parametrize(
    ("cupy", "number", "device", "problems"),
    [
        (FakeCupy, 3.0, "Some GPU", []),
        (FakeCupy, 1.0, None, ["ValueError"]),
        (type("Broken", (FakeCupy,), {"ones": np.zeros}), 3.0, None, ["ValueError"]),
        (ImportError("libcublas.so is missing"), 3.0, None, ["libcublas"]),
    ],
)
def test_gpus_are_checked(cupy, number, device, problems, monkeypatch):
    """Each of four sums adds three rows of ones."""
    monkeypatch.setattr(doctor, "find_spec", lambda name: "a spec")
    monkeypatch.setattr(doctor, "import_module", Mock(side_effect=[cupy]))
    monkeypatch.setattr(doctor, "gather_rows", lambda k, t, out: out.fill(number))
    gpu = doctor.examine_gpu()
    assert gpu[:2] == ("13.0" if device else "unknown", device)
    check(find_problems({}, gpu), problems)
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    assert doctor.examine_gpu() == Gpu()


# Speed

FASTER = f'[nlp.after_pipeline_creation] @callbacks = "{BLAS}"'
PROFILED = b"\x7fELF\0PyThreadState_EnterTracing\0"


@pytest.mark.parametrize(
    ("machine", "advised"),
    [
        ({}, []),
        ({"is_faster": True}, [f"its generic kernels. Add to a config: {FASTER}"]),
        ({"is_faster": True, "ops": OtherOps}, []),
        ({"openblas": "Haswell"}, ["OPENBLAS_CORETYPE="]),
        ({"openblas": "Zen"}, ["OPENBLAS_CORETYPE="]),
        ({"openblas": "Haswell", "instructions": "AVX2"}, []),
        ({"kernels": None}, ["kernels are not in"]),
        ({"kernels": None, "error": ImportError("too short")}, ["too short"]),
        ({"kernels": None, "switch": "0"}, [f"Unset {compiled.SWITCH}=0"]),
        ({"parser": PROFILED}, ["profiling"]),
        ({"parser": b"\x7fELF"}, []),
    ],
    ids=str,
)
def test_speed_ups_are_advised(machine, advised, monkeypatch, tmp_path):
    defaults = {"openblas": "SkylakeX", "instructions": "AVX-512", "ops": NumpyOps}
    defaults |= {"kernels": KERNELS or "kernels", "error": None, "switch": "1"}
    on = SimpleNamespace(**{**defaults, "is_faster": False, "parser": b"", **machine})
    path = tmp_path / "parser_model.so"
    path.write_bytes(on.parser)
    parser = SimpleNamespace(__file__=str(path))
    monkeypatch.setenv(compiled.SWITCH, on.switch)
    monkeypatch.setattr(compiled, "find", lambda: (on.kernels, on.error))
    monkeypatch.setattr(doctor, "is_numpy_faster", lambda: on.is_faster)
    monkeypatch.setattr(doctor, "name_instructions", lambda name: on.instructions)
    monkeypatch.setattr(doctor, "get_current_ops", on.ops)
    monkeypatch.setattr(doctor, "import_module", lambda name: parser)
    blas = [Blas("blis", "1", "generic"), Blas("openblas", "1", on.openblas)]
    advice = [*doctor.advise_on_machine(blas)]
    check(advice, advised)
    assert doctor.describe_missing_kernels() in (None, *advice)


def test_the_parser_is_profiled_before_python_3_12():
    """See spaCy's setup.py."""
    assert doctor.is_parser_profiled() is (sys.version_info < (3, 12))
