import json
import sys
from dataclasses import asdict, replace

import pytest

from spacy_hashembeds.acceleration import doctor
from spacy_hashembeds.acceleration.blas import Blas
from spacy_hashembeds.acceleration.installation import Version

from .running import check_refused, get_rows, run_command, unwrap

HEALTH = doctor.Health(
    versions=[Version("spacy", "3.8.18", ">=3.8.7"), Version("cupy", None, "")],
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
cupy none
Processor Some Processor
GPU Some GPU
Python 3.11.7
spaCy's parser profiled
Products of int8 AVX-VNNI
Products of bfloat16 in float32
blis 1.3.4, kernels: generic
openblas 0.3, kernels: ?
GFLOP/s of blis 10 at 27x288x288, 20 at 200x288x288
GFLOP/s of numpy's BLAS 10 at 27x288x288, 1,234 at 200x288x288
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
    assert "Do as you are told." in result.stdout
    assert "numpy should be older." in result.stderr
    assert "Nothing is broken" in result.stdout
    output = unwrap(run(compiled=False, parser_profiled=False, advice=[]).output)
    assert "layers numpy" in output
    assert "parser not profiled" in output
    assert "know of nothing" in output


def test_what_can_not_be_imported_is_named_without_a_traceback(monkeypatch):
    monkeypatch.setitem(sys.modules, doctor.__name__, None)
    check_refused(run_command("doctor"), "Can't load the package", doctor.__name__)


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
