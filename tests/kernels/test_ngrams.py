"""N-grams and snippets of them, beside plain Python."""

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from spacy.attrs import ORTH
from spacy.ml.extract_ngrams import extract_ngrams
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import NumpyOps, fix_random_seed

from spacy_hashembeds.kernels.ngrams import Ngrams, cut_snippets, hash_ngrams

TEXTS = st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=7), max_size=6)


def hash_sequence(words: list[int]) -> int:
    """One word is its own key, and more are hashed together."""
    if len(words) == 1:
        return words[0]
    (key,) = NumpyOps().ngrams(len(words), np.array(words, dtype="uint64"))
    return int(key)


def list_ngrams(words: list[int], ngram_size: int) -> list[int]:
    """What `hash_ngrams` does, for one text."""
    return [
        hash_sequence(words[start : start + size])
        for start in range(len(words))
        for size in range(1, ngram_size + 1)
        if start + size <= len(words)
    ]


def run(texts: list[list[int]], ngram_size: int) -> Ngrams:
    words = np.array([word for text in texts for word in text], dtype="uint64")
    lengths = np.array([len(text) for text in texts], dtype="int32")
    return hash_ngrams(words, lengths, ngram_size)


def split(ngrams: Ngrams) -> list[list[int]]:
    ends = ngrams.lengths.cumsum()
    return [keys.tolist() for keys in np.split(ngrams.keys, ends[:-1])][: len(ends)]


@given(texts=TEXTS, ngram_size=st.integers(1, 9))
def test_ngrams_are_those_of_plain_python(texts, ngram_size):
    ngrams = run(texts, ngram_size)
    assert split(ngrams) == [list_ngrams(text, ngram_size) for text in texts]
    assert (ngrams.keys.dtype, ngrams.lengths.dtype) == ("uint64", "int32")


def test_keys_are_those_of_spacy():
    doc = Doc(Vocab(), words="the cat saw the cat".split())
    (keys, counts, _), _ = extract_ngrams(3, attr=ORTH)([doc], False)
    ngrams = run([doc.to_array(ORTH).tolist()], 3)
    ours, our_counts = np.unique(ngrams.keys, return_counts=True)
    assert (ours.tolist(), our_counts.tolist()) == (keys.tolist(), counts.tolist())


def find_stretch(part: list[int], whole: list[int]) -> int | None:
    starts = range(len(whole) - len(part) + 1)
    return next((s for s in starts if whole[s : s + len(part)] == part), None)


@given(
    lengths=st.lists(st.integers(0, 9), max_size=6),
    shortest=st.integers(1, 6),
    more=st.integers(0, 4),
    seed=st.integers(0, 99),
)
def test_snippets_are_stretches_of_their_texts(lengths, shortest, more, seed):
    fix_random_seed(seed)
    keys = np.arange(sum(lengths), dtype="uint64") + 1
    whole = Ngrams(keys, np.array(lengths, dtype="int32"))
    snippets = cut_snippets(whole, shortest, shortest + more)
    for part, text in zip(split(snippets), split(whole), strict=True):
        assert find_stretch(part, text) is not None
        assert min(shortest, len(text)) <= len(part) <= shortest + more


def test_every_length_and_every_place_is_equally_likely():
    fix_random_seed(0)
    n = 30000
    whole = Ngrams(np.tile(np.arange(5, dtype="uint64"), n), np.full(n, 5, "int32"))
    snippets = cut_snippets(whole, 2, 7)
    lengths, counts = np.unique(snippets.lengths, return_counts=True)
    assert lengths.tolist() == [2, 3, 4, 5]  # 5, 6 and 7 are whole texts
    np.testing.assert_allclose(counts / n, [1 / 6, 1 / 6, 1 / 6, 1 / 2], atol=0.01)
    firsts = snippets.keys[(snippets.lengths.cumsum() - snippets.lengths)]
    _, counts = np.unique(firsts[snippets.lengths == 2], return_counts=True)
    np.testing.assert_allclose(counts / counts.sum(), [1 / 4] * 4, atol=0.02)


def test_memory_goes_by_the_longest_text_and_not_by_the_size_asked_for():
    tracemalloc.start()
    ngrams = run([[1, 2, 3]] * 100, 10**6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert split(ngrams) == [list_ngrams([1, 2, 3], 3)] * 100
    assert peak < 10**6
