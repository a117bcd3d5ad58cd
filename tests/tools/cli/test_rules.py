"""What holds for all commands: their help, options, files and progress."""

import re
import shutil
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy
import pytest
from thinc.api import Config
from typer.main import get_command

from spacy_hashembeds.tools.cli import _output, hashembeds_cli
from spacy_hashembeds.tools.config.presets import EMBEDDER
from tests.configs import CONFIGS

from ... import toy_ner
from .running import check_refused, read_all, run_command
from .test_output import is_json

GROUP: Any = get_command(hashembeds_cli)
COMMANDS = sorted(GROUP.commands)
WITH_JSON = ("accelerate", "analyze", "doctor", "evaluate")
WITH_CODE = ("accelerate", "analyze", "config", "evaluate", "label")
TO_STREAM = ("analyze", "config", "evaluate", "label", "tables")
#: What is no option: what is written never stands alone.
ARGUMENTS = {"base", "kind", "model", "models", "corpus", "test", "train"}

#: What a short option stands for.
SHORT = {
    **{"-c": {"--code", "--config"}, "-F": {"--force"}, "-g": {"--gpu-id"}},
    **{"-l": {"--lang"}, "-o": {"--output"}, "-q": {"--quiet"}, "-s": {"--seed"}},
    "-t": {"--train"},
}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The current folder, with something to do and to read for each command."""
    monkeypatch.chdir(tmp_path)
    for name in ("gold.md", "pred.md", "train.md", "dev.spacy", "own.iob"):
        (tmp_path / name).write_text("Anna B-PER\nsings O\n")
    (tmp_path / "text.txt").write_text("a b c\n" * 3)
    toy_ner.write_train(tmp_path / "train.spacy")
    toy_ner.write(tmp_path / "test.spacy", [toy_ner.make_doc("Anna|PER sings")])
    toy_ner.make_ruler({"Anna": "PER"}, None).to_disk(tmp_path / "model")
    (tmp_path / "model" / "corpus.spacy").write_bytes(b"")
    shutil.copy(CONFIGS / "spacy_stock.cfg", tmp_path / "base.cfg")
    return tmp_path


def invoke(command: str) -> Any:
    return run_command(*command.split())


# Help and options


def get_parameters(command: str) -> Iterator[Any]:
    yield from (p for p in GROUP.commands[command].params if p.name != "help")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_not_cut_and_fits(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    texts = [invoke(f"{each} --help").output for each in (command, "")]
    for text in texts:
        # what may be given several times is written so
        text = re.sub(r"(\[ARGS\]|\{?models\}?)\.\.\.", "", text, flags=re.I)
        assert not re.search(r"\.\.\.|…", text)
        assert 0 < max(map(len, text.splitlines())) <= 80
    first, *_ = GROUP.commands[command].help.split("\n\n")
    assert f"{command} {' '.join(first.split())}" in " ".join(texts[1].split())


@pytest.mark.parametrize("command", COMMANDS)
def test_parameters_are_explained_and_mean_the_same_everywhere(command):
    found = set()
    for parameter in get_parameters(command):
        assert re.fullmatch(r"[A-Z].*\.", parameter.help or "", re.S)
        if parameter.param_type_name == "argument":
            assert parameter.name in ARGUMENTS
            continue
        names = {*parameter.opts, *parameter.secondary_opts}
        found |= names
        for short, long in SHORT.items():
            assert short not in names or names & long, (parameter.name, short)
    assert "--quiet" in found
    assert ("--json" in found) == (command in WITH_JSON)
    assert ("--code" in found) == (command in WITH_CODE)
    streams = [p.name for p in get_parameters(command) if "- is standard" in p.help]
    assert ("output" in streams) == (command in TO_STREAM)


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_no_list_is_given_once(command):
    options = [p for p in get_parameters(command) if p.param_type_name == "option"]
    for option in (options[0], *(p for p in options if p.multiple), options[-1]):
        value = "" if option.is_flag else " x"
        first, last = option.opts[0], [*option.opts, *option.secondary_opts][-1]
        result = invoke(f"{command} {last}{value} {first}{value.replace(' ', '=')}")
        assert result.exit_code == 2
        said = result.output.split("Error:")[1]
        assert (first in said and "once" in said) is not option.multiple


def test_settings_of_a_config_are_given_once(folder):
    words = "--training.dropout 0.1 --training.dropout=0.2".split()
    command = ("analyze", "train.spacy", "--config", "base.cfg")
    for given, code in ((words, 2), (words[:2], 0)):
        assert run_command(*command, *given).exit_code == code


# Standard output


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
def test_data_is_alone_on_standard_output(folder, capfdbinary, command, is_right):
    result = invoke(command)
    assert result.exit_code == 0, result.output
    assert is_right(capfdbinary.readouterr().out)
    assert result.stdout == ""
    assert ("Saved" in result.stderr) == command.endswith(("-o -", "en"))


# Progress


PROGRESS = {
    "prepare iob -o corpus -t own.iob --dev gold.md --lang en --force": [
        "Converting train: 0 docs",
        "Counting dev: 0 docs",
    ],
    "tables train.spacy -o tables.npz -l en": ["Counting: 0 docs"],
    ANALYZE: ["Reading train:"],
}


@pytest.mark.parametrize("command", PROGRESS)
def test_progress_is_shown_where_somebody_watches(folder, monkeypatch, command):
    for option in ("", " --quiet"):
        result = invoke(command + option)
        assert (result.exit_code, result.stderr) == (0, "")
    monkeypatch.setattr(_output, "hide_progress", lambda: False)
    result = invoke(command)
    for title in PROGRESS[command]:
        assert title in result.stderr
        assert title not in result.stdout


# What a command reads, it does not replace; what it can't write, it says first


FILES = "evaluate pred.md gold.md -t train.md -a {}"
OWN = "prepare iob -o . --dev gold.md --lang en"


@pytest.mark.parametrize(
    ("command", "read"),
    [
        (FILES.format("train.md -o gold.md"), "gold.md"),
        (FILES.format("train.md -o pred.md"), "pred.md"),
        (FILES.format("gold.md -o a.md -o train.md"), "train.md"),
        (f"{EVALUATE} -o model/meta.json", "model"),
        (FILES.format("model -o model/a.json"), "model"),
        (f"{ANALYZE} -o train.spacy", "train.spacy"),
        (f"{ANALYZE} --dev dev.spacy -o dev.spacy", "dev.spacy"),
        (f"{ANALYZE} --test dev.spacy -o dev.spacy", "dev.spacy"),
        (f"{ANALYZE} --model model -o model/config.cfg", "model"),
        (f"{ANALYZE} --vectors model -o model/config.cfg", "model"),
        (f"{ANALYZE} -c base.cfg -o base.cfg", "base.cfg"),
        ("tables train.spacy -o train.spacy -l en", "train.spacy"),
        ("tables model -o model/corpus.spacy -l en", "model"),
        (f"{OWN} -t train.spacy", "train.spacy"),
        (f"{OWN} -t gold.md --test dev.spacy", "dev.spacy"),
    ],
)
def test_an_input_is_not_replaced(folder, command, read):
    before = read_all(folder)
    check_refused(invoke(command), f"put into, '{read}', which is read")
    assert read_all(folder) == before


@pytest.mark.parametrize(
    "command",
    [
        "evaluate pred.md gold.md -t train.md -o text.txt/x.json",
        f"{ANALYZE} -o text.txt/x.json",
        "tables train.spacy -l en -o text.txt/x.npz",
        "prepare iob --dev gold.md -t gold.md --lang en -o text.txt/x",
    ],
)
def test_a_place_where_nothing_can_be_written_is_named(folder, command):
    check_refused(invoke(command), "Not a directory: 'text.txt/x")
