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
    nlp = load_pipeline(config=config, model=None, overrides={})
    (embedder,) = find_embedders(nlp)
    filled = give_symbols(embedder, nlp, collect_vocabulary(docs, ATTRS))
    for table in filled.tables:
        assert (table.symbols[1:] > table.symbols[:-1]).all()
    return [len(table.symbols) + 1 for table in filled.tables]


def test_a_blank_pipeline_has_the_language():
    assert (
        load_pipeline(config=None, model=None, overrides={"nlp.lang": "es"}).lang
        == "es"
    )
    assert load_pipeline(config=None, model=None, overrides={}).lang == "xx"


def test_pipelines_are_loaded(tmp_path):
    spacy.blank("nl").to_disk(tmp_path)
    assert load_pipeline(config=None, model=tmp_path, overrides={}).lang == "nl"
    nlp = load_pipeline(config=LOOKUP, model=None, overrides={})
    assert nlp.pipe_names == ["tok2vec", "ner"]
    with pytest.raises(FileNotFoundError, match=r"There is no '.*gone\.cfg': give a"):
        load_pipeline(config=tmp_path / "gone.cfg", model=None, overrides={})


def test_overrides_change_the_config():
    overrides = {
        "nlp.lang": "de",
        "components.tok2vec.model.embed.attrs": ["SHAPE", "LOWER"],
    }
    nlp = load_pipeline(config=LOOKUP, model=None, overrides=overrides)
    assert nlp.lang == "de"
    (embedder,) = find_embedders(nlp)
    assert [table.attr for table in embedder.tables] == ["SHAPE", "LOWER"]
    with pytest.raises(ValueError, match=r"multi_embed\.cfg' should be .* dept"):
        load_pipeline(config=LOOKUP, model=None, overrides={f"{ENCODE}.dept": 3})


def test_only_configs_have_settings(tmp_path):
    spacy.blank("nl").to_disk(tmp_path)
    message = f"'nlp.lang' is a setting of a config, but the pipeline '{tmp_path}' has"
    with pytest.raises(ValueError, match=message):
        load_pipeline(config=None, model=tmp_path, overrides={"nlp.lang": "nl"})
    message = r"'training\.dropout' is .*, but a corpus alone has none\. Leave it out"
    overrides = {"nlp.lang": "nl", "training.dropout": 0.2}
    with pytest.raises(ValueError, match=message):
        load_pipeline(config=None, model=None, overrides=overrides)


@pytest.mark.parametrize(
    "text",
    ["# A page\n\nof text", "[metadata]\nname = x\n", "", "[nlp]\n[nlp]\n"],
)
def test_a_file_that_is_no_config_is_named(tmp_path, text):
    path = tmp_path / "some.cfg"
    path.write_text(text, encoding="utf8")
    with pytest.raises(ValueError, match=rf"'{path}' should be a spaCy config, but"):
        load_pipeline(config=path, model=None, overrides={})


def test_symbols_are_counted_as_the_callback_would(docs, tmp_path):
    assert get_rows(LOOKUP, docs)[0] == 3
    overrides = {"initialize.before_init.min_freq": 2}
    assert get_rows(write(tmp_path / "2.cfg", overrides), docs)[0] == 4


def test_the_default_of_the_callback_is_its_own(docs, tmp_path):
    config = load_config(LOOKUP)
    del config["initialize"]["before_init"]["min_freq"]
    config.to_disk(tmp_path / "config.cfg")
    assert get_rows(tmp_path / "config.cfg", docs)[0] == 3


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
    nlp = load_pipeline(config=config, model=None, overrides={})
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
    nlp = load_pipeline(config=config, model=None, overrides=few)
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
    with pytest.raises(
        ValueError, match=r"'.*none' should be a pipeline with word vec"
    ):
        load_vectors(tmp_path / "none", nlp)
    with pytest.raises(OSError, match="gone"):
        load_vectors(tmp_path / "gone", nlp)
    nlp.vocab.set_vector("cat", np.ones(4, dtype="float32"))
    assert load_vectors(None, nlp) is nlp.vocab
    nlp.to_disk(tmp_path / "some")
    vocab = load_vectors(tmp_path / "some", spacy.blank("en"))
    assert vocab is not None
    assert vocab.has_vector("cat")


def test_a_file_has_no_vectors(tmp_path):
    path = tmp_path / "a.spacy"
    path.touch()
    with pytest.raises(ValueError, match=f"'{path}' should .*but is a file. A corpus"):
        load_vectors(path, spacy.blank("en"))
