import json
import os
import signal
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from shlex import split as split_words

import pytest
from spacy import blank
from spacy.cli._util import app
from spacy.tokens import DocBin
from spacy.training import Corpus
from spacy.vocab import Vocab
from typer.testing import Result

from .running import check_refused, get_rows, run_command, try_command, unwrap

MULTILABEL = "textcat_multilabel"

run = partial(run_command, "prepare")


@pytest.fixture
def file() -> Path:
    path = Path("own.iob")
    path.write_text("Ann B-PER\nslept O\n\nRome B-LOC\nis O\nfar O\n")
    return path


def find_row(result: Result, split: str) -> list[str]:
    (row,) = (row for row in get_rows(result.output) if row[0] == split)
    return row[1:]


def test_own_files_are_converted_and_counted(file):
    Path("dev.iob").write_text("Ann B-PER\nin O\nParis B-LOC\n")
    result = run("iob", "-o", "an output", "-t", file, "--dev", "dev.iob", "-l", "en")
    assert find_row(result, "Label") == ["train", "dev"]
    assert find_row(result, "LOC") == ["1", "1"]
    assert find_row(result, "Docs") == ["2", "1"]
    assert find_row(result, "Tokens") == ["5", "3"]
    assert "Saved 2 splits" in result.output
    written = {path.name for path in Path("an output").iterdir()}
    assert written == {"train.spacy", "dev.spacy"}
    begin, configure = map(split_words, result.output.splitlines()[-2:])
    assert begin == "spacy init config base.cfg --lang en --pipeline ner".split()
    assert configure == [
        *"spacy hashembeds config base.cfg -o config.cfg --train".split(),
        "an output/train.spacy",
    ]


def test_own_texts_are_converted_and_counted():
    lines = [f"Text no. {i}\t{'x/y' if i % 2 else 'z.z'}" for i in range(40)]
    Path("own.csv").write_text("\n".join(["body\ttopic", *lines]))
    Path("test.jsonl").write_text('{"body": "Rare", "topic": ["z.z", "\\u001b[2Jodd"]}')
    columns = r"--text-column body --label-column topic --separator \t".split()
    files = "--train own.csv --test test.jsonl --lang en -o output".split()
    result = run("texts", *files, *columns)
    assert find_row(result, "Label") == ["train", "dev", "test"]
    assert find_row(result, "Docs") == ["36", "4", "1"]
    assert find_row(result, "x/y") == ["18", "2", "0"]
    assert find_row(result, "z.z") == ["18", "2", "1"]
    output = unwrap(result.output)
    assert "Can't be learned" in output
    assert "one in ten texts of train in dev" in output
    assert "[z.z]" in output
    assert result.output.count(r"\x1b[2Jodd") == 2
    assert "\x1b[2J" not in result.output
    # a test text has two labels
    assert split_words(result.stdout.splitlines()[-2])[-1] == MULTILABEL
    docs = DocBin().from_disk("output/test.spacy").get_docs(Vocab())
    assert [doc.cats for doc in docs] == [{"\x1b[2Jodd": 1.0, "x/y": 0.0, "z.z": 1.0}]


def test_entities_by_their_characters():
    places = [(9 + len(str(i)), 13 + len(str(i)), "LOC") for i in range(20)]
    rows = [{"text": f"Ann {i} saw Rome", "spans": [x]} for i, x in enumerate(places)]
    rows[3]["spans"] += [(0, 2, "CUT")]
    Path("own.jsonl").write_text("\n".join(map(json.dumps, rows)))
    args = ("spans", "-o", "output", "-t", "own.jsonl", "-l", "en")
    result = run(*args, "--misaligned", "leave-out", "--label-column", "spans")
    assert find_row(result, "LOC") == ["18", "2"]
    output = unwrap(result.output)
    for present in ("Left out 1 ", "own.jsonl:4: misaligned", "saw Rome [Rome LOC]"):
        assert present in output
    assert "No -DOCSTART-" not in output
    assert split_words(result.stdout.splitlines()[-2])[-1] == "ner"


def test_features_are_stored_and_counted():
    Path("own.tsv").write_text("w\tbold\tpos\tt\nAnn\t1\tN\tB-X\nis\t\tV\tO\n")
    files = ("--train", "own.tsv", "--dev", "own.tsv", "--lang", "en", "-o", "output")
    columns = ("--tag-column", "t", "--feature", "bold", "--feature", "tag=2")
    result = run("iob", *files, *columns)
    assert "_.bold 50.0% 50.0% Tokens with _.tag 100.0%" in unwrap(result.output)
    assert result.output.endswith("/train.spacy --feature _.bold --feature _.tag\n")
    for bad in ("a b=1", "=1", "bold"):
        result = try_command("prepare", "iob", *files, *columns, "-F", "--feature", bad)
        check_refused(result, "'feature' should be NAME=COLUMN", bad)
    result = try_command("prepare", "texts", *files, "-F", "--feature", "bold")
    check_refused(result, "'feature' is for tokens")


