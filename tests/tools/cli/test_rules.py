"""Rules of all commands: options, files and progress."""

import json
import shutil
from contextlib import redirect_stdout
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy
import pytest
from thinc.api import Config
from wasabi import msg

from spacy_hashembeds.tools.cli import _output
from spacy_hashembeds.tools.config.presets import EMBEDDER
from tests.configs import CONFIGS

from ... import toy_ner
from .running import check_refused, read_all, try_command


@pytest.fixture
def folder(here) -> Path:
    """The current folder, with inputs of all commands."""
    for name in ("gold.md", "pred.md", "train.md", "dev.spacy", "own.iob"):
        (here / name).write_text("Anna B-PER\nsings O\n")
    (here / "text.txt").write_text("".join(f"a b c d {i}\n" for i in range(9)))
    toy_ner.write_train(Path("train.spacy"))
    toy_ner.write(here / "empty.spacy", [])
    toy_ner.write(here / "test.spacy", [toy_ner.make_doc("Anna|PER sings")])
    toy_ner.make_ruler({"Anna": "PER"}, None).to_disk(here / "model")
    (here / "model" / "corpus.spacy").write_bytes(b"")
    shutil.copy(CONFIGS / "spacy_stock.cfg", here / "base.cfg")
    return here


def invoke(command: str) -> Any:
    return try_command(*command.split())


def is_json(data: bytes) -> bool:
    return isinstance(json.loads(data), dict)


def is_symbols(data: bytes) -> bool:
    return "lang" in numpy.load(BytesIO(data)).files


def is_config(data: bytes) -> bool:
    config = Config().from_bytes(data, interpolate=False)
    embed = config["components"]["tok2vec"]["model"]["embed"]
    return embed["@architectures"] == EMBEDDER.architecture


EVALUATE = "evaluate model test.spacy --train train.spacy"
ANALYZE = "analyze train.spacy"


@pytest.mark.parametrize(
    ("command", "is_right"),
    [
        (f"{ANALYZE} -o -", is_json),
        (f"{EVALUATE} -o -", is_json),
        ("config base.cfg -o -", is_config),
        ("tables train.spacy -o - --lang en", is_symbols),
        ("doctor --json", is_json),
        (f"{EVALUATE} --json", is_json),
    ],
)
def test_only_data_on_standard_output(folder, capfdbinary, command, is_right):
    result = invoke(command)
    assert result.exit_code == 0, result.output
    assert is_right(capfdbinary.readouterr().out)
    assert result.stdout == ""
    assert ("Saved" in result.stderr) == command.endswith(("-o -", "en"))


def test_warnings_and_errors_go_to_stderr_even_if_quiet(folder, capfdbinary):
    warned = invoke("analyze empty.spacy")
    assert "no tokens" in warned.stderr
    assert "no tokens" not in warned.stdout
    quiet = invoke("analyze empty.spacy --quiet")
    assert quiet.output == quiet.stderr
    assert "no tokens" in quiet.stderr
    for options in ("--json", "-q"):
        failed = invoke(f"analyze gone.spacy {options}")
        assert failed.stdout == ""
        check_refused(failed, "gone.spacy")
    assert capfdbinary.readouterr().out == b""


def test_control_characters_of_file_names_are_escaped(folder):
    output = invoke("analyze train.spacy -o a\u202e\x1b[2J.json").stdout
    assert r"Saved the analysis to a\u202e\x1b[2J.json" in output
    failed = invoke("analyze gone\u202e.spacy").stderr
    assert r"'gone\u202e.spacy'" in failed
    assert "\u202e" not in output + failed


def test_messages_after_a_command_are_not_redirected(folder, capsys):
    invoke("analyze gone.spacy")
    msg.warn("Of another command\x1b")
    assert "Of another command\x1b" in capsys.readouterr().out


@pytest.mark.parametrize("options", ["-o - -q", "--quiet --json -o analysis.json"])
def test_quiet_prints_data(folder, capfdbinary, options):
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
def test_two_files_on_standard_output_are_refused(folder, capfd, command):
    result = invoke(command)
    assert result.exit_code == 2
    assert "only one file can go to standard output" in result.stderr
    assert capfd.readouterr().out == ""


PROGRESS = {
    "prepare iob -o corpus -t own.iob --dev gold.md --lang en --force": [
        "Converting train: 0 docs",
        "Counting dev: 0 docs",
    ],
    "tables train.spacy -o tables.npz -l en --force": ["Counting: 0 docs"],
    ANALYZE: ["Reading train:"],
}


@pytest.mark.parametrize("command", PROGRESS)
def test_progress_is_shown_on_a_terminal(folder, monkeypatch, command):
    for option in ("", " --quiet"):
        result = invoke(command + option)
        assert (result.exit_code, result.stderr) == (0, "")
    with redirect_stdout(_output.QuietOutput()):
        assert _output.hide_progress()  # also on a terminal
    monkeypatch.setattr(_output, "hide_progress", lambda: False)
    result = invoke(command)
    for title in PROGRESS[command]:
        assert title in result.stderr
        assert title not in result.stdout


