import subprocess
import sys
from pathlib import Path

import pytest
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from typer.testing import CliRunner, Result

from spacy_hashembeds.cli import hashembeds_cli, prepare
from spacy_hashembeds.corpora.datasets import DATASETS


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(hashembeds_cli, ["prepare", *map(str, args)])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "own.iob"
    path.write_text("Ann B-PER\nslept O\n\nRome B-LOC\nis O\nfar O\n")
    return path


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    path = tmp_path / "dev.iob"
    path.write_text("Ann B-PER\nin O\nParis B-LOC\n")
    return path


def find_row(result: Result, split: str) -> list[str]:
    rows = [line.split() for line in result.output.splitlines()]
    (row,) = (row for row in rows if row[:1] == [split])
    return row[1:]


def test_own_files_are_converted_and_counted(file: Path, dev: Path, tmp_path: Path):
    output = tmp_path / "output"
    result = run("iob", output, "--train", file, "--dev", dev, "--lang", "en")
    assert result.exit_code == 0, result.output
    assert find_row(result, "Split") == [
        *("Documents", "Tokens", "Vocabulary", "Classes"),
        *("Entities/doc", "Seen", "Unseen"),
    ]
    assert find_row(result, "train") == ["2", "5", "5", "2", "1.00", "2", "0"]
    assert find_row(result, "dev") == ["1", "3", "3", "2", "2.00", "1", "1"]
    assert "Saved 2 splits" in result.output
    assert {path.name for path in output.iterdir()} == {"train.spacy", "dev.spacy"}


def test_columns_of_own_files(tmp_path: Path):
    file = tmp_path / "own.tsv"
    file.write_bytes(
        b"-DOCSTART-\nB-PER\tZo\xeb Ann\tx\n\nO\tyes\tx\n-DOCSTART-\nO\tno\tx\n"
    )
    options = ["--separator", r"\t", "--word-column", "1", "--tag-column", "0"]
    options += ["--encoding", "latin-1", "--group", "document", "--lang", "de"]
    splits = ["--train", file, "--dev", file, "--test", file]
    result = run("iob", tmp_path / "output", *splits, *options)
    assert result.exit_code == 0, result.output
    doc_bin = DocBin().from_disk(tmp_path / "output" / "test.spacy")
    words = [[token.text for token in doc] for doc in doc_bin.get_docs(Vocab())]
    assert words == [["Zoë Ann", "yes"], ["no"]]


def test_a_dataset_is_converted_from_its_assets(tmp_path: Path):
    files = DATASETS["wnut17"].files
    texts = ("Ann\tB-person\n\t\nslept\tO\n", "Bo\tB-person\n", "Ann\tB-group\n")
    for file, text in zip(files, texts, strict=True):
        path = tmp_path / "own-assets" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    output = tmp_path / "output"
    result = run("wnut17", output, "--assets", tmp_path / "own-assets")
    assert result.exit_code == 0, result.output
    assert find_row(result, "train") == ["2", "2", "2", "1", "0.50", "1", "0"]
    assert find_row(result, "dev") == ["1", "1", "1", "1", "1.00", "0", "1"]
    assert find_row(result, "test") == ["1", "1", "1", "1", "1.00", "1", "0"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["wnut17", "{out}", "--assets", "{out}"], "'spacy project assets'"),
        (["conll2003", "{out}"], "should be one of ['anem'"),
        (["iob", "{out}"], "need --train, --dev and --lang"),
        (["iob", "{out}", "--train", "{file}", "--dev", "{file}"], "--lang"),
        (["wnut17", "{out}", "--train", "{file}"], "Use 'iob' instead"),
        (["iob", "{out}", "--train", "{out}/x", "--dev", "{file}", "-l", "en"], "/x"),
        (
            ["iob", "{out}", "--train", "{file}", "--dev", "{broken}", "-l", "en"],
            "broken.iob:1: expected at least 2 columns",
        ),
        (
            ["iob", "{file}/out", "--train", "{file}", "--dev", "{file}", "-l", "en"],
            "own.iob",
        ),
    ],
)
def test_errors_are_told_without_a_traceback(
    args: list[str], message: str, file: Path, tmp_path: Path
):
    broken = tmp_path / "broken.iob"
    broken.write_text("Ann\n")
    output = tmp_path / "output"
    values = {"out": output, "file": file, "broken": broken}
    result = run(*(arg.format(**values) for arg in args))
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert "Can't prepare" in result.output
    # Long messages are wrapped.
    assert "".join(message.split()) in "".join(result.output.split())
    assert not output.exists() or not list(output.iterdir())


def test_the_help_names_every_dataset():
    help_text = run("--help").output
    assert all(name in help_text for name in DATASETS)


def test_the_module_imports_next_to_nothing():
    code = (
        f"import sys; import {prepare.__name__}; "
        "print([m for m in sys.modules if m.startswith('spacy_hashembeds.')])"
    )
    command = [sys.executable, "-c", code]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for package in ("corpora", "analysis"):
        assert f"spacy_hashembeds.{package}" not in printed
