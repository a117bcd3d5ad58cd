import json
import os
import subprocess
import sys
from dataclasses import asdict, replace

import pytest

from spacy_hashembeds.acceleration import doctor, installation
from spacy_hashembeds.acceleration.blas import Blas
from spacy_hashembeds.acceleration.compilation import Kernels

from .running import check_refused, get_rows, run_command, unwrap

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
    kernels=Kernels("compiled", True, None, {"bfloat16": None, "int8": "AVX-VNNI"}),
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
        return run_command("doctor", *options)

    return run_doctor


FOUND = """
spacy 3.8.18 >=3.8.7
Processor Some Processor
GPU Some GPU
Python 3.11.7
spaCy's parser compiled with profiling
OMP_NUM_THREADS 2
Products of int8 AVX-VNNI
Products of bfloat16 in float32: the processor has no instructions
blis 1.3.4 generic: none for this processor 1
openblas 0.3 ? ?
GFLOP/s 27x288x288 900x288x288 900x384x288
blis 10.0 (9.5..10.2) 10.0 (9.5..10.2) 10.0 (9.5..10.2)
Kernels of our layers compiled
"""


def test_what_was_found_is_shown(run):
    result = run()
    assert result.exit_code == 0, result.output
    shown = get_rows(result.output)
    assert [line for line in get_rows(FOUND) if line not in shown] == []
    assert "Do as you are told." in result.output
    assert "Nothing is broken" in result.output
    assert "know of nothing" not in result.output


NO_KERNELS = Kernels("numpy", False, None, {"int8": None})


@pytest.mark.parametrize(
    ("changes", "said", "is_fast"),
    [
        (
            {"kernels": NO_KERNELS},
            "Products of int8 in float32: compiled kernels are not in use",
            False,
        ),
        ({"parser_profiled": False}, "parser compiled without profiling", False),
        ({"untested": ["numpy should be older."]}, "numpy should be older.", False),
        (
            {"advice": [], "disturbances": ["Others kept 2 cores busy."]},
            "Others kept 2 cores busy.",
            False,
        ),
        (
            {"advice": [], "disturbances": ["Others."]},
            "Nothing is broken. To know what would be faster, measure once more while",
            False,
        ),
        ({"advice": []}, "Nothing is broken, and we know of nothing that would", True),
    ],
)
def test_what_is_not_broken(run, changes, said, is_fast):
    result = run(**changes)
    assert result.exit_code == 0
    assert said in unwrap(result.output)
    assert "Nothing is broken" in result.output
    assert ("know of nothing" in result.output) == is_fast


def test_a_wrong_switch_is_named_without_a_traceback():
    result = subprocess.run(
        [sys.executable, "-m", "spacy", "hashembeds", "doctor"],
        env={**os.environ, "SPACY_HASHEMBEDS_COMPILED": "no"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    shown = unwrap(result.stdout + result.stderr)
    assert "SPACY_HASHEMBEDS_COMPILED should be 1" in shown
    assert "Traceback" not in shown


def test_json_holds_everything_and_nothing_else_is_printed(run, capfd):
    result = run("--json")
    assert result.exit_code == 0, result.output
    assert result.output == ""
    shown = json.loads(capfd.readouterr().out)
    assert shown == json.loads(json.dumps(asdict(HEALTH)))


@pytest.mark.parametrize("option", [(), ("--json",), ("--quiet",)])
def test_it_ends_with_an_error_if_something_is_broken(run, capfd, option):
    result = run(*option, problems=["spacy is too old."])
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    shown = result.output + capfd.readouterr().out
    assert "spacy is too old." in shown
    assert "Nothing is broken" not in shown


def test_what_is_broken_is_found(monkeypatch):
    gpu = doctor.Gpu("13.0", None, "no driver")
    versions = [doctor.Version("thinc", "9.0", "<8.4", False)]
    errors = {"spacy_callbacks: X": "gone"}
    speeds = {"blis": [SPREAD] * 3, "numpy's BLAS, one thread": [SPREAD] * 3}
    monkeypatch.setattr(installation, "find_versions", lambda: versions)
    monkeypatch.setattr(installation, "check_entry_points", lambda: errors)
    monkeypatch.setattr(installation, "examine_gpu", lambda: gpu)
    monkeypatch.setattr(doctor, "measure_choices", lambda threads: speeds)
    check_refused(run_command("doctor"), "thinc", "callbacks: X", "no driver")
