"""Rows of n-grams as floret has them: where they are, and the table they begin as."""

import gzip
import unicodedata

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.vectors import Vectors
from thinc.api import Config

from spacy_hashembeds.architectures.floret import (
    MAX_CHARACTERS,
    SEED,
    Ngrams,
    read_table,
)
from spacy_hashembeds.kernels import compiled

from ..kernels.paths import KERNELS, both_paths, needs_kernels
from ..test_cached_weights import CONFIG, make_examples
from ..toy_embedders import get_nodes

WORDS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
ODD = ["", "a", "東京", "👍🏽", "cafe\u0301", "x" * 1000, "\0", "n't"]


@needs_kernels
@given(
    words=WORDS,
    minn=st.integers(1, 4),
    more=st.integers(0, 3),
    num_hashes=st.integers(1, 4),
    rows=st.sampled_from([1, 7, 5000, 2**31]),
)
def test_kernels_find_the_rows_of_spacys_floret(words, minn, more, num_hashes, rows):
    ngrams, results = Ngrams(minn, minn + more, num_hashes, rows), []
    for kernels in (KERNELS, None):
        with compiled.using(kernels):
            results.append(ngrams.find_rows([*words, *ODD]))
    for found, expected in zip(*results, strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@both_paths
def test_rows_of_a_word(kernels):
    """As documented: composed characters, marks, and of long words the two ends."""
    ngrams = Ngrams(3, 5, 1, 2**31)
    word = "Übermäßig"
    long = "".join(map(chr, range(0x4E00, 0x4E00 + 129)))
    pairs = [
        (word, unicodedata.normalize("NFD", word), True),
        ("ﬁn", "fin", False),
        (long, long[:64] + "x" * 1000 + long[-64:], True),
        (long[:128], long[:63] + "x" + long[64:128], False),
    ]
    with compiled.using(kernels):
        for one, other, are_equal in pairs:
            found = [ngrams.find_rows([w])[0].tolist() for w in (one, other)]
            assert (found[0] == found[1]) == are_equal
        rows, lengths = Ngrams(2, 3, 2, 7).find_rows(["dog", ""])
        # <dog> <d do og g> <do dog og> and twice <>, with two hashes each
        assert lengths.tolist() == [16, 4]
        assert len(rows) == 20
        assert len(ngrams.find_rows(["x" * 2**20])[0]) < 4 * MAX_CHARACTERS


ROWS, WIDTH = 40, 6
NGRAMS = Ngrams(minn=3, maxn=5, num_hashes=1, rows=ROWS)
HEADER = {
    **{"rows": ROWS, "width": WIDTH, "minn": 3, "maxn": 5, "num_hashes": 1},
    **{"seed": SEED, "begin": "<", "end": ">"},
}
SUBWORDS = """
[components.tok2vec.model.embed.subwords]
@architectures = "spacy-hashembeds.SubwordEmbed.v1"
rows = 40
width = 6
init = null
"""


def save_table(path, numbers=None, **header):
    """What floret saves, with these settings."""
    header = {**HEADER, **header}
    if numbers is None:
        shape = min(header["rows"], ROWS), header["width"]
        numbers = np.random.default_rng(0).normal(scale=5, size=shape).round(4)
    lines = [f"{i} {' '.join(map(str, row))}" for i, row in enumerate(numbers)]
    path.write_text("\n".join([" ".join(map(str, header.values())), *lines]) + "\n")
    return path, np.asarray(numbers, dtype="f")


def test_words_point_where_florets_do_and_the_file_is_not_needed_afterwards(tmp_path):
    path, numbers = save_table(tmp_path / "raw.floret")
    init = {"components.tok2vec.model.embed.subwords.init": str(path)}
    config = Config().from_str(CONFIG + SUBWORDS, overrides=init)
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    nlp.initialize(lambda: make_examples(nlp))
    nlp.to_disk(tmp_path / "nlp")
    path.unlink()
    model = spacy.load(tmp_path / "nlp").get_pipe("tok2vec").model
    (layer,) = get_nodes(model, "subwordembed")
    E = layer.get_param("E")
    assert E.std() == pytest.approx(0.2 / np.sqrt(12), rel=0.1)  # as it was
    np.testing.assert_allclose(E / E.std(), numbers / numbers.std(), rtol=1e-4)
    vocab, words = nlp.vocab, ["anna", "sang", "y"]
    sizes = {"minn": 3, "maxn": 5, "hash_count": 1, "hash_seed": SEED}
    known = Vectors(strings=vocab.strings, data=numbers, mode="floret", **sizes)
    (embedder,) = get_nodes(model, "with_distinct_words(subwordembed)")
    (vectors,) = embedder.predict([spacy.tokens.Doc(vocab, words=words)])
    expected = known.get_batch(words)
    norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(expected, axis=1)
    np.testing.assert_allclose((vectors * expected).sum(1) / norms, 1, rtol=1e-5)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"rows": 50}, "rows = 50 and not 40"),
        ({"width": 5}, "width = 5 and not 6"),
        ({"minn": 2}, "minn = 2 and not 3"),
        ({"maxn": 4}, "maxn = 4 and not 5"),
        ({"num_hashes": 2}, "num_hashes = 2 and not 1"),
        ({"seed": 1}, "seed = 1 and not 2166136261"),
        ({"begin": "^"}, "marks"),
        ({"end": "$"}, "marks"),
    ],
)
def test_other_tables_are_refused(tmp_path, changed, named):
    path, _ = save_table(tmp_path / "raw.floret", **changed)
    with pytest.raises(ValueError, match=f"'init' should .*{named}"):
        read_table(path, NGRAMS, WIDTH)


def make_table(number: str, n_rows: int = ROWS) -> bytes:
    header = " ".join(map(str, HEADER.values()))
    rows = (f"{i} 1 2 3 4 5 {number}\n" for i in range(n_rows))
    return "".join([f"{header}\n", *rows]).encode()


@pytest.mark.filterwarnings("ignore:.*unclosed file")  # which spaCy leaves open
@pytest.mark.filterwarnings("ignore:Exception ignored in")
@pytest.mark.parametrize("name", ["raw.floret", "raw.floret.gz"])
@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"5 3\n", b"a b c d e f g h\n", b"\xff\xfe"),
        *(make_table(number) for number in ("nan", "1e300", "x", "6 7")),
        *(make_table("6", n_rows) for n_rows in (0, 1, ROWS - 1, ROWS + 1)),
        make_table("6").replace(b"\n1 ", b"\n2 "),
        make_table(".5").replace(b" 1 2 3 4 5 ", b" .5" * 5 + b" "),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data if name.endswith("t") else gzip.compress(data)[:-4])
    with pytest.raises(ValueError, match=r"'init' should .* is none"):
        read_table(path, NGRAMS, WIDTH)


def test_a_table_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"raw\.floret"):
        read_table(tmp_path / "raw.floret", NGRAMS, WIDTH)
