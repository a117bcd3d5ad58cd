"""Counting, cutting, saving and loading symbol tables."""

import gc
import tracemalloc
import weakref
from zipfile import ZipFile

import numpy
import pytest
import spacy
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_hashembeds.architectures.symbols import (
    SymbolTables,
    load_symbols,
    save_symbols,
)
from spacy_hashembeds.layers.symboltaker import Symbols
from spacy_hashembeds.training.counting import KeyCounter, count_values, cut_symbols


def make_docs(*texts):
    nlp = spacy.blank("en")
    return [nlp.make_doc(text) for text in texts]


def make_tables():
    docs = make_docs("a a a b b c", "", "Dd a")
    counts = count_values(docs, ["NORM", "SHAPE"])
    return cut_symbols(counts, min_freq=2, lang="en"), docs[0].vocab.strings


def as_dict(counter):
    return dict(zip(*(array.tolist() for array in counter.get_counts()), strict=True))


def test_counts_tokens_not_docs():
    docs = make_docs("a A b", "", "a 12")
    counts = count_values(docs, ["NORM", "SHAPE", "NORM"])
    strings = docs[0].vocab.strings
    assert list(counts) == ["NORM", "SHAPE"]
    expected = {strings["a"]: 3, strings["b"]: 1, strings["12"]: 1}
    assert as_dict(counts["NORM"]) == expected
    expected = {strings["x"]: 3, strings["X"]: 1, strings["dd"]: 1}
    assert as_dict(counts["SHAPE"]) == expected


def test_counting_holds_one_doc_at_a_time():
    vocab = Vocab()
    alive: list[weakref.ref] = []
    most = 0

    def read():
        nonlocal most
        for i in range(5):
            doc = Doc(vocab, words=[f"w{i}"])
            alive.append(weakref.ref(doc))
            yield doc
            del doc
            gc.collect()
            most = max(most, sum(ref() is not None for ref in alive))

    count_values(read(), ["NORM"])
    assert most <= 1


def test_min_freq_is_inclusive_and_order_is_by_frequency():
    tables, strings = make_tables()
    assert tables.get_table("NORM").frequent.tolist() == [strings["a"], strings["b"]]
    assert tables.tables["NORM"].counts.tolist() == [4, 2]
    assert tables.get_table("SHAPE").frequent.tolist() == [strings["x"]]


def test_symbols_of_equal_frequency_are_in_order():
    counter = KeyCounter()
    for n in range(3):  # of a thousand, every second and every third is there again
        counter.add(numpy.arange(0, 1000, n + 1, dtype="uint64"))
    (table,) = cut_symbols({"NORM": counter}, min_freq=2, lang="en").tables.values()
    twice = [i for i in range(1000) if (i % 2 == 0) != (i % 3 == 0)]
    assert table.frequent.tolist() == [*range(0, 1000, 6), *twice]


def test_unknown_attribute():
    tables, _ = make_tables()
    with pytest.raises(ValueError, match=r"no symbol table.*ORTH.*NORM, SHAPE.*--at"):
        tables.get_table("ORTH")


def test_save_and_load(tmp_path):
    tables, _ = make_tables()
    path = tmp_path / "new" / "tables.npz"
    save_symbols(path, tables)
    loaded = load_symbols(path)
    assert (loaded.lang, loaded.min_freq) == ("en", 2)
    assert list(loaded.tables) == ["NORM", "SHAPE"]
    for attr, table in tables.tables.items():
        for array, expected in zip(loaded.tables[attr], table, strict=True):
            numpy.testing.assert_array_equal(array, expected)
    assert loaded.get_table("NORM").frequent.dtype == "uint64"
    with numpy.load(path) as arrays:
        assert sorted(arrays) == [
            *("counts/NORM", "counts/SHAPE", "lang", "min_freq"),
            *("symbols/NORM", "symbols/SHAPE"),
        ]


def test_no_file(tmp_path):
    match = r"no file .*tables\.npz.*count_symbols"
    with pytest.raises(FileNotFoundError, match=match):
        load_symbols(tmp_path / "tables.npz")


