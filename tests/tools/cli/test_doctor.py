import json
import sys

import pytest

from spacy_hashembeds.acceleration import doctor
from spacy_hashembeds.acceleration.blas import Blas

from .running import check_refused, get_rows, try_command, unwrap

HEALTH = {
    "versions": {"spacy": ("3.8.18", ">=3.8.7")},
    "machine": {"GPU": "Some GPU", "Products of int8": "AVX-VNNI"},
    "blas": [Blas("blis", "1.3.4", "generic"), Blas("openblas", "0.3", None)],
    "speeds": {"blis": [10.0, 20.4], "numpy's BLAS": [10.0, 1234.0]},
    "problems": [],
    "advice": ["Do as you are told."],
}

FOUND = """
spacy 3.8.18 >=3.8.7
GPU Some GPU
Products of int8 AVX-VNNI
blis 1.3.4 generic
openblas 0.3 None
GFLOP/s 27x288x288 200x288x288
blis 10 20
numpy's BLAS 10 1,234
"""


@pytest.fixture
def run(monkeypatch):
    def run_doctor(*options: str, **changes):
        monkeypatch.setattr(doctor, "examine", lambda: HEALTH | changes)
        return try_command("doctor", *options)

    return run_doctor


def test_report_is_printed(run, capfd):
    result = run()
    assert result.exit_code == 0, result.output
    shown = get_rows(result.output)
    assert [line for line in get_rows(FOUND) if line not in shown] == []
    for text in ("Do as you are told.", "Nothing is broken"):
        assert text in unwrap(result.output)
    assert "no faster setting" in unwrap(run(advice=[]).output)
    assert run("--json").output == ""
    assert json.loads(capfd.readouterr().out) == json.loads(json.dumps(HEALTH))


def test_import_errors_are_printed_without_a_traceback(monkeypatch):
    monkeypatch.setitem(sys.modules, doctor.__name__, None)
    check_refused(try_command("doctor"), "Can't load the package", doctor.__name__)


@pytest.mark.parametrize("option", [(), ("--json",), ("--quiet",)])
def test_exit_status_is_1_if_something_is_broken(run, capfd, option):
    result = run(*option, problems=["spacy is too old."])
    assert result.exit_code == 1
    shown = result.output + capfd.readouterr().out
    assert "spacy is too old." in shown
    assert "Nothing is broken" not in shown