TITLES = {
    "accelerate": "Can't accelerate the pipeline",
    "analyze": "Can't analyze the corpus",
    "config": "Can't write the config",
    "evaluate": "Can't evaluate the pipeline",
    "label": "Can't label the texts",
    "prepare": "Can't prepare",
    "tables": "Can't count the symbols",
}
FILES = "evaluate pred.md gold.md -t train.md -a {}"
OWN = "prepare iob -o . --dev gold.md --lang en --force"
LABEL = "label model --raw text.txt -o"
CONFIG = "config base.cfg -o"

#: Commands that would replace an input.
IS_READ = [
    (FILES.format("train.md -o gold.md"), "gold.md"),
    (FILES.format("train.md -o pred.md"), "pred.md"),
    (FILES.format("gold.md -o a.md -o train.md"), "train.md"),
    (f"{ANALYZE} -o train.spacy", "train.spacy"),
    (f"{ANALYZE} --dev dev.spacy -o dev.spacy", "dev.spacy"),
    (f"{ANALYZE} --test dev.spacy -o dev.spacy", "dev.spacy"),
    (f"{ANALYZE} -c base.cfg -o base.cfg", "base.cfg"),
    (f"{CONFIG} text.txt --raw text.txt --force", "text.txt"),
    (f"{CONFIG} train.spacy --train train.spacy --force", "train.spacy"),
    (f"{LABEL} text.txt --force", "text.txt"),
    (f"{LABEL} dev.spacy -x dev.spacy --force", "dev.spacy"),
    ("tables train.spacy -o train.spacy -l en", "train.spacy"),
    (f"{OWN} -t train.spacy", "train.spacy"),
    (f"{OWN} -t gold.md --test dev.spacy", "dev.spacy"),
]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        *((command, f"put into, '{read}', which is read") for command, read in IS_READ),
        # unsupported output formats
        ("evaluate gone gone.spacy -o a.txt", "'output' should end in .json, .html or"),
        ("tables train.spacy -l qq -o a.txt", "'output' should end in .npz, but is"),
        ("label gone --raw text.txt -o a.txt", "'output' should end in .spacy"),
        # existing outputs
        (f"{LABEL} train.spacy", "'train.spacy' already exists"),
        (f"{EVALUATE} -o gold.md", "'gold.md' already exists"),
        (f"{ANALYZE} -o gold.md", "'gold.md' already exists"),
        ("tables train.spacy -l en -o old.npz", "'old.npz' already exists"),
        ("prepare iob -o . -t own.iob -l en", "'train.spacy' already exists"),
        (f"{CONFIG} old.cfg --raw text.txt", "'old.npz' already exists"),
        ("accelerate gone -o model", "--force"),
        (f"{CONFIG} a.npz --raw text.txt", "would replace another file that is to be"),
        (f"{CONFIG} - --raw text.txt", "--output"),
        (f"{CONFIG} model/new.cfg", "saved pipeline"),
        (f"{EVALUATE} -o model/meta.json --force", "saved pipeline"),
        (f"{ANALYZE} --model model -o model/config.cfg --force", "saved pipeline"),
        ("tables model -o model/corpus.spacy -l en --force", "saved pipeline"),
        # missing or invalid inputs
        ("accelerate model -o out --text gone.spacy", "gone.spacy"),
        ("accelerate model -o out --text latin.txt", "latin.txt"),
        ("accelerate model -o out --text dev.conllu", "dev.conllu"),
        ("analyze gone.spacy", "There is no file or folder 'gone.spacy'"),
        (f"{ANALYZE} --model gone", "gone"),
        (f"{ANALYZE} --nlp.lang qq", "qq"),
        ("config gone.cfg -o a.cfg", "gone.cfg"),
        ("evaluate test.spacy model", "'model' should be a corpus, but is a pipeline."),
        (f"{EVALUATE} -a gone", "gone"),
        ("label gone --raw text.txt -o a.spacy", "gone"),
        ("label model --raw gone.txt -o a.spacy", "gone.txt"),
        (f"{LABEL} a.spacy -x text.txt", "'text.txt' should have texts to label"),
        (f"{LABEL} a.spacy", "'model' should have one 'token_ner'"),
        ("prepare iob -o out -l en -t gone/x --dev own.iob", "gone/x"),
        ("prepare iob -o out -l klingon -t own.iob", "'lang' should be the code of a"),
        ("prepare texts -o out -l en -t own.iob", "own.iob:1: expected the names"),
        ("prepare spans -o out -l en -t own.iob", "own.iob' should be JSON"),
        ("tables train.spacy -l en -o a.npz -a NORM,FOO", "'attrs' holds 'FOO'"),
        ("tables empty.spacy -l en -o a.npz", "No token in 'empty.spacy'"),
        ("tables train.spacy -l en -o a.npz -a NORM,TAG", "in 'train.spacy' has TAG"),
    ],
)
def test_errors_are_printed_and_nothing_is_written(folder, command, message):
    Path("latin.txt").write_bytes(b"Anna\xff\n")
    for name in ("dev.conllu", "old.npz"):
        Path(name).write_text("Anna\n")
    before = read_all()
    check_refused(invoke(command), TITLES[command.split()[0]], message)
    assert read_all() == before
