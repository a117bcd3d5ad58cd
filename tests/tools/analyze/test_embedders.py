"""Embedders of pipelines: their tables, symbols and codes."""

from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_config, load_model_from_config

from spacy_hashembeds.architectures.symbols import save_symbols
from spacy_hashembeds.tools.analyze.features import collect_vocabulary
from spacy_hashembeds.tools.analyze.pipelines import (
    Embedder,
    find_embedders,
    give_symbols,
    load_pipeline,
    load_vectors,
)
from spacy_hashembeds.training.counting import count_values, cut_symbols
from tests.configs import CONFIGS

CNN = {
    "width": 8,
    "depth": 1,
    "embed_size": 100,
    "window_size": 1,
    "maxout_pieces": 3,
    "subword_features": True,
    "pretrained_vectors": None,
}
ENCODE = {
    "@architectures": "spacy.MaxoutWindowEncoder.v2",
    "width": 8,
    "depth": 1,
    "window_size": 1,
    "maxout_pieces": 3,
}
TWO = {"width": 8, "attrs": ["NORM", 68], "include_static_vectors": False}
ROWS = {**TWO, "rows": [50, 20]}
ATTRS = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
OURS = "spacy-hashembeds.MultiFewerHashEmbed.v1"
WEIGHTED = "spacy-hashembeds.MultiWeightedHashEmbed.v1"
LOOKUP = CONFIGS / "multi_embed.cfg"


def make(architecture: str, **settings: Any) -> Language:
    nlp = spacy.blank("en")
    model = {"@architectures": architecture, **settings}
    if "CNN" not in architecture:
        tok2vec = {"@architectures": "spacy.Tok2Vec.v2", "encode": ENCODE}
        model = {**tok2vec, "embed": model}
    nlp.add_pipe("tok2vec", config={"model": model})
    return nlp


def find_one(architecture: str, **settings: Any) -> Embedder:
    (embedder,) = find_embedders(make(architecture, **settings))
    assert embedder.component == "tok2vec"
    return embedder


@pytest.mark.parametrize(
    ("architecture", "settings", "kind", "rows", "hashes", "seed"),
    [
        ("spacy.MultiHashEmbed.v1", ROWS, "hash", [50, 20], 4, 8),
        ("spacy.MultiHashEmbed.v2", ROWS, "hash", [50, 20], 4, 8),
        ("spacy.HashEmbedCNN.v1", CNN, "hash", [100, 50, 50, 50], 4, 8),
        ("spacy.HashEmbedCNN.v2", CNN, "hash", [100, 50, 50, 50], 4, 8),
        # one table is not concatenated with others
        (
            "spacy.HashEmbedCNN.v2",
            {**CNN, "subword_features": False},
            *("hash", [100], 4, 8),
        ),
        (OURS, {**ROWS, "num_hashes": 2, "seed": 31}, "hash", [50, 20], 2, 31),
        (
            WEIGHTED,
            {**ROWS, "num_hashes": 5, "combine": "concat", "importance_rows": [7, 4]},
            *("weighted", [50, 20], 5, 9),
        ),
        ("spacy-hashembeds.MultiEmbed.v1", TWO, "lookup", [1, 1], None, None),
    ],
)
def test_tables_of_embedders(architecture, settings, kind, rows, hashes, seed):
    embedder = find_one(architecture, **settings)
    attrs = ["NORM", "SHAPE"] if len(rows) == 2 else ATTRS[: len(rows)]
    found = [(t.kind, t.attr, t.n_rows, t.row_width) for t in embedder.tables]
    pairs = zip(attrs, rows, strict=True)
    assert found == [(kind, attr, n, 8) for attr, n in pairs]
    for i, table in enumerate(embedder.tables):
        if hashes is not None:
            assert (table.num_hashes, table.seed) == (hashes, seed + i)
    assert not embedder.has_others


def test_what_is_mixed_in_is_noted():
    with_vectors = {**ROWS, "include_static_vectors": True}
    assert find_one("spacy.MultiHashEmbed.v2", **with_vectors).has_others
    subwords = {"@architectures": "spacy-hashembeds.SubwordEmbed.v1"}
    assert find_one(OURS, **ROWS, subwords=subwords).has_others


def test_what_is_shared_is_there_once():
    nlp = make("spacy.MultiHashEmbed.v2", **ROWS)
    again = nlp.add_pipe("tok2vec", name="again")
    assert len(find_embedders(nlp)) == 2
    again.model = nlp.get_pipe("tok2vec").model
    assert [embedder.component for embedder in find_embedders(nlp)] == ["tok2vec"]


