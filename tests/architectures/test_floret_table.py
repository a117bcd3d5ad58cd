"""Rows of n-grams that begin as floret's: the argument `init` of `SubwordEmbed.v1`."""

import gzip

import numpy as np
import pytest
import spacy
from spacy.vectors import Vectors
from thinc.api import Config

from spacy_hashembeds.architectures.floret_table import read_table
from spacy_hashembeds.layers.subwords import Ngrams

from ..test_cached_weights import CONFIG, make_examples
from ..toy_embedders import get_nodes

ROWS, WIDTH = 40, 6
NGRAMS = Ngrams(minn=3, maxn=5, num_hashes=1, rows=ROWS)
HEADER = {
    **{"rows": ROWS, "width": WIDTH, "minn": 3, "maxn": 5, "num_hashes": 1},
    **{"seed": 2166136261, "begin": "<", "end": ">"},
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
        random = np.random.default_rng(0)
        n_rows = min(header["rows"], ROWS)
        numbers = random.normal(size=(n_rows, header["width"])).round(4)
    lines = [f"{i} {' '.join(map(str, row))}" for i, row in enumerate(numbers)]
    path.write_text("\n".join([" ".join(map(str, header.values())), *lines]) + "\n")
    return path, np.asarray(numbers, dtype="f")


def make_nlp(path):
    init = {"components.tok2vec.model.embed.subwords.init": str(path)}
    config = Config().from_str(CONFIG + SUBWORDS, overrides=init)
    return spacy.util.load_model_from_config(config, auto_fill=True)


def initialize(nlp):
    nlp.initialize(lambda: make_examples(nlp))
    return nlp


def get_layer(nlp):
    (layer,) = get_nodes(nlp.get_pipe("tok2vec").model, "subwordembed")
    return layer


def test_a_words_vector_points_where_florets_does(tmp_path):
    path, numbers = save_table(tmp_path / "raw.floret")
    layer = get_layer(initialize(make_nlp(path)))
    E = layer.get_param("E")
    assert E.std() == pytest.approx(0.2 / np.sqrt(12), rel=0.1)  # as it was
    np.testing.assert_allclose(E / E.std(), numbers / numbers.std(), rtol=1e-4)
    vocab = spacy.blank("en").vocab
    sizes = {"minn": 3, "maxn": 5, "hash_count": 1, "hash_seed": HEADER["seed"]}
    known = Vectors(strings=vocab.strings, data=numbers, mode="floret", **sizes)
    nlp = make_nlp(path)
    words = ["anna", "sang", "y"]
    doc = spacy.tokens.Doc(nlp.vocab, words=words)
    (embedder,) = (
        node
        for node in initialize(nlp).get_pipe("tok2vec").model.walk()
        if layer.name in [inner.name for inner in node.layers]
    )
    (vectors,) = embedder.predict([doc])
    expected = known.get_batch(words)
    cosines = (vectors * expected).sum(1) / (
        np.linalg.norm(vectors, axis=1) * np.linalg.norm(expected, axis=1)
    )
    np.testing.assert_allclose(cosines, 1, rtol=1e-5)


def test_the_file_is_not_needed_afterwards(tmp_path):
    path, _ = save_table(tmp_path / "raw.floret")
    nlp = initialize(make_nlp(path))
    nlp.to_disk(tmp_path / "nlp")
    path.unlink()
    again = spacy.load(tmp_path / "nlp")
    assert len(again.vocab.vectors) == 0
    np.testing.assert_array_equal(
        get_layer(again).get_param("E"), get_layer(nlp).get_param("E")
    )


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"rows": 50}, "rows = 50 and not 40"),
        ({"rows": 10**12}, "rows = 1000000000000 and not 40"),
        ({"width": 5, "minn": 2}, "width = 5 and not 6, minn = 2 and not 3"),
        ({"maxn": 4, "num_hashes": 2}, "maxn = 4 and not 5, num_hashes = 2 and not 1"),
        (
            {"seed": 1, "begin": "^"},
            r"seed = 1 and not 2166136261, begin = \^ and not <",
        ),
        ({"end": "$"}, r"end = \$ and not >"),
    ],
)
def test_other_tables_are_refused(tmp_path, changed, named):
    path, _ = save_table(tmp_path / "raw.floret", **changed)
    with pytest.raises(ValueError, match=f"'init' should .*{named}"):
        read_table(path, NGRAMS, WIDTH)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda data: b"", r"is none: it is cut off\.$"),
        (lambda data: b"40 6\n" + data, r"is none: its first line has no 8 fields\.$"),
        (lambda data: data + data.split(b"\n", 1)[1], "has more rows than its first"),
        (lambda data: "\ufeff".encode() + data, r"rows = '\\ufeff40' and not 40"),
        (lambda data: b"9" * 5000 + data, r"rows = '9+\.\.\.9+40' and not 40"),
    ],
)
def test_what_is_wrong_with_a_table_is_named(tmp_path, change, named):
    path, _ = save_table(tmp_path / "raw.floret")
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ValueError, match=named):
        read_table(path, NGRAMS, WIDTH)


@pytest.mark.filterwarnings("ignore:.*unclosed file")  # which spaCy leaves open
@pytest.mark.filterwarnings("ignore:Exception ignored in")
@pytest.mark.parametrize(
    "rows",
    [
        "",
        "0 1 2\n",
        "0 1 2 3 4 5 x\n",
        *(
            "".join(f"{i} 1 2 3 4 5 {number}\n" for i in range(ROWS))
            for number in ("nan", "1e300", "6 7")
        ),
        "".join(f"{i} {'.5 ' * WIDTH}\n" for i in range(ROWS)),
        "".join(f"{i} {'1e-44 ' * WIDTH}\n" for i in range(ROWS)),
        "".join(f"{i} 1 2 3 4 5 6\n" for i in range(ROWS - 1)),
        "".join(f"{i} 1 2 3 4 5 6\n" for i in range(ROWS + 1)),
        "".join(f"{i} 1 2 3 4 5 6\n" for i in reversed(range(ROWS))),
    ],
)
def test_damaged_tables_are_refused(tmp_path, rows):
    path = tmp_path / "raw.floret"
    path.write_text(f"{' '.join(map(str, HEADER.values()))}\n{rows}")
    with pytest.raises(ValueError, match=r"'init' should .* is none"):
        read_table(path, NGRAMS, WIDTH)


@pytest.mark.filterwarnings("ignore:.*unclosed file")
@pytest.mark.filterwarnings("ignore:Exception ignored in")
@pytest.mark.parametrize("data", [b"", b"5 3\n", b"a b c d e f g h\n", b"\xff\xfe"])
@pytest.mark.parametrize("name", ["raw.floret", "raw.floret.gz", "raw.floret.zip"])
def test_what_is_no_table_is_refused(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data if name.endswith("t") else gzip.compress(data)[:-4])
    with pytest.raises(ValueError, match=r"'init' should .* is none"):
        read_table(path, NGRAMS, WIDTH)


def test_a_table_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"raw\.floret"):
        read_table(tmp_path / "raw.floret", NGRAMS, WIDTH)
