import json
import os
import subprocess
import sys
from dataclasses import asdict, replace

import pytest
from spacy.cli._util import app
from typer.testing import CliRunner

import spacy_hashembeds.cli  # noqa: F401
from spacy_hashembeds.acceleration import doctor, installation
from spacy_hashembeds.acceleration.blas import Blas
from spacy_hashembeds.acceleration.compilation import Kernels

SPREAD = (10.0, (9.5, 10.25))

HEALTH = doctor.Health(
    versions=[doctor.Version("spacy", "3.8.18", ">=3.8.7", True)],
    processor="Some Processor",
    cores=4,
    ops="NumpyOps",
    blas=[Blas("blis", "1.3.4", "generic", 1), Blas("openblas", "0.3", None, None)],
    shapes=((27, 288, 288), (900, 288, 288), (900, 384, 288)),
    speeds={
        "blis": [SPREAD] * 3,
        "numpy's BLAS, one thread": [(20.0, (19.0, 21.0))] * 3,
    },
    kernels=Kernels(
        "compiled",
        True,
        None,
        {"bfloat16": None, "int8": "AVX-VNNI"},
    ),
    disturbances=[],
    threads={"OMP_NUM_THREADS": "2"},
    python="3.11.7",
    parser_profiled=True,
    gpu=doctor.Gpu("13.0", "Some GPU", None),
    problems=[],
    untested=[],
    advice=["Do as you are told."],
)


@pytest.fixture
def run(monkeypatch):
    def run_doctor(*options: str, **changes):
        monkeypatch.setattr(doctor, "examine", lambda: replace(HEALTH, **changes))
        return CliRunner().invoke(app, ["hashembeds", "doctor", *options])

    return run_doctor


def test_what_was_found_is_shown(run):
    result = run()
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.output.splitlines()]
    assert ["spacy", "3.8.18", ">=3.8.7"] in lines
    assert ["Processor", "Some", "Processor"] in lines
    assert ["GPU", "Some", "GPU"] in lines
    assert ["Python", "3.11.7"] in lines
    assert ["spaCy's", "parser", "compiled", "with", "profiling"] in lines
    assert ["OMP_NUM_THREADS", "2"] in lines
    assert ["Products", "of", "int8", "AVX-VNNI"] in lines
    missing = "Products of bfloat16 in float32: the processor has no instructions"
    assert missing.split() in lines
    assert "blis 1.3.4 generic: none for this processor 1".split() in lines
    assert ["openblas", "0.3", "?", "?"] in lines
    assert ["GFLOP/s", "27x288x288", "900x288x288", "900x384x288"] in lines
    assert ["blis", *["10.0", "(9.5..10.2)"] * 3] in lines
    assert "Kernels of our layers compiled".split() in lines
    assert "Do as you are told." in result.output
    assert "Nothing is broken" in result.output


def test_that_there_are_no_compiled_kernels_is_shown(run):
    result = run(kernels=Kernels("numpy", False, None, {"int8": None}))
    lines = [line.split() for line in result.output.splitlines()]
    assert "Kernels of our layers numpy".split() in lines
    missing = "Products of int8 in float32: compiled kernels are not in use"
    assert missing.split() in lines


def test_measurements_that_were_disturbed_promise_nothing(run):
    result = run(advice=[], disturbances=["Others kept 2 cores busy."])
    assert "Others kept 2 cores busy." in result.output
    assert "measure once more while all is idle" in " ".join(result.output.split())
    assert "know of nothing" not in result.output


def test_a_wrong_switch_is_named_without_a_traceback():
    result = subprocess.run(
        [sys.executable, "-m", "spacy", "hashembeds", "doctor"],
        env={**os.environ, "SPACY_HASHEMBEDS_COMPILED": "no"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    shown = " ".join((result.stdout + result.stderr).split())
    assert "SPACY_HASHEMBEDS_COMPILED should be 1" in shown
    assert "Traceback" not in shown


def test_json_holds_everything_and_nothing_else_is_printed(run, capfd):
    result = run("--json")
    assert result.exit_code == 0, result.output
    assert result.output == ""
    shown = json.loads(capfd.readouterr().out)
    assert set(shown) == set(doctor.Health.__dataclass_fields__)
    assert shown["versions"][0]["installed"] == "3.8.18"
    assert shown["blas"][1] == {
        "name": "openblas",
        "version": "0.3",
        "kernels": None,
        "threads": None,
    }
    assert shown["gpu"] == {"cupy": "13.0", "device": "Some GPU", "error": None}
    assert shown["kernels"] == json.loads(json.dumps(asdict(HEALTH.kernels)))
    assert shown["speeds"]["blis"] == [[10.0, [9.5, 10.25]]] * 3
    assert shown["shapes"] == [[27, 288, 288], [900, 288, 288], [900, 384, 288]]


@pytest.mark.parametrize("option", [(), ("--json",), ("--quiet",)])
def test_it_ends_with_an_error_if_something_is_broken(run, capfd, option):
    result = run(*option, problems=["spacy is too old."])
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    shown = result.output + capfd.readouterr().out
    assert "spacy is too old." in shown
    assert "Nothing is broken" not in shown


def test_a_machine_that_could_be_faster_is_not_broken(run):
    result = run(advice=["Much could be faster."], parser_profiled=False)
    assert result.exit_code == 0
    assert "compiled without profiling" in result.output
    assert "know of nothing" not in result.output


def test_what_no_test_ran_with_is_shown_and_is_not_broken(run):
    result = run(untested=["numpy should be 2.5 or older."])
    assert result.exit_code == 0
    assert "numpy should be 2.5 or older." in result.output
    assert "Nothing is broken" in result.output


def test_a_machine_that_could_not_be_faster_is_told_so(run):
    result = run(advice=[])
    assert "know of nothing that would be faster" in " ".join(result.output.split())


@pytest.mark.parametrize("broken", ["version", "entry point", "cupy"])
def test_what_is_broken_is_found(broken, monkeypatch):
    gpu = doctor.Gpu("13.0", None, "no driver" if broken == "cupy" else None)
    errors = {"spacy_callbacks: X": "gone"} if broken == "entry point" else {}
    versions = [doctor.Version("thinc", "9.0", "<8.4", broken != "version")]
    speeds = {"blis": [SPREAD] * 3, "numpy's BLAS, one thread": [SPREAD] * 3}
    monkeypatch.setattr(installation, "find_versions", lambda: versions)
    monkeypatch.setattr(installation, "check_entry_points", lambda: errors)
    monkeypatch.setattr(installation, "examine_gpu", lambda: gpu)
    monkeypatch.setattr(doctor, "measure_choices", lambda threads: speeds)
    result = CliRunner().invoke(app, ["hashembeds", "doctor"])
    assert result.exit_code == 1
    expected = {"version": "thinc", "entry point": "callbacks: X", "cupy": "no driver"}
    assert expected[broken] in result.output


def test_it_runs_on_this_machine(capfd):
    CliRunner().invoke(app, ["hashembeds", "doctor", "--json"])
    assert json.loads(capfd.readouterr().out)["blas"][0]["name"] == "blis"