def test_other_layers_are_left_out():
    assert find_embedders(spacy.blank("en")) == []
    nlp = make(
        "spacy.CharacterEmbed.v2",
        **{"width": 8, "rows": 5, "nM": 4, "nC": 4, "include_static_vectors": False},
    )
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("ner")  # with a HashEmbedCNN of its own
    assert [embedder.component for embedder in find_embedders(nlp)] == ["ner"]


@pytest.fixture
def docs() -> list[Doc]:
    vocab = spacy.blank("en").vocab
    return [Doc(vocab, words=["the", "cat"] * 10 + ["saw"] * 3 + ["it"])]


def count_rows(config: Any, docs: list[Doc]) -> list[int]:
    nlp = load_model_from_config(config, auto_fill=True)
    (embedder,) = find_embedders(nlp)
    filled = give_symbols(embedder, nlp, collect_vocabulary(docs, ATTRS))
    # those of the pipeline wait for training
    assert all(table.symbols is None for table in embedder.tables)
    return [table.n_rows for table in filled]


@pytest.mark.parametrize(("min_freq", "rows"), [(2, 4), (10, 3), (11, 1), (None, 3)])
def test_symbols_are_counted_as_the_callback_would(docs, min_freq, rows):
    config = load_config(LOOKUP)
    config["initialize"]["before_init"]["min_freq"] = min_freq
    if min_freq is None:  # of which the callback has a default
        del config["initialize"]["before_init"]["min_freq"]
    assert count_rows(config, docs)[0] == rows


def test_symbols_in_a_file_go_first(docs, tmp_path):
    path = tmp_path / "tables.npz"
    save_symbols(path, cut_symbols(count_values(docs, ATTRS), min_freq=1, lang="en"))
    tables = {"components.tok2vec.model.embed.tables": str(path)}
    assert count_rows(load_config(LOOKUP, overrides=tables), docs)[0] == 5


def test_symbols_from_nowhere_are_an_error(docs):
    config = load_config(LOOKUP)
    del config["initialize"]["before_init"]
    with pytest.raises(ValueError, match=r"The table for NORM in 'tok2vec' has no"):
        count_rows(config, docs)


def load(config=None, model=None, **overrides):
    return load_pipeline(config=config, model=model, overrides=overrides)


def test_pipelines_are_blank_loaded_or_built(tmp_path):
    spacy.blank("nl").to_disk(tmp_path)
    assert load(**{"nlp.lang": "es"}).lang == "es"
    assert load().lang == "xx"
    assert load(model=tmp_path).lang == "nl"
    nlp = load(config=LOOKUP, **{"nlp.lang": "de"})
    assert (nlp.lang, nlp.pipe_names) == ("de", ["tok2vec", "ner"])


@pytest.mark.parametrize(
    ("source", "overrides", "message"),
    [
        ({}, {"nlp.lang": "__init__"}, r"lang.*__init__"),
        ({"model": "x"}, {"nlp.lang": "nl"}, "no config to change by nlp.lang"),
        (
            {"config": LOOKUP},
            {"components.tok2vec.model.encode.dept": 3},
            r"multi_embed\.cfg' should be .* dept",
        ),
    ],
)
def test_settings_that_can_not_be(source, overrides, message):
    with pytest.raises(ValueError, match=message):
        load(**source, **overrides)


@pytest.mark.parametrize("text", ["# A page\n\nof text", "[nlp]\na = 1\na = 2\n", ""])
def test_a_file_that_is_no_config_is_named(tmp_path, text):
    path = tmp_path / "some.cfg"
    with pytest.raises(OSError, match=r"some\.cfg"):
        load(config=path)
    path.write_text(text, encoding="utf8")
    with pytest.raises(ValueError, match=rf"'{path}' should be a spaCy config, but"):
        load(config=path)


def test_vectors_are_those_given_or_the_pipelines_own():
    nlp = spacy.blank("en")
    nlp.vocab.reset_vectors(width=4)  # has a width, and no rows
    assert load_vectors(None, nlp) is None
    nlp.vocab.set_vector("cat", np.ones(4, dtype="float32"))
    assert load_vectors(None, nlp) is nlp.vocab
    assert load_vectors(nlp, spacy.blank("en")) is nlp.vocab
