"""Counting symbols while a pipeline is initialised."""

from collections import Counter

import pytest
import spacy
from spacy.training import Example
from spacy.util import load_config, load_model_from_config, registry

from spacy_hashembeds.callbacks import create_count_symbols
from spacy_hashembeds.layers.symbolembed import find_symbol_embeds
from spacy_hashembeds.symbols import count_symbols, cut_symbols, save_symbols

from .conftest import ROOT

TEXTS = ["a a b", "a c", "Zz"]


class CountingReader:
    """A corpus reader that knows how often it was read, and how far."""

    def __init__(self, texts=TEXTS):
        self.texts = texts
        self.n_passes = 0
        self.n_docs = 0

    def __call__(self, nlp):
        self.n_passes += 1
        for text in self.texts:
            self.n_docs += 1
            yield Example.from_dict(nlp.make_doc(text), {})


current: list[CountingReader] = []
registry.readers.register("test.CountingReader.v1", func=lambda: current[-1])


@pytest.fixture
def reader():
    current.append(CountingReader())
    return current[-1]


def build_nlp(corpora=("train",), **overrides):
    config = load_config(
        ROOT / "configs/multi_embed.cfg",
        overrides={
            "paths.train": "absent",
            "paths.dev": "absent",
            "components.tok2vec.model.encode.depth": 1,
            "components.tok2vec.model.encode.width": 8,
            "components.tok2vec.model.embed.attrs": ["NORM"],
            **overrides,
        },
    )
    for name in corpora:
        config["corpora"][name] = {"@readers": "test.CountingReader.v1"}
    return load_model_from_config(config, auto_fill=True)


def get_examples(nlp):
    docs = [nlp.make_doc(text) for text in TEXTS]
    return [Example.from_dict(d, {"entities": [(0, len(d[0]), "X")]}) for d in docs]


def initialize(nlp):
    nlp.initialize(lambda: get_examples(nlp))
    return {
        nlp.vocab.strings[int(symbol)]
        for embed in find_symbol_embeds(nlp.get_pipe("tok2vec").model)
        for symbol in embed.attrs["symbols"]
    }


def test_counts_the_training_corpus_once(reader):
    nlp = build_nlp(**{"initialize.before_init.min_freq": 2})
    assert initialize(nlp) == {"a"}
    assert (reader.n_passes, reader.n_docs) == (1, 3)


def test_min_freq_is_inclusive(reader):
    assert initialize(build_nlp(**{"initialize.before_init.min_freq": 3})) == {"a"}
    assert initialize(build_nlp(**{"initialize.before_init.min_freq": 4})) == set()
    symbols = initialize(build_nlp(**{"initialize.before_init.min_freq": 1}))
    assert symbols == {"a", "b", "c", "zz"}


def test_limit_reads_no_further(reader):
    def endless():
        while True:
            yield "a"

    reader.texts = endless()
    nlp = build_nlp(**{"initialize.before_init.limit": 12})
    assert initialize(nlp) == {"a"}
    assert reader.n_docs == 12


def test_another_corpus(reader):
    nlp = build_nlp(
        corpora=("more",),
        **{
            "initialize.before_init.corpus": "corpora.more",
            "initialize.before_init.min_freq": 1,
        },
    )
    assert initialize(nlp) == {"a", "b", "c", "zz"}


def test_a_file_goes_before_the_callback(reader, tmp_path):
    docs = [spacy.blank("en").make_doc("q")]
    tables = cut_symbols(count_symbols(docs, ["NORM"]), min_freq=1, lang="en")
    save_symbols(tmp_path / "t.npz", tables)
    tables_setting = "components.tok2vec.model.embed.tables"
    nlp = build_nlp(**{tables_setting: str(tmp_path / "t.npz")})
    assert initialize(nlp) == {"q"}
    assert reader.n_passes == 0


def test_frozen_components_keep_their_symbols(reader):
    nlp = build_nlp(**{"initialize.before_init.min_freq": 3})
    assert initialize(nlp) == {"a"}
    nlp.config["initialize"]["before_init"]["min_freq"] = 1
    with nlp.select_pipes(disable=["tok2vec"]):
        nlp.initialize(lambda: get_examples(nlp))
    (embed,) = find_symbol_embeds(nlp.get_pipe("tok2vec").model)
    assert len(embed.attrs["symbols"]) == 1


def test_pipelines_without_the_layer_are_left_alone(reader):
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger")
    create_count_symbols()(nlp)
    assert reader.n_passes == 0


def test_an_empty_corpus_is_refused(reader):
    reader.texts = ["", ""]
    with pytest.raises(ValueError, match=r"not a token in the corpus 'corpora\.train'"):
        initialize(build_nlp())


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"min_freq": 0}, r"'min_freq' should be at least 1, but is 0"),
        ({"limit": -1}, r"'limit' should be 0 \(no limit\) or more, but is -1"),
    ],
)
def test_bad_arguments_are_refused_when_built(arguments, error):
    with pytest.raises(ValueError, match=error):
        create_count_symbols(**arguments)


@pytest.mark.parametrize(
    ("dataset", "lang", "sizes"),
    [
        (
            "conll2002_es",
            "es",
            {"NORM": 2635, "PREFIX": 80, "SUFFIX": 1147, "SHAPE": 88},
        ),
        ("wnut17", "en", {"NORM": 687, "PREFIX": 85, "SUFFIX": 743, "SHAPE": 128}),
        ("anem", "en", {"NORM": 759, "PREFIX": 82, "SUFFIX": 600, "SHAPE": 74}),
    ],
)
def test_table_sizes_of_real_corpora(data_dir, tmp_path, dataset, lang, sizes):
    """The report's tables, as counted with its own code (min_freq 10)."""
    from spacy.training import Corpus

    from spacy_hashembeds.corpora.datasets import prepare_dataset

    prepare_dataset(dataset, data_dir, tmp_path)
    corpus = Corpus(tmp_path / "train.spacy")
    docs = (example.predicted for example in corpus(spacy.blank(lang)))
    tables = cut_symbols(count_symbols(docs, list(sizes)), min_freq=10, lang=lang)
    assert {k: len(t.symbols) for k, t in tables.tables.items()} == sizes
    assert all(
        Counter(t.counts >= 10) == {True: len(t.counts)} for t in tables.tables.values()
    )
