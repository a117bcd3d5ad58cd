from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.util import load_config
from thinc.api import Config

from spacy_hashembeds import count_symbols
from spacy_hashembeds.analysis.features import collect_vocabulary
from spacy_hashembeds.analysis.pipelines import (
    find_embedders,
    give_symbols,
    load_pipeline,
    load_vectors,
)
from spacy_hashembeds.symbols import count_values, cut_symbols, save_symbols
from tests.configs import CONFIGS

LOOKUP = CONFIGS / "multi_embed.cfg"
ENCODE = "components.tok2vec.model.encode"
ATTRS = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]


def write(path: Path, overrides: dict[str, object]) -> Path:
    load_config(LOOKUP, overrides=overrides).to_disk(path)
    return path


@pytest.fixture
def docs() -> list[Doc]:
    vocab = spacy.blank("en").vocab
    return [Doc(vocab, words=["the", "cat"] * 10 + ["saw"] * 3 + ["it"])]


def get_rows(config: Path, docs: list[Doc]) -> list[int]:
    nlp = load(config=config)
    (embedder,) = find_embedders(nlp)
    filled = give_symbols(embedder, nlp, collect_vocabulary(docs, ATTRS))
    for table in filled.tables:
        assert (table.symbols[1:] > table.symbols[:-1]).all()
    return [len(table.symbols) + 1 for table in filled.tables]


def load(config=None, model=None, **overrides):
    return load_pipeline(config=config, model=model, overrides=overrides)


def test_pipelines_are_blank_loaded_or_built(tmp_path):
    spacy.blank("nl").to_disk(tmp_path)
    assert load(**{"nlp.lang": "es"}).lang == "es"
    assert load().lang == "xx"
    assert load(model=tmp_path).lang == "nl"
    assert load(config=LOOKUP).pipe_names == ["tok2vec", "ner"]
    with pytest.raises(FileNotFoundError, match=r"There is no '.*gone\.cfg': give a"):
        load(config=tmp_path / "gone.cfg")


def test_overrides_change_the_config():
    overrides = {
        "nlp.lang": "de",
        "components.tok2vec.model.embed.attrs": ["SHAPE", "LOWER"],
    }
    nlp = load(config=LOOKUP, **overrides)
    assert nlp.lang == "de"
    (embedder,) = find_embedders(nlp)
    assert [table.attr for table in embedder.tables] == ["SHAPE", "LOWER"]
    with pytest.raises(ValueError, match=r"multi_embed\.cfg' should be .* dept"):
        load(config=LOOKUP, **{f"{ENCODE}.dept": 3})


def test_only_configs_have_settings(tmp_path):
    spacy.blank("nl").to_disk(tmp_path)
    message = f"'nlp.lang' is a setting of a config, but the pipeline '{tmp_path}' has"
    with pytest.raises(ValueError, match=message):
        load(model=tmp_path, **{"nlp.lang": "nl"})
    message = r"'training\.dropout' is .*, but a corpus alone has none\. Leave it out"
    with pytest.raises(ValueError, match=message):
        load(**{"nlp.lang": "nl", "training.dropout": 0.2})


@pytest.mark.parametrize("text", ["# A page\n\nof text", "[metadata]\nname = x\n", ""])
def test_a_file_that_is_no_config_is_named(tmp_path, text):
    path = tmp_path / "some.cfg"
    path.write_text(text, encoding="utf8")
    with pytest.raises(ValueError, match=rf"'{path}' should be a spaCy config, but"):
        load(config=path)


def test_symbols_are_counted_as_the_callback_would(docs, tmp_path):
    assert get_rows(LOOKUP, docs)[0] == 3
    overrides = {"initialize.before_init.min_freq": 2}
    assert get_rows(write(tmp_path / "2.cfg", overrides), docs)[0] == 4
    config = load_config(LOOKUP)
    del config["initialize"]["before_init"]["min_freq"]  # of which it has a default
    config.to_disk(tmp_path / "default.cfg")
    assert get_rows(tmp_path / "default.cfg", docs)[0] == 3


def test_symbols_in_a_file_go_first(docs, tmp_path):
    counts = count_values(docs, ATTRS)
    tables = cut_symbols(counts, min_freq=1, lang="en")
    save_symbols(tmp_path / "tables.npz", tables)
    overrides = {"components.tok2vec.model.embed.tables": str(tmp_path / "tables.npz")}
    config = write(tmp_path / "config.cfg", overrides)
    assert get_rows(config, docs)[0] == 5
    (tmp_path / "tables.npz").unlink()
    with pytest.raises(FileNotFoundError, match="no file of symbol tables"):
        get_rows(config, docs)


def test_hybrid_tables_get_the_rows_that_training_would_give_them(docs, tmp_path):
    overrides = {"initialize.before_init.min_freq": 4}
    config = tmp_path / "config.cfg"
    load_config(CONFIGS / "multi_hybrid_embed.cfg", overrides=overrides).to_disk(config)
    nlp = load(config=config)
    (embedder,) = find_embedders(nlp)
    docs = [*docs, Doc(docs[0].vocab, words=["A", "b1", "?", "Xx"])]
    filled = give_symbols(embedder, nlp, collect_vocabulary(docs, ATTRS))
    count_symbols(nlp, docs, min_freq=4)
    nlp.initialize()
    (expected,) = find_embedders(nlp)
    for table, other in zip(filled.tables, expected.tables, strict=True):
        np.testing.assert_array_equal(table.symbols, other.symbols)
        assert (table.own_rows, table.n_rows) == (len(other.symbols), other.n_rows)
    few = {"components.tok2vec.model.embed.rows": [5000, 1, 2500, 2500]}
    nlp = load(config=config, **few)
    (embedder,) = find_embedders(nlp)
    with pytest.raises(ValueError, match=r"'rows' gives the table for PREFIX 1 rows"):
        give_symbols(embedder, nlp, collect_vocabulary(docs, ATTRS))


def test_symbols_from_nowhere_are_an_error(docs, tmp_path):
    config: Config = load_config(LOOKUP)
    del config["initialize"]["before_init"]
    config.to_disk(tmp_path / "config.cfg")
    with pytest.raises(ValueError, match=r"The table for NORM in 'tok2vec' has no"):
        get_rows(tmp_path / "config.cfg", docs)


def test_vectors_are_those_given_or_the_pipelines_own(tmp_path):
    nlp = spacy.blank("en")
    assert load_vectors(None, nlp) is None
    nlp.vocab.reset_vectors(width=4)  # has a width, and no rows
    assert load_vectors(None, nlp) is None
    nlp.to_disk(tmp_path / "none")
    with pytest.raises(ValueError, match=r"'.*none' should be a pipeline with word v"):
        load_vectors(tmp_path / "none", nlp)
    with pytest.raises(OSError, match="gone"):
        load_vectors(tmp_path / "gone", nlp)
    nlp.vocab.set_vector("cat", np.ones(4, dtype="float32"))
    assert load_vectors(None, nlp) is nlp.vocab
    nlp.to_disk(tmp_path / "some")
    vocab = load_vectors(tmp_path / "some", spacy.blank("en"))
    assert vocab is not None
    assert vocab.has_vector("cat")
