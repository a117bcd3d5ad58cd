"""Characters as numbers: all of Unicode, in a table of two thousand rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_hashembeds.kernels.characters import (
    N_ROWS,
    find_capitalisations,
    find_character_rows,
    find_types,
    find_windows,
    split_words,
)

WORDS = st.lists(st.text(max_size=6) | st.text("ab", max_size=6), max_size=6)


def encode(text: str) -> np.ndarray:
    return np.array([ord(char) for char in text], dtype="uint32")


@given(words=WORDS, max_chars=st.integers(1, 7))
def test_words_are_split_and_cut(words, max_chars):
    codes, indices, lengths = split_words(words, max_chars)
    cut = [word[:max_chars] for word in words]
    assert [chr(code) for code in codes[indices]] == list("".join(cut))
    assert lengths.tolist() == [len(word) for word in cut]
    assert len(set(codes.tolist())) == len(codes)
    assert (codes.dtype, indices.dtype, lengths.dtype) == ("uint32", "int32", "int32")


def test_a_surrogate_without_its_other_half_is_a_character():
    codes, _, lengths = split_words(["a\ud800"], 9)
    assert (codes.tolist(), lengths.tolist()) == ([97, 0xD800], [2])
    assert not find_types(codes)[1].any()


@given(words=WORDS, max_chars=st.integers(1, 7), size=st.integers(1, 4))
def test_windows_are_those_of_one_word_at_a_time(words, max_chars, size):
    chars = split_words(words, max_chars)
    windows = find_windows(chars, size)
    assert (windows.shape, windows.dtype) == ((len(chars.indices), size), "int32")
    place, index = np.divmod(windows, len(chars.codes) + 1)
    assert (place == np.arange(size)).all()
    beyond = "\0"
    table = [*map(chr, chars.codes), beyond]
    expected = []
    for word in words:
        padded = word[:max_chars] + beyond * size
        starts = range(len(word[:max_chars]))
        expected += [list(padded[start : start + size]) for start in starts]
    assert [[table[i] for i in row] for row in index] == expected


def test_no_two_characters_have_the_same_rows():
    rows = find_character_rows(np.arange(0x110000, dtype="uint32"))
    assert rows.dtype == "uint32"
    pairs = rows[:, 0].astype("uint64") * N_ROWS + rows[:, 1]
    assert len(np.unique(pairs)) == 0x110000
    assert rows.max() == N_ROWS - 1
    assert rows[:, 0].max() < rows[:, 1].min()


def test_rows_are_the_same_everywhere():
    """Saved weights depend on them."""
    actual = find_character_rows(encode("aЖ中😀"))
    expected = [[97, 1153], [1046, 2102], [1005, 2043], [736, 1671]]
    assert actual.tolist() == expected


@pytest.mark.parametrize(
    ("chars", "column"),
    [
        ("AZÄЖΩ", 0),
        ("azßжω", 1),
        ("09٣३", 2),
        (".,-\"'()#@_“”¿。«", 3),
        ("$+<=>^`|~", 3),  # ASCII's symbols, as Python's string.punctuation has them
        (" \n中あب²½€©😀\u0301\0", None),
    ],
)
def test_types(chars, column):
    expected = np.zeros(4) if column is None else np.eye(4)[column]
    types = find_types(encode(chars))
    assert (types == expected).all()
    assert (types.shape, types.dtype) == ((len(chars), 4), "float32")


@pytest.mark.parametrize(
    ("words", "column"),
    [
        ("A I USA U.S. F16 ÄÖ ЖЗ", 0),
        ("Hello Über O'clock Жук McDonald HELLo ǅ", 1),
        ("a hello n't 3rd über жук @user", 2),
        ("iPhone eBay #Obama 1St 'Tis", 3),
        ("12 ! 中文 ﷺ 😀 $", None),
    ],
)
def test_capitalisations(words, column):
    expected = np.zeros(4) if column is None else np.eye(4)[column]
    found = find_capitalisations(words.split())
    assert (found == expected).all()
    assert (found.shape, found.dtype) == ((len(words.split()), 4), "float32")
