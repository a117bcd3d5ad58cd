import json
import os
import subprocess
import sys
from dataclasses import asdict, replace

import pytest

from spacy_hashembeds.acceleration import doctor
from spacy_hashembeds.acceleration.blas import Blas
from spacy_hashembeds.acceleration.installation import Version

from .running import get_rows, run_command, unwrap

HEALTH = doctor.Health(
    versions=[Version("spacy", "3.8.18", ">=3.8.7")],
    processor="Some Processor",
    python="3.11.7",
    parser_profiled=True,
    ops="NumpyOps",
    blas=[Blas("blis", "1.3.4", "generic"), Blas("openblas", "0.3", None)],
    speeds={"blis": [10.0, 20.4], "numpy's BLAS": [10.0, 1234.0]},
    compiled=True,
    instructions={"bfloat16": None, "int8": "AVX-VNNI"},
    gpu=doctor.Gpu("13.0", "Some GPU", None),
    problems=[],
    untested=["numpy should be older."],
    advice=["Do as you are told."],
)

FOUND = """
spacy 3.8.18 >=3.8.7
Processor Some Processor
GPU Some GPU
Python 3.11.7
spaCy's parser compiled with profiling
Products of int8 AVX-VNNI
Products of bfloat16 in float32: the processor has no instructions
blis 1.3.4 generic
openblas 0.3 ?
GFLOP/s 27x288x288 200x288x288
blis 10 20
numpy's BLAS 10 1,234
Kernels of our layers compiled
"""


@pytest.fixture
def run(monkeypatch):
    def run_doctor(*options: str, **changes):
        monkeypatch.setattr(doctor, "examine", lambda: replace(HEALTH, **changes))
        return run_command("doctor", *options)

    return run_doctor


def test_what_was_found_is_shown(run):
    result = run()
    assert result.exit_code == 0, result.output
    shown = get_rows(result.output)
    assert [line for line in get_rows(FOUND) if line not in shown] == []
    for said in ("Do as you are told.", "numpy should be older.", "Nothing is broken"):
        assert said in unwrap(result.output)
    without = {"compiled": False, "parser_profiled": False, "advice": []}
    output = unwrap(run(**without).output)
    assert "in float32: compiled kernels are not in use" in output
    assert "without profiling" in output
    assert "know of nothing" in output


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
    assert (result.exit_code, result.output) == (0, "")
    shown = json.loads(capfd.readouterr().out)
    assert shown == json.loads(json.dumps(asdict(HEALTH)))


@pytest.mark.parametrize("option", [(), ("--json",), ("--quiet",)])
def test_it_ends_with_an_error_if_something_is_broken(run, capfd, option):
    result = run(*option, problems=["spacy is too old."])
    assert result.exit_code == 1
    shown = result.output + capfd.readouterr().out
    assert "spacy is too old." in shown
    assert "Nothing is broken" not in shown
