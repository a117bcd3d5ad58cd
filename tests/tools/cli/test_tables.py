import json
from functools import partial
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_hashembeds.architectures.symbols import load_symbols

from .running import check_refused, get_rows, run_command, unwrap

run = partial(run_command, "tables")


def write(path: Path, *texts: str) -> Path:
    vocab = spacy.blank("en").vocab
    path.parent.mkdir(exist_ok=True, parents=True)
    DocBin(docs=[Doc(vocab, words=t.split()) for t in texts]).to_disk(path)
    return path


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch) -> Path:
    """A corpus in the current folder."""
    monkeypatch.chdir(tmp_path)
    return write(Path("train.spacy"), "The cat saw the Cat", "a cat", "")


def get_strings(path: str, attr: str) -> dict[str, int]:
    """The symbols in a file that were counted in the corpus, and how often."""
    table = load_symbols(path).tables[attr]
    names = ["the", "cat", "saw", "a", "x", "xxx", "Xxx", "come", "first"]
    strings = {spacy.blank("en").vocab.strings.add(name): name for name in names}
    return {
        strings[int(symbol)]: int(count)
        for symbol, count in zip(table.frequent, table.counts, strict=True)
    }


def test_symbols_are_counted_shown_and_saved(corpus):
    output = "made/tables.npz"
    options = ("--lang", "en", "--attrs", "NORM, SHAPE,NORM", "--min-freq", 2)
    result = run(corpus, "-o", output, *options)
    assert result.exit_code == 0, result.output
    tables = load_symbols(output)
    assert (tables.lang, tables.min_freq) == ("en", 2)
    assert list(tables.tables) == ["NORM", "SHAPE"]
    assert get_strings(output, "NORM") == {"cat": 3, "the": 2}
    assert get_strings(output, "SHAPE") == {"xxx": 4, "Xxx": 2}
    shown = get_rows(result.output)
    assert "Attribute Distinct Seen 2 times or more".split() in shown
    assert shown.count(["NORM", "4", "2"]) == 1
    assert ["SHAPE", "3", "2"] in shown
    assert "Saved symbol tables to" in result.output


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("train.spacy --attrs NORM,FOO", "'attrs' holds 'FOO'"),
        ("train.spacy --lang lex_attrs", "'lang' should be the code of a language"),
        ("empty.spacy", "No token in 'empty.spacy'"),
        ("train.spacy --attrs NORM,TAG", "No token in 'train.spacy' has TAG"),
        ("train.spacy -o novel.txt", "'output' should end in .npz, but is 'novel.txt'"),
    ],
)
def test_errors_are_told_without_a_traceback(corpus, args, message):
    write(Path("empty.spacy"), "")
    Path("novel.txt").write_text("my only copy")
    lang = () if "--lang" in args else ("--lang", "en")
    output = () if "-o" in args else ("-o", "tables.npz")
    result = run(*output, *lang, *args.split())
    check_refused(result, "Can't count the symbols", message)
    assert not Path("tables.npz").exists()
    assert Path("novel.txt").read_text() == "my only copy"


@pytest.mark.usefixtures("corpus")
def test_texts_are_parts_too():
    parts = Path("parts")
    parts.mkdir()
    (parts / "a.txt").write_text("The cat saw\n\nthe Cat\n")
    lines = [json.dumps({"text": text}) for text in ("a cat", "a\nb")]
    (parts / "b.jsonl").write_text("\n".join(lines))
    (parts / ".hidden.txt").write_text("the cat saw")
    options = ("--lang", "en", "--min-freq", 2)
    assert run(parts, "-o", "texts.npz", *options).exit_code == 0
    assert get_strings("texts.npz", "NORM") == {"cat": 3, "the": 2, "a": 2}
    write(parts / "c.spacy", "Docs come first")
    write(parts / "more" / "d.spacy", "come first")
    assert run(parts, "-o", "docs.npz", *options).exit_code == 0
    assert get_strings("docs.npz", "NORM") == {"come": 2, "first": 2}


def test_it_is_said_what_counts_may_be_too_low_by(corpus):
    write(corpus, " ".join(f"w{i}" for i in range(1001)), "a a")
    options = ("--lang", "en", "-a", "NORM,SHAPE", "--max-symbols", 1000)
    result = run(corpus, "-o", "a.npz", *options, "-m", 2)
    assert result.exit_code == 0, result.output
    said = unwrap(result.output)
    assert "NORM has more than 1,000 distinct symbols" in said
    assert "too low by 1 at most, and symbols seen less than 3 times may be" in said
    assert "SHAPE has more" not in said
