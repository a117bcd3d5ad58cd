"""`SubwordEmbed.v1`: character n-grams, rows as in floret, and initial tables.

Tests shared by all embedders cover the fast path, numpy, GPUs, training and copies: see
`BUILDERS`.
"""

import gzip
import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.util import load_model_from_config
from spacy.vectors import Vectors
from thinc.api import Config, Model

from spacy_hashembeds.architectures import subword_embed
from spacy_hashembeds.architectures.distinct_words import Words
from spacy_hashembeds.architectures.floret import (
    MAX_CHARACTERS,
    SubwordHashing,
    read_table,
)
from spacy_hashembeds.architectures.subword_embed import SubwordEmbed
from spacy_hashembeds.kernels import compiled

from ..kernels.paths import KERNELS, both_paths, needs_kernels
from ..papers.definitions import assert_is_defined_by
from ..test_cached_weights import CONFIG, make_examples
from ..toy_embedders import build_hash, get_nodes


def make(**options) -> tuple[Model, Model]:
    """Return the layer that runs once per word, and its inner layer."""
    model = SubwordEmbed(**{"rows": 50, "width": 7, **options}).initialize()
    return model, model.layers[0]


@pytest.mark.parametrize(
    "options", [{"minn": 3, "maxn": 5}, {"minn": 2, "maxn": 3, "num_hashes": 2}]
)
def test_words_and_gradients_are_scaled_sums_of_rows(nlp, options):
    ngrams = SubwordHashing(**{"num_hashes": 1, "rows": 50, **options})
    texts = ["anna", "sang", "żółw"]
    keys = np.array([[nlp.vocab.strings.add(text)] for text in texts], dtype="uint64")

    def define(words, E):
        parts = [E[ngrams.find_rows([text])[0]] for text in texts]
        return np.array([rows.sum(axis=0) / np.sqrt(len(rows)) for rows in parts])

    assert_is_defined_by(define, make(**options)[1], Words([nlp.vocab], keys))


@pytest.mark.parametrize(
    ("attr", "is_same"), [("LOWER", True), ("NORM", True), ("ORTH", False)]
)
def test_words_are_distinct_by_attribute(nlp, attr, is_same):
    docs = [Doc(nlp.vocab, words=["Anna", "anna"])]
    first, second = make(attr=attr)[0].predict(docs)[0]
    assert (first == second).all() == is_same


def test_another_layer_as_subwords(nlp):
    """Other layers do not use the fast path."""
    docs = [nlp("Anna sang"), nlp("")]

    def forward(model, docs, is_train):
        return [np.full((len(doc), 2), len(doc), "f") for doc in docs], lambda dY: []

    other: Model = Model("other", forward, dims={"nO": 2})
    model = build_hash(nlp.vocab, subwords=other)
    Y, backprop = model.begin_update(docs)
    assert [y.shape for y in Y] == [(2, 6), (0, 6)]
    backprop(Y)
    alone = np.concatenate([model.predict([doc])[0] for doc in docs])
    np.testing.assert_allclose(np.concatenate(Y), alone, atol=1e-5)


def test_prediction_in_blocks_of_words(nlp, monkeypatch):
    docs = [Doc(nlp.vocab, words=[f"word{i}" for i in range(41)])]
    model, _ = make()
    (expected,), sizes, find_rows = model.predict(docs), [], SubwordHashing.find_rows
    note = lambda *a: sizes.append(len(a[1])) or find_rows(*a)  # noqa: E731
    monkeypatch.setattr(SubwordHashing, "find_rows", note)
    monkeypatch.setattr(subword_embed, "_BLOCK", 20)
    np.testing.assert_array_equal(model.predict(docs)[0], expected)
    assert sizes == [20, 20, 1]


