"""Symbol tables: counted, cut, saved and loaded. Random damage: see `tests/fuzz`."""

import numpy as np
import pytest

from spacy_hashembeds.architectures.symbols import (
    SymbolTables,
    load_symbols,
    save_symbols,
)
from spacy_hashembeds.layers.symboltaker import Symbols
from spacy_hashembeds.training.counting import KeyCounter, count_values, cut_symbols


def make_array(*values):
    return np.array(values, "uint64")


def test_tables_are_cut_by_an_inclusive_min_freq_saved_and_loaded(nlp, tmp_path):
    docs = map(nlp.make_doc, ["a a a b b c", "", "Dd a"])
    counts = count_values(docs, ["NORM", "SHAPE", "NORM"])
    path, strings = tmp_path / "new" / "tables.npz", nlp.vocab.strings
    save_symbols(path, cut_symbols(counts, min_freq=2, lang="en"))
    tables = load_symbols(path)
    assert (tables.lang, tables.min_freq) == ("en", 2)
    assert [*tables.tables] == ["NORM", "SHAPE"]
    norms, shapes = map(tables.get_table, ["NORM", "SHAPE"])
    assert norms.frequent.tolist() == [strings["a"], strings["b"]]
    assert norms.counts.tolist() == [4, 2]
    assert shapes.frequent.tolist() == [strings["x"]]
    with pytest.raises(ValueError, match=r"ORTH.*NORM, SHAPE.*--attrs ORTH"):
        tables.get_table("ORTH")


def test_symbols_of_equal_frequency_are_in_order():
    counter = KeyCounter()
    for n in range(3):  # of a thousand, every second and every third is there again
        counter.add(np.arange(0, 1000, n + 1, dtype="uint64"))
    (table,) = cut_symbols({"NORM": counter}, min_freq=2, lang="en").tables.values()
    twice = [i for i in range(1000) if (i % 2 == 0) != (i % 3 == 0)]
    assert table.frequent.tolist() == [*range(0, 1000, 6), *twice]


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
