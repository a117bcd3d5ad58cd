"""A corpus in many parts: counted in processes, and added up exactly."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin

from spacy_hashembeds import parts
from spacy_hashembeds.parts import add_up, count_parts, find_counted, find_parts
from spacy_hashembeds.parts import load_counted as load
from spacy_hashembeds.symbols import (
    SymbolTables,
    count_values,
    cut_symbols,
    save_symbols,
)

ATTRS = ["NORM", "SHAPE"]
TEXTS = ["The cat saw the Cat", "", "a cat", "The end of 1984", "it's the end"]


def write(path: Path, *texts: str) -> Path:
    vocab = spacy.blank("en").vocab
    path.parent.mkdir(exist_ok=True, parents=True)
    DocBin(docs=[Doc(vocab, words=t.split()) for t in texts]).to_disk(path)
    return path


def count(texts: list[str], min_freq: int = 1) -> SymbolTables:
    vocab = spacy.blank("en").vocab
    docs = [Doc(vocab, words=text.split()) for text in texts]
    return cut_symbols(count_values(docs, ATTRS), min_freq=min_freq, lang="en")


def is_equal(one: SymbolTables, other: SymbolTables) -> bool:
    assert (one.lang, one.min_freq) == (other.lang, other.min_freq)
    assert one.errors == other.errors
    return all(
        np.array_equal(one.tables[attr][i], other.tables[attr][i])  # type: ignore[arg-type]
        for attr in ATTRS
        for i in range(3)
    )


@pytest.mark.parametrize("jobs", [1, 2])
def test_parts_are_counted_as_one(tmp_path, jobs):
    for i, text in enumerate(TEXTS):
        write(tmp_path / f"{i}.spacy", text)
    found = count_parts(find_parts(tmp_path), "en", ATTRS, limit=1000, jobs=jobs)
    added = add_up(found, "en", ATTRS, limit=1000, min_freq=2)
    assert is_equal(added, count(TEXTS, 2))


@given(
    texts=st.lists(st.lists(st.sampled_from("abcdAB")).map(" ".join), max_size=9),
    cut=st.integers(0, 9),
    min_freq=st.integers(1, 3),
)
def test_what_is_added_up_is_what_one_counts(texts, cut, min_freq):
    both = [count(texts[:cut]), count(texts[cut:])]
    added = add_up(both, "en", ATTRS, limit=1000, min_freq=min_freq)
    assert is_equal(added, count(texts, min_freq))


def test_counted_parts_are_saved_and_added_up(tmp_path):
    for i, text in enumerate(TEXTS):
        save_symbols(tmp_path / "counted" / f"{i}.npz", count([text]))
    # what a process that was killed may have left
    (tmp_path / "counted" / ".0-abcd.npz").write_bytes(b"half")
    found = load(find_counted(tmp_path / "counted"), "en", ATTRS)
    assert is_equal(add_up(found, "en", ATTRS, limit=99, min_freq=2), count(TEXTS, 2))


def test_beyond_the_limit_an_error_is_saved_and_added_up(tmp_path):
    texts = [" ".join(f"{part}{i}" for i in range(40)) + " it it" for part in "ab"]
    for i, text in enumerate(texts):
        write(tmp_path / f"{i}.spacy", text)
    for i, part in enumerate(
        count_parts(find_parts(tmp_path), "en", ["NORM"], limit=20)
    ):
        assert part.errors == {"NORM": 1}
        save_symbols(tmp_path / "counted" / f"{i}.npz", part)
    loaded = list(load(find_counted(tmp_path / "counted"), "en", ["NORM"]))
    assert [part.errors for part in loaded] == [{"NORM": 1}] * 2
    added = add_up(loaded, "en", ["NORM"], limit=1000, min_freq=4)
    assert added.errors == {"NORM": 2}
    assert len(added.tables["NORM"].frequent) == 1


def test_texts_are_parts_too(tmp_path):
    (tmp_path / "a.txt").write_text("The cat saw\n\nthe Cat\n")
    lines = [json.dumps({"text": text}) for text in ("a cat", "a\nb")]
    (tmp_path / "b.jsonl").write_text("\n".join(lines))
    paths = find_parts(tmp_path)
    assert [path.name for path in paths] == ["a.txt", "b.jsonl"]
    found = count_parts(paths, "en", ["NORM"], limit=1000)
    (table,) = add_up(found, "en", ["NORM"], limit=1000, min_freq=2).tables.values()
    strings = spacy.blank("en").vocab.strings
    assert dict(zip(table.frequent.tolist(), table.counts.tolist(), strict=True)) == {
        strings.add("cat"): 3,
        strings.add("the"): 2,
        strings.add("a"): 2,
    }
    write(tmp_path / "c.spacy", "a")
    assert [path.name for path in find_parts(tmp_path)] == ["c.spacy"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"min_freq": 2}, r"cut at 'min_freq' 2\. Count that part with `--min-freq 1`"),
        ({"lang": "de"}, r"with the language 'de', but 'lang' is 'en'"),
        ({"tables": {}}, r"has counts of , but 'attrs' names NORM, SHAPE"),
    ],
)
def test_parts_that_can_not_be_added_up_are_refused(tmp_path, change, message):
    tables = SymbolTables(**{**vars(count(TEXTS, 2)), "min_freq": 1, **change})
    save_symbols(tmp_path / "a.npz", tables)
    with pytest.raises(ValueError, match=r"a\.npz' .*" + message):
        list(load([tmp_path / "a.npz"], "en", ATTRS))


def test_a_damaged_part_is_named(tmp_path):
    write(tmp_path / "a.spacy", "a")
    (tmp_path / "b.spacy").write_bytes((tmp_path / "a.spacy").read_bytes()[:50])
    found = count_parts(find_parts(tmp_path), "en", ATTRS, limit=1000)
    with pytest.raises(ValueError, match=r"b\.spacy' should be a \.spacy file"):
        list(found)
    with pytest.raises(FileNotFoundError, match=r"no counted part \(\.npz\).*-freq 1"):
        find_counted(tmp_path)


def end(*args: object, **settings: object) -> None:
    os._exit(1)


def test_a_process_that_is_killed_is_an_error(tmp_path, monkeypatch):
    for i in range(2):
        write(tmp_path / f"{i}.spacy", "a")
    monkeypatch.setattr(parts, "_count_part", end)
    found = count_parts(find_parts(tmp_path), "en", ATTRS, limit=1000, jobs=2)
    with pytest.raises(OSError, match=r"was killed.*Lower 'jobs' or 'max_symbols'"):
        list(found)
