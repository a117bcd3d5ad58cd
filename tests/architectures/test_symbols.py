"""Symbol tables: counted, cut, saved and loaded."""

import numpy as np
import pytest
import spacy

from spacy_hashembeds.architectures.symbols import (
    SymbolTables,
    load_symbols,
    save_symbols,
)
from spacy_hashembeds.layers.symboltaker import Symbols
from spacy_hashembeds.training.counting import KeyCounter, count_values, cut_symbols


def make_tables():
    nlp = spacy.blank("en")
    docs = map(nlp.make_doc, ["a a a b b c", "", "Dd a"])
    counts = count_values(docs, ["NORM", "SHAPE", "NORM"])
    return cut_symbols(counts, min_freq=2, lang="en"), nlp.vocab.strings


def make_array(*values):
    return np.array(values, "uint64")


def test_min_freq_is_inclusive_and_order_is_by_frequency():
    tables, strings = make_tables()
    assert tables.get_table("NORM").frequent.tolist() == [strings["a"], strings["b"]]
    assert tables.tables["NORM"].counts.tolist() == [4, 2]
    assert tables.get_table("SHAPE").frequent.tolist() == [strings["x"]]
    with pytest.raises(ValueError, match=r"ORTH.*NORM, SHAPE.*--attrs ORTH"):
        tables.get_table("ORTH")


def test_symbols_of_equal_frequency_are_in_order():
    counter = KeyCounter()
    for n in range(3):  # of a thousand, every second and every third is there again
        counter.add(np.arange(0, 1000, n + 1, dtype="uint64"))
    (table,) = cut_symbols({"NORM": counter}, min_freq=2, lang="en").tables.values()
    twice = [i for i in range(1000) if (i % 2 == 0) != (i % 3 == 0)]
    assert table.frequent.tolist() == [*range(0, 1000, 6), *twice]


def test_save_and_load(tmp_path):
    tables, _ = make_tables()
    path = tmp_path / "new" / "tables.npz"
    save_symbols(path, tables)
    loaded = load_symbols(path)
    assert (loaded.lang, loaded.min_freq) == ("en", 2)
    assert list(loaded.tables) == ["NORM", "SHAPE"]
    for attr, table in tables.tables.items():
        for ours, theirs in zip(loaded.get_table(attr), table, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.npz.*hashembeds tables"):
        load_symbols(tmp_path / "none.npz")


@pytest.mark.parametrize(
    "change",
    [
        {"lang": np.array(["en", "de"])},
        {"symbols/NORM": np.array([print, len], object)},
        {"symbols/NORM": make_array([8], [9])},
        {"symbols/NORM": np.array([8, 9], "int64")},
        {"symbols/NORM": make_array(8, 8)},
        {"symbols/NORM": make_array(8)},
        {"counts/NORM": make_array(5, 0)},
        {"counts/NORM": np.array([5.0, 2.0])},
        {"symbols/SHAPE": make_array(8, 9)},
    ],
)
def test_damaged_files_are_refused(tmp_path, change):
    path = tmp_path / "tables.npz"
    table = Symbols(make_array(8, 9), make_array(5, 2))
    save_symbols(path, SymbolTables({"NORM": table}, lang="en", min_freq=2))
    arrays = dict(np.load(path))
    np.savez(path, **{**arrays, **change})
    with pytest.raises(ValueError, match=r"tables\.npz' is not a file of symbol"):
        load_symbols(path)


@pytest.mark.parametrize("n_bytes", [0, 10, 300])
def test_other_files_are_refused(tmp_path, n_bytes):
    path = tmp_path / "tables.npz"
    save_symbols(path, make_tables()[0])
    path.write_bytes(path.read_bytes()[:n_bytes])
    with pytest.raises(ValueError, match=r"tables\.npz' is not a file of symbol"):
        load_symbols(path)
    np.save(path.with_suffix(".npy"), make_array(1))
    with pytest.raises(ValueError, match=r"tables\.npy' is not a file of symbol"):
        load_symbols(path.with_suffix(".npy"))
