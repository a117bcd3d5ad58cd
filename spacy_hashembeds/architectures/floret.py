"""Character n-grams as in floret, and loading of tables trained by floret."""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.training.initialize import read_vectors
from spacy.vectors import Vectors

from ..kernels import compiled

#: Boundary marks, which distinguish prefixes and suffixes from other n-grams.
BEGIN, END = "<", ">"

#: floret's seed.
SEED = 2166136261

#: Longer words are truncated to their first and last 64 characters.
MAX_CHARACTERS = 128


class SubwordHashing(NamedTuple):
    """Settings of character n-grams and of their rows.

    minn, maxn (int): Lengths of n-grams in characters, including marks. The whole
        marked word is an additional n-gram.
    num_hashes (int): Rows per n-gram, 1 to 4: the first hashes modulo `rows`.
    """

    minn: int
    maxn: int
    num_hashes: int
    rows: int

    def find_rows(self, words: Sequence[str]) -> tuple[NDArray, NDArray]:
        """Return the rows of all words, and the number of rows per word, at least 1.

        *Shapes:* `(sum of lengths,)`, uint32; `(words,)`, int64.
        """
        words = [unicodedata.normalize("NFC", word) for word in words]
        words = [x if len(x) <= MAX_CHARACTERS else _shorten(x) for x in words]
        if compiled.kernels is not None:
            marked = [f"{BEGIN}{word}{END}".encode() for word in words]
            return compiled.kernels.find_ngram_rows(marked, SEED, *self)
        found = [_find_word_rows(self, word) for word in words]
        lengths = np.array([*map(len, found)], dtype="int64")
        return np.concatenate(found), lengths

    def get_settings(self) -> dict[str, Any]:
        """Return all settings except `rows`, under the names in spaCy's vectors."""
        names = {"minn": self.minn, "maxn": self.maxn, "hash_count": self.num_hashes}
        return {**names, "hash_seed": SEED, "bow": BEGIN, "eow": END}


@lru_cache(maxsize=2**13)
def _find_word_rows(hashing: SubwordHashing, word: str) -> NDArray:
    floret: Any = _make_vectors(hashing)
    hash_ngram = floret._get_ngram_hashes  # noqa: SLF001 no public function
    hashes = [*chain(*map(hash_ngram, floret._get_ngrams(word)))]  # noqa: SLF001
    return np.array(hashes, dtype="uint32") % np.uint32(hashing.rows)


@lru_cache(maxsize=16)
def _make_vectors(hashing: SubwordHashing) -> Vectors:
    data = np.zeros((1, 1), dtype="f")
    return Vectors(mode="floret", data=data, **hashing.get_settings())


def _shorten(word: str) -> str:
    half = MAX_CHARACTERS // 2
    return word[:half] + word[-half:]


def read_table(path: Path, hashing: SubwordHashing, width: int) -> Any:
    """Read a table saved by floret, and scale it to a standard deviation of 1.

    *Shape:* `(rows, width)`, float32.

    path (Path): The file, optionally compressed, as for `spacy init vectors`.
    RAISES (ValueError): If the file is not such a table, or if sizes, hashes or marks
        differ.
    RAISES (OSError): If the file can't be read.
    """
    expected = {"rows": hashing.rows, "width": width, **hashing.get_settings()}
    try:
        table, keys, settings = read_vectors(path, 0, mode="floret")
        found = {"rows": len(table), "width": table.shape[1], **settings}
        for name, value in expected.items():
            if found[name] != value:
                raise ValueError(f"{name} = {found[name]!r:.40}, expected {value}")
        if keys != [str(i) for i in range(len(table))]:
            raise ValueError("rows are missing or out of order")
    except OSError:
        raise
    except Exception as error:  # several readers, with various errors
        raise ValueError(
            "'init' should be a table saved by floret with the sizes of SubwordEmbed, "
            f"but '{path}' is not: {str(error) or 'file is truncated'}."
        ) from error
    return (table / table.std(dtype="float64")).astype("float32")
