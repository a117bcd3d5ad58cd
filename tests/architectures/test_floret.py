"""Rows of n-grams as floret has them: where they are, and the table they begin as."""

import gzip
import re
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


NGRAMS = Ngrams(minn=3, maxn=5, num_hashes=1, rows=40)
HEADER = {
    **{"rows": 40, "width": 6, "minn": 3, "maxn": 5, "hash_count": 1},
    **{"hash_seed": SEED, "bow": "<", "eow": ">"},
}
SUBWORDS = """
[components.tok2vec.model.embed.subwords]
@architectures = "spacy-hashembeds.SubwordEmbed.v1"
rows = 40
width = 6
init = null
"""


def make_table(numbers, **header) -> bytes:
    """What floret saves, with these settings."""
    lines = [f"{i} {' '.join(map(str, row))}" for i, row in enumerate(numbers)]
    header = {**HEADER, **header}
    return "\n".join([" ".join(map(str, header.values())), *lines, ""]).encode()


def test_words_point_where_florets_do_and_the_file_is_not_needed_afterwards(tmp_path):
    path = tmp_path / "raw.floret"
    numbers = np.random.default_rng(0).normal(scale=5, size=(40, 6)).round(4)
    path.write_bytes(make_table(numbers))
    init = {"components.tok2vec.model.embed.subwords.init": str(path)}
    config = Config().from_str(CONFIG + SUBWORDS, overrides=init)
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    nlp.initialize(lambda: make_examples(nlp))
    path.unlink()
    loaded = spacy.util.load_model_from_config(nlp.config, auto_fill=True)
    model = loaded.from_bytes(nlp.to_bytes()).get_pipe("tok2vec").model
    (layer,) = get_nodes(model, "subwordembed")
    E = layer.get_param("E")
    assert E.std() == pytest.approx(0.2 / np.sqrt(12), rel=0.1)  # as it was
    np.testing.assert_allclose(E / E.std(), numbers / numbers.std(), rtol=1e-4)
    words, settings = ["anna", "sang", "y"], NGRAMS.get_settings()
    known = Vectors(mode="floret", data=numbers.astype("f"), **settings)
    (embedder,) = get_nodes(model, "with_distinct_words(subwordembed)")
    (vectors,) = embedder.predict([spacy.tokens.Doc(nlp.vocab, words=words)])
    expected = known.get_batch(words)
    norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(expected, axis=1)
    np.testing.assert_allclose((vectors * expected).sum(1) / norms, 1, rtol=1e-5)


TABLE = [[*range(6)]] * 40
OTHERS = {"minn": 2, "maxn": 4, "hash_count": 2, "hash_seed": 1, "bow": "^", "eow": "$"}


@pytest.mark.filterwarnings("ignore:.*unclosed file")  # which spaCy leaves open
@pytest.mark.filterwarnings("ignore:Exception ignored in")
@pytest.mark.parametrize("name", ["raw.floret", "raw.floret.gz"])
@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"5 3\n", b"a b c d e f g h\n", b"\xff\xfe"),
        *(make_table([[*range(5), n]] * 40) for n in ("nan", "1e300", "x", "6 7")),
        *(make_table(TABLE[:n]) for n in (0, 1, 39)),
        make_table([*TABLE, TABLE[0]]),
        make_table(TABLE).replace(b"\n1 ", b"\n2 "),
        make_table([[0.5] * 6] * 40),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data if name.endswith("t") else gzip.compress(data)[:-4])
    with pytest.raises(ValueError, match=r"'init' should .* is none"):
        read_table(path, NGRAMS, 6)


@pytest.mark.parametrize(("setting", "value"), OTHERS.items())
def test_tables_of_other_settings_are_refused(tmp_path, setting, value):
    path = tmp_path / "raw.floret"
    path.write_bytes(make_table(TABLE, **{setting: value}))
    expected = f"{setting} = {value!r} and not {HEADER[setting]}"
    with pytest.raises(ValueError, match=rf"'init' should .*{re.escape(expected)}"):
        read_table(path, NGRAMS, 6)


def test_tables_of_other_sizes_are_refused(tmp_path):
    path = tmp_path / "raw.floret"
    path.write_bytes(make_table(TABLE))
    for ngrams, width in ((NGRAMS._replace(rows=39), 6), (NGRAMS, 5)):
        with pytest.raises(ValueError, match=r"(rows = 40|width = 6) and not"):
            read_table(path, ngrams, width)
    with pytest.raises(FileNotFoundError, match=r"none\.floret"):
        read_table(tmp_path / "none.floret", NGRAMS, 6)