# Rows and tables of floret

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
    ngrams, results = SubwordHashing(minn, minn + more, num_hashes, rows), []
    for kernels in (KERNELS, None):
        with compiled.using(kernels):
            results.append(ngrams.find_rows([*words, *ODD]))
    for found, expected in zip(*results, strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@both_paths
def test_rows_of_a_word(kernels):
    """NFC normalization, marks, and truncation of long words."""
    ngrams = SubwordHashing(3, 5, 1, 2**31)
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
        rows, lengths = SubwordHashing(2, 3, 2, 7).find_rows(["dog", ""])
        # <dog> <d do og g> <do dog og> and twice <>, with two hashes each
        assert lengths.tolist() == [16, 4]
        assert len(rows) == 20
        assert len(ngrams.find_rows(["x" * 2**20])[0]) < 4 * MAX_CHARACTERS


NGRAMS = SubwordHashing(minn=3, maxn=5, num_hashes=1, rows=40)
HEADER = {"rows": 40, "width": 6, **NGRAMS.get_settings()}
TABLE = [[*range(6)]] * 40
SUBWORDS = {
    "@architectures": "spacy-hashembeds.SubwordEmbed.v1",
    **{"rows": 40, "width": 6},
}


def make_table(numbers=TABLE, **header) -> bytes:
    """Return a table file as saved by floret, with these settings."""
    lines = [f"{i} {' '.join(map(str, row))}" for i, row in enumerate(numbers)]
    first = " ".join(map(str, {**HEADER, **header}.values()))
    return "\n".join([first, *lines, ""]).encode()


def test_vectors_match_florets_and_the_file_is_read_only_once(tmp_path):
    path = tmp_path / "raw.floret"
    numbers = np.random.default_rng(0).normal(scale=5, size=(40, 6)).round(4)
    path.write_bytes(make_table(numbers))
    config = Config(CONFIG).copy()
    embed = config["components"]["tok2vec"]["model"]["embed"]
    embed["subwords"] = {**SUBWORDS, "init": str(path)}
    nlp = load_model_from_config(config, auto_fill=True)
    nlp.initialize(lambda: make_examples(nlp))
    path.unlink()
    loaded = load_model_from_config(nlp.config, auto_fill=True)
    model = loaded.from_bytes(nlp.to_bytes()).get_pipe("tok2vec").model
    (layer,) = get_nodes(model, "subwordembed")
    E = layer.get_param("E")
    assert E.std() == pytest.approx(0.2 / np.sqrt(12), rel=0.1)  # initial std
    np.testing.assert_allclose(E / E.std(), numbers / numbers.std(), rtol=1e-4)
    words, settings = ["anna", "sang", "y"], NGRAMS.get_settings()
    known = Vectors(mode="floret", data=numbers.astype("f"), **settings)
    (embedder,) = get_nodes(model, "with_distinct_words(subwordembed)")
    (vectors,) = embedder.predict([Doc(nlp.vocab, words=words)])
    expected = known.get_batch(words)
    norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(expected, axis=1)
    np.testing.assert_allclose((vectors * expected).sum(1) / norms, 1, rtol=1e-5)


INVALID_TABLES = [
    *(b"", b"5 3\n", b"a b c d e f g h\n", b"\xff\xfe"),
    *(make_table([[*range(5), number]] * 40) for number in ("x", "6 7")),
    *(make_table(TABLE[:n]) for n in (0, 1, 39)),
    make_table([*TABLE, TABLE[0]]),
    make_table().replace(b"\n1 ", b"\n2 "),
]
OTHERS = {"minn": 2, "maxn": 4, "hash_count": 2, "hash_seed": 1, "bow": "^", "eow": "$"}
MISMATCHED = [(make_table(**{k: x}), f"{k} = {x!r}") for k, x in OTHERS.items()]
MISMATCHED.append((make_table(TABLE[1:], rows=39), "rows = 39"))
MISMATCHED.append((make_table([[*range(5)]] * 40, width=5), "width = 5"))


@pytest.mark.filterwarnings("ignore:.*unclosed file")  # left open by spaCy
@pytest.mark.filterwarnings("ignore:Exception ignored in")
@pytest.mark.parametrize(
    ("data", "found"), [*((data, "") for data in INVALID_TABLES), *MISMATCHED]
)
def test_invalid_tables_and_other_settings_are_refused(tmp_path, data, found):
    path = tmp_path / "raw.floret"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=f"'init'.* is not.*{re.escape(found)}"):
        read_table(path, NGRAMS, 6)
    path = tmp_path / "raw.floret.gz"
    path.write_bytes(gzip.compress(data)[:-4])
    with pytest.raises(ValueError, match=r"'init' should .* is not"):
        read_table(path, NGRAMS, 6)
    with pytest.raises(FileNotFoundError, match=r"none\.floret"):
        read_table(tmp_path / "none.floret", NGRAMS, 6)