def make_array(*values):
    return numpy.array(values, "uint64")


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"lang": numpy.array(["en"])}, "lang: <U2 of shape (1,)"),
        ({"lang": numpy.array(7)}, "lang: int64 of shape ()"),
        ({"min_freq": numpy.array(2.5)}, "min_freq: float64 of shape ()"),
        ({"min_freq": numpy.array([2])}, "min_freq: int64 of shape (1,)"),
        ({"min_freq": numpy.array(False)}, "min_freq: bool of shape ()"),
        ({"min_freq": numpy.array(0)}, "or this below 1 (0)"),
        ({"min_freq": numpy.array(3)}, "NORM: counts below min_freq"),
        ({"symbols/NORM": numpy.array([print], object)}, "Object arrays cannot be"),
        (
            {"symbols/": make_array(8), "counts/": make_array(5)},
            "without the name of an attribute",
        ),
        ({"counts/NORM": make_array(2, 5)}, "NORM: the most frequent symbols don't"),
    ],
)
def test_what_was_never_counted_so_is_refused(tmp_path, change, cause):
    path = tmp_path / "tables.npz"
    arrays = {
        "lang": numpy.array("en"),
        "min_freq": numpy.array(2),
        "symbols/NORM": make_array(8, 9),
        "counts/NORM": make_array(5, 2),
    }
    numpy.savez(path, **arrays)
    assert load_symbols(path).get_table("NORM").frequent.tolist() == [8, 9]
    numpy.savez(path, **{**arrays, **change})
    with pytest.raises(ValueError, match=r"tables\.npz' is not a file of sym") as error:
        load_symbols(path)
    assert cause in str(error.value.__cause__)


def test_an_array_that_is_there_twice_is_refused(tmp_path):
    path = tmp_path / "tables.npz"
    table = Symbols(make_array(8, 9), counts=make_array(5, 2))
    save_symbols(path, SymbolTables({"NORM": table}, lang="en", min_freq=2))
    with ZipFile(path, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("lang.npy", file.read("lang.npy"))
    with pytest.raises(ValueError, match=r"tables\.npz' is not a file of sym") as error:
        load_symbols(path)
    assert "arrays twice" in str(error.value.__cause__)


def test_arrays_out_of_proportion_to_the_file_are_refused_unread(tmp_path):
    path, n_bytes = tmp_path / "tables.npz", 2**25
    zeros = numpy.zeros(n_bytes // 8, "uint64")
    arrays = {"symbols/NORM": zeros, "counts/NORM": zeros}
    lang, min_freq = numpy.array("en"), numpy.array(1)
    numpy.savez_compressed(path, lang=lang, min_freq=min_freq, **arrays)
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"tables\.npz'"):
        load_symbols(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < n_bytes // 8


def test_symbols_that_compress_well_can_be_loaded(tmp_path):
    symbols = numpy.arange(10**5, dtype="uint64")
    table = Symbols(symbols, counts=numpy.ones_like(symbols))
    save_symbols(tmp_path / "t.npz", SymbolTables({"NORM": table}, "en", 1))
    loaded = load_symbols(tmp_path / "t.npz").get_table("NORM")
    numpy.testing.assert_array_equal(loaded.frequent, symbols)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (Symbols(numpy.array([1.5]), counts=make_array(1)), "NORM: symbols float64"),
        (Symbols(make_array([1]), counts=make_array(1)), r"of shape \(1, 1\)"),
        (Symbols(make_array(1, 1), counts=make_array(1, 1)), "a symbol is there twice"),
        (Symbols(make_array(1, 2), counts=make_array(1)), "NORM: not one count for"),
        (Symbols(make_array(1)), "NORM: not one count for each of 1 symbols"),
        (Symbols(make_array(1), counts=numpy.array([1], "int32")), "counts int32"),
        (Symbols(numpy.array([print], object)), r"symbols object of shape \(1,\)"),
    ],
)
def test_what_can_not_be_read_is_not_saved(tmp_path, table, message):
    path = tmp_path / "tables.npz"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match=message):
        save_symbols(path, SymbolTables({"NORM": table}, lang="en", min_freq=1))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
