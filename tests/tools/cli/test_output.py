"""Where commands write: standard output, and a screen that nobody reads any more."""

import os
import sys
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import IO

import pytest
from spacy.cli._util import setup_cli
from spacy.tokens import DocBin
from typer.testing import Result
from wasabi import msg

from spacy_hashembeds import files
from spacy_hashembeds.tools.cli import _output

from ... import toy_ner
from .rules import is_json
from .running import check_refused, run_command


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The current folder, with a corpus, and one that is warned of."""
    monkeypatch.chdir(tmp_path)
    DocBin(docs=[]).to_disk("empty.spacy")
    toy_ner.write_train(tmp_path / "train.spacy")
    return tmp_path


def invoke(command: str) -> Result:
    return run_command(*command.split())


def test_json_and_a_file_hold_the_same(folder, capfdbinary):
    result = invoke("analyze train.spacy --json -o analysis.json")
    assert capfdbinary.readouterr().out == Path("analysis.json").read_bytes()
    assert result.stdout == ""
    assert "Saved the analysis" in result.stderr


def test_warnings_and_errors_go_to_stderr_even_if_quiet(folder, capfdbinary):
    warned = invoke("analyze empty.spacy")
    assert "not a token" in warned.stderr
    assert "not a token" not in warned.stdout
    quiet = invoke("analyze empty.spacy --quiet")
    assert quiet.output == quiet.stderr
    assert "not a token" in quiet.stderr
    for options in ("--json", "-q"):
        failed = invoke(f"analyze gone.spacy {options}")
        assert failed.stdout == ""
        check_refused(failed, "There is no file or folder 'gone.spacy'")
    assert capfdbinary.readouterr().out == b""


def test_names_of_files_turn_nothing_round(folder):
    said = invoke("analyze train.spacy -o a\u202e\x1b[2J.json").stdout
    assert r"Saved the analysis to a\u202e\x1b[2J.json" in said
    failed = invoke("analyze gone\u202e.spacy").stderr
    assert r"'gone\u202e.spacy'" in failed
    assert "\u202e" not in said + failed


def test_what_is_said_after_a_command_goes_where_it_went_before(folder, capsys):
    invoke("analyze gone.spacy")
    msg.warn("Of another command")
    assert "Of another command" in capsys.readouterr().out


@pytest.mark.parametrize("options", ["-q -o -", "-o - -q", "--quiet --json"])
def test_quiet_leaves_the_data(folder, capfdbinary, options):
    result = invoke(f"analyze train.spacy {options}")
    assert result.exit_code == 0
    assert is_json(capfdbinary.readouterr().out)
    assert result.output == ""


@pytest.mark.parametrize(("is_quiet", "hidden"), [(False, None), (True, True)])
def test_quiet_hides_progress_on_a_screen_too(monkeypatch, is_quiet, hidden):
    """None has `tqdm` look whether stderr is a screen."""
    monkeypatch.setattr(_output, "is_quiet", lambda: is_quiet)
    assert _output.hide_progress() is hidden


@pytest.mark.parametrize(
    "command",
    ["evaluate m test.spacy -o - -o /dev/stdout", "analyze train.spacy --json -o -"],
)
def test_two_files_in_one_stream_are_refused(folder, capfd, command):
    result = invoke(command)
    assert result.exit_code == 2
    assert "only one file can go to standard output" in result.stderr
    assert capfd.readouterr().out == ""


# Screens that fail


@pytest.fixture
def run_on(folder, monkeypatch) -> Callable[[IO[str] | None], object]:
    """Runs a command whose standard output is this, and gives its status."""

    def run_on(screen: IO[str] | None) -> object:
        command = "spacy hashembeds analyze train.spacy -o analysis.json"
        monkeypatch.setattr(sys, "stdout", screen)
        monkeypatch.setattr(sys, "argv", command.split())
        with pytest.raises(SystemExit) as ended:
            setup_cli()
        if screen is not None:
            screen.close()  # as Python does, which tries to write once more
        assert is_json(Path("analysis.json").read_bytes())
        return ended.value.code

    return run_on


def test_a_reader_that_goes_or_a_closed_screen_costs_no_file(run_on, capsys):
    """As `head -1` does."""
    reader, writer = os.pipe()
    os.close(reader)
    for screen in (os.fdopen(writer, "w"), None):
        assert run_on(screen) == 0
    assert capsys.readouterr().err == ""


def test_a_full_screen_costs_no_file_but_is_said(run_on, capsys):
    full = os.open("/dev/full", os.O_WRONLY)
    assert run_on(os.fdopen(full, "w")) == 1
    said = "Can't print to the end: [Errno 28] No space left on device\n"
    assert capsys.readouterr().err == said


def test_data_that_a_full_screen_has_no_room_for_is_missed(
    folder, monkeypatch, full_device
):
    monkeypatch.setattr(files, "STANDARD_OUTPUT", full_device)
    result = invoke("analyze train.spacy --json")
    check_refused(result, "Can't print to the end: [Errno 28]")


def test_letters_that_the_screen_has_not_are_escaped():
    stream = TextIOWrapper(BytesIO(), encoding="cp1252")
    _output.Screen(stream).write("Zürich 東京")
    stream.flush()
    assert stream.buffer.getvalue().decode("cp1252") == "Zürich \\u6771\\u4eac"
