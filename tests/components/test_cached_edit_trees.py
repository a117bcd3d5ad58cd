"""`cached_trainable_lemmatizer`: cached results of edit trees."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.pipeline._edit_tree_internals.edit_trees import EditTrees
from spacy.strings import StringStore

from spacy_hashembeds.components import cached_edit_trees
from spacy_hashembeds.components.cached_edit_trees import CachedTrees

WORDS = st.text("abcž\u0301", max_size=6)


@given(pairs=st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=6), words=WORDS)
def test_lemmas_equal_spacys(pairs, words):
    theirs, ours = EditTrees(StringStore()), CachedTrees(StringStore())
    numbers = [theirs.add(*pair) for pair in pairs]
    assert [ours.add(*pair) for pair in pairs] == numbers
    for _ in range(2):
        for number in numbers:
            for form in (words, words.upper(), *[form for form, _ in pairs]):
                assert ours.apply(number, form) == theirs.apply(number, form)
    assert ours.to_bytes() == theirs.to_bytes()


def test_words_are_cached_even_if_no_tree_applies():
    trees = CachedTrees(StringStore())
    number = trees.add("was", "be")
    assert trees.apply(np.int64(number), "was") == "be"
    assert trees.apply(number, "x") is None
    assert trees._lemmas == {(number, "was"): "be", (number, "x"): None}
    trees._lemmas = {(number, "was"): "from the table"}
    assert trees.apply(number, "was") == "from the table"
    with pytest.raises(IndexError):
        trees.apply(len(trees), "was")


def test_the_cache_is_bounded(monkeypatch):
    monkeypatch.setattr(cached_edit_trees, "MAX_LEMMAS", 3)
    trees = CachedTrees(StringStore())
    number = trees.add("was", "wax")
    for word in ("x" * 101 + "s", "s" * 100):
        assert trees.apply(number, word) == word[:-1] + "x"
    assert [*trees._lemmas] == [(number, word)]
    for i in range(10):
        trees.apply(number, f"x{i}")
        assert len(trees._lemmas) <= 3
