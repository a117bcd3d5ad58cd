from functools import partial
from pathlib import Path
from shlex import split

import pytest
import spacy
from spacy.util import load_config
from typer.testing import Result

from spacy_hashembeds import files
from spacy_hashembeds.architectures import symbols
from spacy_hashembeds.tools.config import edits
from spacy_hashembeds.tools.config.configure import configure

from ..config import toy_configs as toys
from .running import check_refused, read_all, run_command, try_command, unwrap

run = partial(run_command, "config")


@pytest.fixture
def base() -> Path:
    """A config in the current folder."""
    return toys.write_base(Path("base.cfg"), "ner")


@pytest.fixture
def train(base) -> Path:
    return toys.write_corpus(Path("train.spacy"))


@pytest.fixture
def raw(base) -> Path:
    path = Path("raw.txt")
    path.write_text("\n".join(f"Anna sees the small dog {i}" for i in range(20)))
    return path


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        (
            "-e multi_embed -t train.spacy --scorer",
            {"embedder": "multi_embed", "train": "train.spacy", "scorer": True},
        ),
        ("--depth 2", {"depth": 2}),
    ],
)
def test_config_is_written_and_changes_are_printed(base, train, words, settings):
    result = run(base, "-o", "made/new.cfg", *words.split())
    made = configure(base, **settings)
    assert Path("made/new.cfg").read_text(encoding="utf8") == made.text
    shown = unwrap(result.stdout)
    for change in made.changes:
        assert f"{change.place}: {change.why}" in shown
    assert result.stderr == ""


def test_reasons_are_printed_without_an_output(base, raw):
    before = read_all()
    shown = unwrap(run(base, "--raw", raw).stdout)
    for change in configure(base, raw=raw).changes:
        assert f"{change.place}: {change.why}" in shown
    assert "Saved" not in shown
    assert read_all() == before


def find_commands(result: Result) -> list[list[str]]:
    lines = result.stdout.splitlines()
    return [split(line) for line in lines if line.startswith("spacy ")]


def test_printed_commands(base, train):
    training, evaluation = find_commands(run(base, "-o", "my new.cfg", "-t", train))
    folder = "training/my new"
    assert training == [
        *("spacy", "train", "my new.cfg", "--output", folder),
        *("--paths.train", "train.spacy", "--paths.dev", "DEV.spacy"),
    ]
    assert evaluation == [
        *("spacy", "hashembeds", "evaluate", f"{folder}/model-best", "TEST.spacy"),
        *("--train", "train.spacy"),
    ]
    for name in ("dev.spacy", "test.spacy"):
        Path(name).touch()
    training, evaluation = find_commands(run(base, "-o", "new.cfg", "-t", train))
    assert (training[-1], evaluation[4]) == ("dev.spacy", "test.spacy")
    Path("code.py").touch()
    again = find_commands(run(base, "-o", "my new.cfg", "-F", "-c", "code.py"))
    assert [command[-2:] for command in again] == [["--code", "code.py"]] * 2


@pytest.mark.parametrize(
    ("component", "evaluate"),
    [("tagger", ["spacy", "evaluate"]), ("textcat", ["spacy", "hashembeds"])],
)
def test_printed_commands_without_entities(base, component, evaluate):
    toys.write_base(base, component, optimize="accuracy")
    toys.edit_base(base, ("dev = null", 'dev = "mine.spacy"'))
    train, last = find_commands(run(base, "-o", "new.cfg"))
    paths = ["--paths.train", "TRAIN.spacy", "--paths.dev", "mine.spacy"]
    assert train[-4:] == paths
    assert last[:2] == evaluate
    assert "--train" not in last


def test_config_of_a_trained_pipeline(base):
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    nlp.to_disk("model")
    result = run("model", "-o", "new.cfg")
    assert "Training starts anew." in unwrap(result.stdout)
    embed = load_config("new.cfg")["components"]["tok2vec"]["model"]["embed"]
    assert embed["@architectures"] == toys.LOOKUP


def test_symbols_of_raw_texts_are_saved_beside_the_config(base, raw):
    result = run(base, "-o", "new.cfg", "--raw", raw)
    embed = load_config("new.cfg")["components"]["tok2vec"]["model"]["embed"]
    assert embed["tables"] == "new.npz"
    assert symbols.load_symbols("new.npz").min_freq == 2
    assert find_commands(result)[0] == "spacy pretrain new.cfg pretrained/new".split()


def test_error_while_saving_symbols_changes_no_file(base, raw, monkeypatch):
    def fail(path, tables):
        path.write_bytes(b"half")
        raise OSError("No space left")

    monkeypatch.setattr(edits, "save_symbols", fail)
    for name in ("new.cfg", "new.npz"):
        Path(name).write_text("old")
    before = read_all()
    result = try_command("config", base, "-o", "new.cfg", "--raw", raw, "--force")
    check_refused(result, "Can't write the config", "No space left")
    assert read_all() == before


def test_force_replaces_a_file(base):
    run(base, "-o", base, "--force")
    again = run(base, "-o", base, "-F")
    assert "There was nothing to change." in again.stdout


def test_config_from_standard_input(base, monkeypatch):
    with base.open("rb") as file:
        monkeypatch.setitem(files._STREAMS, str(files.STANDARD_INPUT), file.fileno())
        run("-", "-o", "new.cfg")
    assert Path("new.cfg").read_text(encoding="utf8") == configure(base).text
