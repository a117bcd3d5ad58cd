"""Counting, cutting, saving and loading symbol tables."""

import gc
import weakref
from contextlib import suppress

import numpy
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.attrs import NORM, SHAPE
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_hashembeds.layers.symboltaker import Symbols
from spacy_hashembeds.symbols import (
    SymbolTables,
    count_values,
    cut_symbols,
    load_symbols,
    save_symbols,
)


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
    counts = count_values(docs, ["NORM", "SHAPE"])
    strings = docs[0].vocab.strings
    expected = {strings["a"]: 3, strings["b"]: 1, strings["12"]: 1}
    assert as_dict(counts["NORM"]) == expected
    expected = {strings["x"]: 3, strings["X"]: 1, strings["dd"]: 1}
    assert as_dict(counts["SHAPE"]) == expected


@given(st.lists(st.lists(st.sampled_from("abcdAB"), max_size=6), max_size=5))
def test_counts_equal_plain_python(texts):
    vocab = Vocab()
    docs = [Doc(vocab, words=words) for words in texts]
    counts = count_values(docs, ["NORM", "SHAPE"])
    for attr, attr_id in (("NORM", NORM), ("SHAPE", SHAPE)):
        values = [int(value) for doc in docs for value in doc.to_array([attr_id])]
        expected = {value: values.count(value) for value in values}
        assert as_dict(counts[attr]) == expected


def test_an_attribute_that_is_named_twice_is_counted_once():
    docs = make_docs("a a b")
    counts = count_values(docs, ["NORM", "SHAPE", "NORM"])
    assert list(counts) == ["NORM", "SHAPE"]
    assert sorted(as_dict(counts["NORM"]).values()) == [1, 2]


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
    rare = sorted(strings[word] for word in ("c", "dd"))
    assert tables.get_table("NORM").rare.tolist() == rare
    assert tables.get_table("SHAPE").rare.tolist() == [strings["Xx"]]


def test_nothing_frequent_enough_is_an_empty_table():
    tables = cut_symbols(count_values(make_docs("a"), ["NORM"]), min_freq=2, lang="en")
    assert tables.get_table("NORM").frequent.shape == (0,)


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
        numpy.testing.assert_array_equal(loaded.tables[attr].frequent, table.frequent)
        numpy.testing.assert_array_equal(loaded.tables[attr].counts, table.counts)
        numpy.testing.assert_array_equal(loaded.tables[attr].rare, table.rare)
    assert loaded.get_table("NORM").frequent.dtype == "uint64"


def test_a_file_without_rare_symbols_has_the_others(tmp_path):
    """As other programs may write it: lookup embeddings need no more."""
    table = Symbols(numpy.array([8, 9], "uint64"), counts=numpy.array([5, 2], "uint64"))
    path = tmp_path / "tables.npz"
    save_symbols(path, SymbolTables({"NORM": table}, lang="en", min_freq=2))
    loaded = load_symbols(path).get_table("NORM")
    assert loaded.frequent.tolist() == [8, 9]
    assert loaded.rare is None


def test_no_file(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"no file .*tables\.npz.*count_symbols"
    ):
        load_symbols(tmp_path / "tables.npz")


def test_damage_is_found(tmp_path):
    """Truncated anywhere: refused. With a bit flipped: refused, or without effect."""
    tables, _ = make_tables()
    path = tmp_path / "tables.npz"
    save_symbols(path, tables)
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"tables\.npz' is not a file of symbol t"):
            load_symbols(path)
    for i in range(len(whole)):
        path.write_bytes(whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :])
        with suppress(ValueError):
            for attr, table in load_symbols(path).tables.items():
                expected = tables.get_table(attr)
                numpy.testing.assert_array_equal(table.frequent, expected.frequent)
                # a name of a member that was hit is another's, or none of ours
                if table.rare is not None:
                    numpy.testing.assert_array_equal(table.rare, expected.rare)


