from functools import partial
from pathlib import Path
from shlex import split

import pytest
import spacy
from spacy.util import load_config
from typer.testing import Result

from spacy_hashembeds import files
from spacy_hashembeds.architectures import symbols
from spacy_hashembeds.tools.config.configure import configure

from ..config import toy_configs as toys
from .running import check_refused, read_all, run_command, unwrap

run = partial(run_command, "config")


@pytest.fixture
def base(tmp_path, monkeypatch) -> Path:
    """A config in the current folder."""
    monkeypatch.chdir(tmp_path)
    return toys.write_base(Path("base.cfg"), "ner")


@pytest.fixture
def train(base) -> Path:
    return toys.write_corpus(Path("train.spacy"))


@pytest.fixture
def raw(base) -> Path:
    path = Path("raw.txt")
    path.write_text("\n".join(f"Anna sees the small dog {i}" for i in range(20)))
    return path


def test_the_config_is_written_and_each_change_named(base, train):
    options = ("-e", "multi_embed", "--train", train, "--scorer")
    result = run(base, "-o", "made/new.cfg", *options)
    assert result.exit_code == 0, result.output
    made = configure(base, embedder="multi_embed", train=train, scorer=True)
    assert Path("made/new.cfg").read_text(encoding="utf8") == made.text
    shown = unwrap(result.stdout)
    assert "[components.ner.scorer] @scorers = 'spacy-hashembeds." in shown
    assert "[nlp.after_pipeline_creation] @callbacks = 'spacy-hashembeds." in shown
    assert all(change.place in shown for change in made.changes)
    assert not any(change.why in shown for change in made.changes)
    assert result.stderr == ""


def test_the_reasons_are_shown_when_asked_for(base):
    result = run(base, "-o", "new.cfg", "--no-encoder", "--no-blas", "--why")
    made = configure(base, encoder=False, blas=False)
    assert Path("new.cfg").read_text() == made.text
    shown = unwrap(result.stdout)
    assert [c for c in made.changes if f"{c.place}: {c.why}" not in shown] == []


def find_commands(result: Result) -> list[list[str]]:
    lines = result.stdout.splitlines()
    return [split(line) for line in lines if line.startswith("spacy ")]


def test_what_to_do_next_can_be_pasted(base, train):
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
    Path("code.py").touch()
    again = find_commands(run(base, "-o", "my new.cfg", "-F", "-c", "code.py"))
    assert [command[-2:] for command in again] == [["--code", "code.py"]] * 2


def test_splits_beside_the_training_corpus_are_found(base, tmp_path):
    train, dev, test = (
        toys.write_corpus(tmp_path / f"{s}.spacy") for s in ("train", "dev", "test")
    )
    commands = find_commands(run(base, "-o", "new.cfg", "-t", train))
    assert commands[0][-2:] == ["--paths.dev", str(dev)]
    assert commands[1][4] == str(test)


@pytest.mark.parametrize(
    ("component", "evaluate"),
    [("tagger", ["spacy", "evaluate"]), ("textcat", ["spacy", "hashembeds"])],
)
def test_what_has_no_entities_is_evaluated_without_training(base, component, evaluate):
    toys.write_base(base, component, optimize="accuracy")
    toys.edit_base(base, ("dev = null", 'dev = "mine.spacy"'))
    train, last = find_commands(run(base, "-o", "new.cfg"))
    paths = ["--paths.train", "TRAIN.spacy", "--paths.dev", "mine.spacy"]
    assert train[-4:] == paths
    assert last[:2] == evaluate
    assert "--train" not in last


def test_vectors_that_are_missing_are_asked_for(base):
    text = "include_static_vectors = "
    toys.edit_base(base, (f"{text}false", f"{text}true"))
    result = run(base, "-o", "new.cfg", "--quiet")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "--paths.vectors VECTORS" in run(base, "-o", "-").stderr


def test_weights_of_a_pipeline_are_said_to_stay_behind(base):
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    nlp.to_disk("model")
    result = run("model", "-o", "new.cfg")
    assert result.exit_code == 0, result.output
    assert "Training starts anew: the weights in" in unwrap(result.stdout)
    embed = load_config("new.cfg")["components"]["tok2vec"]["model"]["embed"]
    assert embed["@architectures"] == toys.LOOKUP


def test_symbols_of_raw_texts_are_saved_beside_the_config(base, raw):
    result = run(base, "-o", "new.cfg", "--raw", raw)
    assert result.exit_code == 0, result.output
    embed = load_config("new.cfg")["components"]["tok2vec"]["model"]["embed"]
    assert embed["tables"] == "new.npz"
    assert symbols.load_symbols("new.npz").min_freq == 2
    assert find_commands(result)[0] == "spacy pretrain new.cfg pretrained/new".split()


def test_symbols_that_can_not_be_saved_leave_what_was_there(base, raw, monkeypatch):
    def fail(path, tables):
        path.write_bytes(b"half")
        raise OSError("No space left")

    monkeypatch.setattr(symbols, "save_symbols", fail)
    for name in ("new.cfg", "new.npz"):
        Path(name).write_text("old")
    before = read_all()
    result = run(base, "-o", "new.cfg", "--raw", raw, "--force")
    check_refused(result, "Can't write the config", "No space left")
    assert read_all() == before


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("gone.cfg", "'gone.cfg'"),
        ("text.cfg", "should be a spaCy config"),
        # to a config a variable is no name
        ("base.cfg -r a${x}.txt", "'raw_text' should be a name that a config can hold"),
        ("base.cfg -r raw.txt -o a${x}/b.cfg", "'tables' should be a name"),
        # where it may not be written
        ("base.cfg --raw raw.txt -o old.cfg", "'old.npz' is there already"),
        (
            "base.cfg --raw raw.txt -o same.npz",
            "would replace another file that is to be written",
        ),
        ("base.cfg --raw raw.txt -o -", "--output"),
        ("base.cfg --raw raw.txt -o raw.txt --force", "is read"),
        ("base.cfg --train old.npz -o old.npz --force", "is read"),
        ("base.cfg --vectors vectors -o vectors/new.cfg", "saved pipeline"),
    ],
)
def test_errors_are_told_without_a_traceback(base, raw, args, message):
    Path("text.cfg").write_text("x" * 10**6)
    Path("old.npz").touch()
    toys.write_vectors(Path("vectors"))
    before = read_all()
    output = () if " -o " in args else ("-o", "new.cfg")
    result = run(*args.split(), *output)
    check_refused(result, "Can't write the config", message)
    assert len(result.stderr) < 3000
    assert read_all() == before


def test_a_file_is_replaced_by_force(base):
    assert run(base, "-o", base, "--force").exit_code == 0
    again = run(base, "-o", base, "-F")
    assert "There was nothing to change." in again.stdout


def test_a_config_is_read_from_standard_input(base, monkeypatch):
    with base.open("rb") as file:
        monkeypatch.setitem(files._STREAMS, str(files.STANDARD_INPUT), file.fileno())
        result = run("-", "-o", "new.cfg")
    assert result.exit_code == 0, result.output
    assert Path("new.cfg").read_text(encoding="utf8") == configure(base).text
