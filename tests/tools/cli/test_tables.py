import json
from functools import partial
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin, Span
from spacy.tokens.underscore import Underscore

from spacy_hashembeds.architectures.symbols import load_symbols
from spacy_hashembeds.training.features import store_values

from ... import toy_ner
from .running import check_refused, get_rows, run_command, try_command, unwrap

run = partial(run_command, "tables")


def write(path: Path, *texts: str) -> Path:
    return toy_ner.write(path, map(toy_ner.make_doc, texts))


@pytest.fixture
def corpus() -> Path:
    """A corpus in the current folder."""
    return write(Path("train.spacy"), "The cat saw the Cat", "a cat", "")


def get_strings(path: str, attr: str) -> dict[str, int]:
    """Return the counts of a file's symbols."""
    table = load_symbols(path).tables[attr]
    names = ["the", "cat", "saw", "a", "x", "xxx", "Xxx", "come", "first"]
    names += ["B-a", ""]
    strings = {spacy.blank("en").vocab.strings.add(name): name for name in names}
    return {
        strings[int(symbol)]: int(count)
        for symbol, count in zip(table.frequent, table.counts, strict=True)
    }


def test_symbols_are_counted_shown_and_saved(corpus):
    output = "made/tables.npz"
    options = ("--lang", "en", "--attrs", "NORM, SHAPE,NORM", "--min-freq", 2)
    result = run(corpus, "-o", output, *options)
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


@pytest.mark.usefixtures("corpus")
def test_folders_of_texts_are_counted():
    parts = Path("parts")
    parts.mkdir()
    (parts / "a.txt").write_text("The cat saw\n\nthe Cat\n")
    lines = [json.dumps({"text": text}) for text in ("a cat", "a\nb")]
    (parts / "b.jsonl").write_text("\n".join(lines))
    (parts / ".hidden.txt").write_text("the cat saw")
    options = ("--lang", "en", "--min-freq", 2)
    run(parts, "-o", "texts.npz", *options)
    assert get_strings("texts.npz", "NORM") == {"cat": 3, "the": 2, "a": 2}
    write(parts / "c.spacy", "Docs come first")
    (parts / "more").mkdir()
    write(parts / "more" / "d.spacy", "come first")
    run(parts, "-o", "docs.npz", *options)
    assert get_strings("docs.npz", "NORM") == {"come": 2, "first": 2}


def test_warns_about_approximate_counts(corpus):
    write(corpus, " ".join(f"w{i}" for i in range(1001)), "a a")
    options = ("--lang", "en", "-a", "NORM,SHAPE", "--max-symbols", 1000)
    result = run(corpus, "-o", "a.npz", *options, "-m", 2)
    output = unwrap(result.output)
    assert "NORM has more than 1,000 distinct symbols" in output
    assert (
        "too low by up to 1. Symbols with fewer than 3 occurrences may be missing"
        in output
    )
    assert "SHAPE has more" not in output


def test_stored_features_are_counted(corpus, monkeypatch):
    monkeypatch.setattr(Underscore, "token_extensions", {})
    doc = toy_ner.make_doc("the cat saw")
    store_values(doc, "bold", ["x", None, "x"])
    store_values(doc, "size", [1.5] * 3)
    doc.spans["names"] = [Span(doc, 1, 2, "a")]
    DocBin(docs=[doc], store_user_data=True).to_disk(corpus)
    options = (corpus, "--lang", "en", "-m", 1, "-o", "a.npz", "-F", "-a")
    run(*options, "NORM,_.bold,spans.names")
    assert get_strings("a.npz", "_.bold") == {"x": 2, "": 1}
    assert get_strings("a.npz", "spans.names") == {"": 2, "B-a": 1}
    check_refused(try_command("tables", *options, "_.size"), "_.size")
