"""Where commands write: standard output, and a screen that nobody reads any more."""

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import IO

import pytest
from spacy.cli._util import setup_cli
from spacy.tokens import DocBin
from typer.testing import Result
from wasabi import msg

from spacy_hashembeds import files

from ... import toy_ner
from .running import check_refused, run_command


def is_json(data: bytes) -> bool:
    return isinstance(json.loads(data), dict)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The current folder, with a corpus, and one that is warned of."""
    monkeypatch.chdir(tmp_path)
    DocBin(docs=[]).to_disk("empty.spacy")
    toy_ner.write_train(tmp_path / "train.spacy")
    return tmp_path


def invoke(command: str) -> Result:
    return run_command(*command.split())


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
        check_refused(failed, "gone.spacy")
    assert capfdbinary.readouterr().out == b""


def test_names_of_files_turn_nothing_round(folder):
    said = invoke("analyze train.spacy -o a\u202e\x1b[2J.json").stdout
    assert r"Saved the analysis to a\u202e\x1b[2J.json" in said
    failed = invoke("analyze gone\u202e.spacy").stderr
    assert r"'gone\u202e.spacy'" in failed
    assert "\u202e" not in said + failed


def test_what_is_said_after_a_command_goes_where_it_went_before(folder, capsys):
    invoke("analyze gone.spacy")
    msg.warn("Of another command\x1b")
    assert "Of another command\x1b" in capsys.readouterr().out


@pytest.mark.parametrize("options", ["-o - -q", "--quiet --json -o analysis.json"])
def test_quiet_leaves_the_data(folder, capfdbinary, options):
    result = invoke(f"analyze train.spacy {options}")
    assert result.exit_code == 0
    printed = capfdbinary.readouterr().out
    assert is_json(printed)
    assert result.output == ""
    if "analysis.json" in options:
        assert Path("analysis.json").read_bytes() == printed


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
def run_on(folder, monkeypatch) -> Callable[[IO[str] | None, str], object]:
    """Runs a command whose standard output is this, and gives its status."""

    def run_on(screen: IO[str] | None, output: str = "analysis.json") -> object:
        command = f"spacy hashembeds analyze train.spacy -o {output}"
        monkeypatch.setattr(sys, "stdout", screen)
        monkeypatch.setattr(sys, "argv", command.split())
        with pytest.raises(SystemExit) as ended:
            setup_cli()
        if screen is not None:
            with suppress(OSError):
                screen.close()
        assert is_json(Path(output).read_bytes())
        return ended.value.code

    return run_on


def test_a_reader_that_goes_or_a_closed_screen_costs_no_file(run_on, capsys):
    """As `head -1` does."""
    reader, writer = os.pipe()
    os.close(reader)
    assert run_on(os.fdopen(writer, "w")) == 1
    assert run_on(None) == 0
    assert capsys.readouterr().err == ""


def test_a_full_screen_costs_no_file_but_is_said(run_on, capsys):
    assert run_on(os.fdopen(os.open("/dev/full", os.O_WRONLY), "w")) == 1
    assert "No space left on device" in capsys.readouterr().err


def test_data_that_a_full_screen_has_no_room_for_is_missed(
    folder, monkeypatch, full_device
):
    monkeypatch.setattr(files, "STANDARD_OUTPUT", full_device)
    check_refused(invoke("analyze train.spacy --json"), "No space left on device")


def test_letters_that_the_screen_has_not_are_escaped(run_on):
    stream = BytesIO()
    screen = TextIOWrapper(stream, encoding="cp1252")
    screen.close = screen.detach  # type: ignore[method-assign]
    assert run_on(screen, "Zürich東京.json") == 0
    assert r"Zürich\u6771\u4eac.json" in stream.getvalue().decode("cp1252")
