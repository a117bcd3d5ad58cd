"""Embedders of pipelines, their tables and symbols."""

from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_config, load_model_from_config

from spacy_hashembeds.architectures.symbols import save_symbols
from spacy_hashembeds.tools.analyze.corpus import collect_vocabulary
from spacy_hashembeds.tools.analyze.embedders import (
    fill_symbols,
    find_embedders,
    load_pipeline,
)
from spacy_hashembeds.training.counting import count_values, filter_symbols
from tests.configs import CONFIGS

TWO = {"width": 96, "attrs": ["NORM", 68], "include_static_vectors": False}
ROWS = {**TWO, "rows": [50, 20]}
ATTRS = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
OURS = "spacy-hashembeds.MultiFewerHashEmbed.v1"
WEIGHTED = "spacy-hashembeds.MultiWeightedHashEmbed.v1"
LOOKUP = CONFIGS / "multi_embed.cfg"


def make(architecture: str, **settings: Any) -> Language:
    """Return a pipeline with this embedder."""
    config = load_config(LOOKUP)
    tok2vec = config["components"]["tok2vec"]["model"]
    tok2vec["embed"] = {"@architectures": architecture, **settings}
    return load_model_from_config(config, auto_fill=True)


@pytest.mark.parametrize(
    ("architecture", "settings", "kind", "hashes"),
    [
        ("spacy.MultiHashEmbed.v1", ROWS, "hash", [(4, 8), (4, 9)]),
        ("spacy.MultiHashEmbed.v2", ROWS, "hash", [(4, 8), (4, 9)]),
        (OURS, {**ROWS, "num_hashes": 2, "seed": 31}, "hash", [(2, 31), (2, 32)]),
        (
            WEIGHTED,
            {**ROWS, "num_hashes": 5, "combine": "concat", "importance_rows": [7, 4]},
            *("weighted", [(5, 9), (5, 10)]),
        ),
        ("spacy-hashembeds.MultiEmbed.v1", TWO, "lookup", None),
    ],
)
def test_tables_of_embedders(architecture, settings, kind, hashes):
    (embedder,) = find_embedders(make(architecture, **settings))
    rows = settings.get("rows", [1, 1])
    found = [(t.kind, t.attr, t.n_rows, t.row_width) for t in embedder.tables]
    assert found == [(kind, "NORM", rows[0], 96), (kind, "SHAPE", rows[1], 96)]
    if hashes is not None:
        assert [(t.num_hashes, t.seed) for t in embedder.tables] == hashes
    assert (embedder.component, embedder.has_others) == ("tok2vec", False)


@pytest.mark.parametrize("has_subwords", [True, False])
def test_tables_of_the_default_tok2vec(has_subwords):
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec", config={"model": {"subword_features": has_subwords}})
    (embedder,) = find_embedders(nlp)
    expected = [("NORM", 2000), *((attr, 1000) for attr in ATTRS[1:])]
    found = [(table.attr, table.n_rows) for table in embedder.tables]
    assert found == expected[: None if has_subwords else 1]


def test_vectors_and_ngrams_are_detected():
    subwords = {"@architectures": "spacy-hashembeds.SubwordEmbed.v1"}
    for more in ({"include_static_vectors": True}, {"subwords": subwords}):
        (embedder,) = find_embedders(make(OURS, **{**ROWS, **more}))
        assert embedder.has_others


def test_shared_embedders_are_listed_once():
    nlp = make("spacy.MultiHashEmbed.v2", **ROWS)
    again = nlp.add_pipe("tok2vec", name="again")
    assert len(find_embedders(nlp)) == 2
    again.model = nlp.get_pipe("tok2vec").model
    assert [embedder.component for embedder in find_embedders(nlp)] == ["tok2vec"]


def test_other_layers_are_ignored():
    settings = {"rows": 5, "nM": 4, "nC": 4, "include_static_vectors": False}
    nlp = make("spacy.CharacterEmbed.v2", width=96, **settings)
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("tagger")  # has a HashEmbedCNN
    assert [embedder.component for embedder in find_embedders(nlp)] == ["tagger"]


@pytest.fixture
def docs() -> list[Doc]:
    vocab = spacy.blank("en").vocab
    return [Doc(vocab, words=["the", "cat"] * 10 + ["saw"] * 3 + ["it"])]


def count_rows(config: Any, docs: list[Doc]) -> list[int]:
    nlp = load_model_from_config(config, auto_fill=True)
    (embedder,) = find_embedders(nlp)
    filled = fill_symbols(embedder, nlp, collect_vocabulary(docs, ATTRS))
    # the pipeline is unchanged
    assert all(table.symbols is None for table in embedder.tables)
    return [table.n_rows for table in filled]


@pytest.mark.parametrize(("min_freq", "rows"), [(2, 4), (10, 3), (11, 1), (None, 3)])
def test_symbols_equal_those_of_the_callback(docs, min_freq, rows):
    config = load_config(LOOKUP)
    callback = config["initialize"]["before_init"]
    del callback["min_freq"]
    callback |= {"min_freq": min_freq} if min_freq else {}
    assert count_rows(config, docs)[0] == rows


def test_symbols_are_read_from_a_file(docs, tmp_path):
    path = tmp_path / "tables.npz"
    save_symbols(path, filter_symbols(count_values(docs, ATTRS), min_freq=1, lang="en"))
    tables = {"components.tok2vec.model.embed.tables": str(path)}
    assert count_rows(load_config(LOOKUP, overrides=tables), docs)[0] == 5
    config = load_config(LOOKUP)
    del config["initialize"]["before_init"]
    with pytest.raises(ValueError, match="table for NORM in 'tok2vec'"):
        count_rows(config, docs)


def load(config=None, model=None, **overrides):
    return load_pipeline(config=config, model=model, overrides=overrides)


def test_pipelines_are_blank_loaded_or_built(tmp_path):
    spacy.blank("fi").to_disk(tmp_path)
    assert load(model=tmp_path).lang == "fi"
    assert load().lang == "xx"
    nlp = load(LOOKUP, **{"nlp.lang": "es"})
    assert (nlp.lang, nlp.pipe_names) == ("es", ["tok2vec", "ner"])


@pytest.mark.parametrize("text", ["# A page\n\nof text", "[nlp]\nlang = '__init__'\n"])
def test_invalid_configs_are_named(tmp_path, text):
    path = tmp_path / "some.cfg"
    with pytest.raises(OSError, match=r"some\.cfg"):
        load(path)
    path.write_text(text, encoding="utf8")
    with pytest.raises(ValueError, match=r"some\.cfg' should be a spaCy config"):
        load(path)