@pytest.mark.parametrize(
    "table",
    [
        Symbols(numpy.array([1.5]), counts=numpy.array([1], "uint64")),
        Symbols(numpy.array([[1]], "uint64"), counts=numpy.array([1], "uint64")),
        Symbols(numpy.array([1, 1], "uint64"), counts=numpy.array([1, 1], "uint64")),
        Symbols(numpy.array([1, 2], "uint64"), counts=numpy.array([1], "uint64")),
        Symbols(numpy.array([1], "uint64"), counts=numpy.array([1], "int32")),
    ],
)
def test_wrong_arrays_are_refused(tmp_path, table):
    path = tmp_path / "tables.npz"
    with pytest.raises(ValueError, match=r"NORM: "):
        save_symbols(path, SymbolTables({"NORM": table}, lang="en", min_freq=1))
    arrays = {"symbols/NORM": table.frequent, "counts/NORM": table.counts}
    numpy.savez(path, lang=numpy.array("en"), min_freq=numpy.array(1), **arrays)
    with pytest.raises(ValueError, match=r"not a file of symbol tables") as error:
        load_symbols(path)
    assert "NORM: " in str(error.value.__cause__)


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
        ({"rare/NOR": numpy.array([], "uint64")}, "nobody knows: ['rare/NOR']"),
        ({"rare/NORM": numpy.array([1.5])}, "NORM: rare symbols float64"),
        (
            {"rare/NORM": numpy.array([[1]], "uint64")},
            "NORM: rare symbols uint64 of shape (1, 1)",
        ),
        (
            {"rare/NORM": numpy.array([3, 3], "uint64")},
            "NORM: rare symbols are not in ascending order",
        ),
        (
            {"rare/NORM": numpy.array([3, 9], "uint64")},
            "NORM: a symbol is rare and frequent",
        ),
        (
            {"counts/NORM": numpy.array([2, 5], "uint64")},
            "NORM: the most frequent symbols don't come first",
        ),
    ],
)
def test_what_was_never_counted_so_is_refused(tmp_path, change, cause):
    path = tmp_path / "tables.npz"
    arrays = {
        "lang": numpy.array("en"),
        "min_freq": numpy.array(2),
        "symbols/NORM": numpy.array([8, 9], "uint64"),
        "counts/NORM": numpy.array([5, 2], "uint64"),
    }
    numpy.savez(path, **arrays)
    assert load_symbols(path).min_freq == 2
    numpy.savez(path, **{**arrays, **change})
    with pytest.raises(ValueError, match=r"tables\.npz' is not a file of sym") as error:
        load_symbols(path)
    assert cause in str(error.value.__cause__)


def test_pickles_are_not_loaded(tmp_path):
    path = tmp_path / "tables.npz"
    numpy.savez(path, **{"symbols/NORM": numpy.array([print], dtype=object)})
    with pytest.raises(ValueError, match=r"not a file of symbol tables"):
        load_symbols(path)


def test_nothing_is_saved_but_the_tables(tmp_path):
    tables, _ = make_tables()
    save_symbols(tmp_path / "tables.npz", tables)
    with numpy.load(tmp_path / "tables.npz") as arrays:
        assert sorted(arrays) == [
            *("counts/NORM", "counts/SHAPE", "lang", "min_freq"),
            *("rare/NORM", "rare/SHAPE", "symbols/NORM", "symbols/SHAPE"),
        ]


def test_a_failed_save_keeps_the_old_file(tmp_path):
    tables, _ = make_tables()
    path = tmp_path / "tables.npz"
    save_symbols(path, tables)
    whole = path.read_bytes()
    broken = Symbols(numpy.array([print], dtype=object), counts=numpy.array([1]))
    with pytest.raises(ValueError, match=r"NORM: symbols object of shape \(1,\)"):
        save_symbols(path, SymbolTables({"NORM": broken}, lang="en", min_freq=1))
    assert path.read_bytes() == whole
    assert list(tmp_path.iterdir()) == [path]


def test_symbols_that_nobody_counted_are_not_saved(tmp_path):
    tables = SymbolTables({"NORM": Symbols(numpy.array([1], "uint64"))}, "en", 1)
    with pytest.raises(ValueError, match="NORM: not one count for each of 1 symbols"):
        save_symbols(tmp_path / "tables.npz", tables)