@pytest.mark.parametrize(
    ("labels", "component", "is_learnable"),
    [
        (["x", {"y": 1, "x": 0}], "textcat", True),
        (["x", "y", []], MULTILABEL, True),
        ([{"x": 1}, {"x": 0}], MULTILABEL, True),
        (["x", ["x", "y"]], MULTILABEL, False),
        (["x", "x"], None, False),
    ],
)
def test_printed_component_can_learn_the_labels(labels, component, is_learnable):
    rows = [{"text": f"a {i}", "label": label} for i, label in enumerate(labels)]
    Path("own.jsonl").write_text("\n".join(map(json.dumps, rows)))
    files = ("--train", "own.jsonl", "--dev", "own.jsonl")
    result = run("texts", "-o", "output", *files, "--lang", "en")
    assert ("Can't be learned" in unwrap(result.output)) is not is_learnable
    if component is None:
        assert not {"textcat", MULTILABEL} & {*split_words(result.stdout)}
        return
    assert split_words(result.stdout.splitlines()[-2])[-1] == component
    nlp = blank("en")
    nlp.add_pipe(component)
    nlp.initialize(lambda: Corpus("output/train.spacy")(nlp))


CONLL2003 = """-DOCSTART- -X- -X- O

EU NNP B-NP B-ORG
rejects VBZ B-VP O
German JJ B-NP B-MISC
calls NNS I-NP O
"""


NO_DOCUMENTS = "No -DOCSTART- line separates"


@pytest.mark.parametrize(
    ("text", "options", "present", "absent"),
    [
        (CONLL2003, "", "EU rejects German calls [EU ORG, German MISC]", NO_DOCUMENTS),
        (CONLL2003, "--word-column 1 --tag-column 2", "NNP VBZ JJ NNS [NNP NP, V", "⚠"),
        ("w O\n\nAnn B-PER\n", "", "Ann [Ann PER]", "⚠"),
        ("w O\n" * 40, "", "There is no entity in train", None),
        ("x" * 400_000 + " B-" + "y" * 500_000, "", f"[{'x' * 30} {'y' * 30}]", None),
        ("\x1b[2JA B-\x1b]0;i\x07", "", r"[\x1b[2JA \x1b]0;i\x07]", "\x1b[2JA"),
        ("Ann B-PER\n\nBen O\n", "", NO_DOCUMENTS, None),
        ("-DOCSTART- O\n\nAnn B-PER\n", "--group document", "[Ann PER]", NO_DOCUMENTS),
        ("Ann B-PER\n" * 501, "", "All 501 tokens of dev are one document", None),
        ("Ann B-PER\n" * 500, "", "[Ann PER", "⚠"),
        ("A B-X\n" * 400 + "\n\xa0 O\nA B-X\n" * 200, "", "[A X", "⚠"),
    ],
)
def test_example_and_warnings(text, options, present, absent):
    Path("own.conll").write_text(text, encoding="utf8")
    files = ("--train", "own.conll", "--dev", "own.conll", "--lang", "de")
    result = run("iob", "-o", "output", *files, *options.split())
    output = unwrap(result.output)
    assert present in output
    assert absent is None or absent not in output
    assert len(result.output) < 2000


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_terminated_command_leaves_no_file(file, number):
    os.mkfifo("dev.pipe")
    words = "hashembeds prepare iob -t own.iob --dev dev.pipe -l en -o output"
    process = get_context("fork").Process(target=app, args=[words.split()])
    process.start()
    with open("dev.pipe", "wb"):  # blocks until train is written
        assert list(Path("output").iterdir())
        os.kill(process.pid, number)
        process.join(60)
    assert process.exitcode == 128 + number
    assert list(Path("output").iterdir()) == []


def test_interrupt_does_not_mix_old_and_new_splits(file, monkeypatch):
    args = "iob -t own.iob --dev own.iob -l en -o output --force".split()
    run(*args)
    old = {path.name: path.read_bytes() for path in Path("output").iterdir()}
    Path("own.iob").write_text("New B-X\n\nother O\n")
    move = os.replace

    def replace(source, target):
        move(source, target)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(os, "replace", replace)
    assert try_command("prepare", *args).exit_code != 0
    for path in Path("output").iterdir():
        assert path.read_bytes() != old[path.name]
