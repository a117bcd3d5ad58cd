"""Counting symbols while a pipeline is initialised."""

import pickle
from copy import deepcopy

import pytest
import spacy
from spacy.lookups import Lookups
from spacy.training import Example
from spacy.training.pretrain import pretrain
from spacy.util import load_config, load_model_from_config, registry
from thinc.api import Config

from spacy_hashembeds.callbacks import create_count_symbols
from spacy_hashembeds.layers.symboltaker import find_symbol_takers
from spacy_hashembeds.symbols import count_values, cut_symbols, save_symbols
from tests.configs import CONFIGS

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


def build_nlp(corpora=("train",), embedder="multi_embed", **overrides):
    config = load_config(
        CONFIGS / f"{embedder}.cfg",
        overrides={
            "paths.train": "absent",
            "paths.dev": "absent",
            "components.tok2vec.model.encode.depth": 1,
            "components.tok2vec.model.encode.width": 8,
            "components.tok2vec.model.embed.attrs": ["NORM"],
            **overrides,
        },
    )
    config["corpora"] = {"dev": {"@readers": "test.CountingReader.v1"}}
    for name in corpora:
        config["corpora"][name] = {"@readers": "test.CountingReader.v1"}
    return load_model_from_config(config, auto_fill=True)


PRETRAINING = """
[pretraining]
max_epochs = 1
dropout = 0.2
n_save_every = null
n_save_epoch = null
component = "tok2vec"
layer = ""
corpus = "corpora.train"

[pretraining.batcher]
@batchers = "spacy.batch_by_words.v1"
size = 100
discard_oversize = false
tolerance = 0.2

[pretraining.objective]
@architectures = "spacy.PretrainCharacters.v1"
maxout_pieces = 2
hidden_size = 8
n_characters = 2

[pretraining.optimizer]
@optimizers = "Adam.v1"
learn_rate = 0.01
"""


def get_examples(nlp):
    docs = [nlp.make_doc(text) for text in TEXTS]
    return [Example.from_dict(d, {"entities": [(0, len(d[0]), "X")]}) for d in docs]


def initialize(nlp):
    nlp.initialize(lambda: get_examples(nlp))
    return {
        nlp.vocab.strings[int(symbol)]
        for embed in find_symbol_takers(nlp.get_pipe("tok2vec").model)
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
    tables = cut_symbols(count_values(docs, ["NORM"]), min_freq=1, lang="en")
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
    (embed,) = find_symbol_takers(nlp.get_pipe("tok2vec").model)
    assert len(embed.attrs["symbols"]) == 1


def test_pipelines_without_the_layer_are_left_alone(reader):
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger")
    create_count_symbols()(nlp)
    assert reader.n_passes == 0


def test_a_layer_of_a_stranger_is_left_alone(reader):
    """One that has the same name, here spaCy's own, initialises as ever."""
    nlp = spacy.blank("en")
    embed = nlp.add_pipe("tok2vec").model.get_ref("embed")
    embed.name = "multi_embed"
    init = embed.init
    create_count_symbols()(nlp)
    assert embed.init is init
    nlp.initialize(lambda: get_examples(nlp))
    assert nlp.get_pipe("tok2vec").model.predict([nlp.make_doc("a b")])[0].any()
    assert reader.n_passes == 0


def test_an_empty_corpus_is_refused(reader):
    reader.texts = ["", ""]
    with pytest.raises(ValueError, match=r"not a token in the corpus 'corpora\.train'"):
        initialize(build_nlp())


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"min_freq": 0}, r"'min_freq' should be 1 or more, but is 0"),
        ({"limit": -1}, r"'limit' should be 0 or more, but is -1"),
    ],
)
def test_bad_arguments_are_refused_when_built(arguments, error):
    with pytest.raises(ValueError, match=error):
        create_count_symbols(**arguments)


def test_norms_are_those_of_the_initialised_pipeline(reader):
    """spaCy loads lookups after `before_init`: counting must not come too early."""
    lookups = Lookups()
    lookups.add_table("lexeme_norm", {"colour": "color"})
    registry.misc.register("test.norms.v1", func=lambda: lookups)
    nlp = build_nlp(**{"initialize.before_init.min_freq": 1})
    nlp.config["initialize"]["lookups"] = {"@misc": "test.norms.v1"}
    reader.texts = ["a colour"]
    assert initialize(nlp) == {"a", "color"}
    assert [token.norm_ for token in nlp.make_doc("a colour")] == ["a", "color"]


def test_layers_of_several_components_share_one_pass(reader):
    config = load_config(
        CONFIGS / "multi_embed.cfg",
        overrides={
            "paths.train": "absent",
            "paths.dev": "absent",
            "nlp.pipeline": ["tok2vec", "other"],
            "components.tok2vec.model.embed.attrs": ["NORM"],
            "initialize.before_init.min_freq": 1,
        },
    )
    config["corpora"] = {
        split: {"@readers": "test.CountingReader.v1"} for split in ("train", "dev")
    }
    config["components"]["other"] = deepcopy(config["components"]["tok2vec"])
    config["components"]["other"]["model"]["embed"]["attrs"] = ["SHAPE", "NORM"]
    del config["components"]["ner"]
    nlp = load_model_from_config(config, auto_fill=True)
    nlp.initialize(lambda: get_examples(nlp))
    sizes = [
        [len(e.attrs["symbols"]) for e in find_symbol_takers(nlp.get_pipe(name).model)]
        for name in ("tok2vec", "other")
    ]
    assert sizes == [[4], [2, 4]]
    assert reader.n_passes == 1


def test_a_layer_that_waits_can_be_pickled_but_waits_in_vain(reader):
    nlp = build_nlp()
    with nlp.select_pipes(enable=[]):
        nlp.initialize()
    model = nlp.get_pipe("tok2vec").model
    models = model, deepcopy(model), pickle.loads(pickle.dumps(model))
    waiting, copied, loaded = (
        node.attrs["symbol_source"].get
        for one in models
        for node in one.walk()
        if "symbol_source" in node.attrs
    )
    assert waiting is not None
    assert copied is waiting
    assert loaded is None
    assert not reader.n_passes


def test_an_initialised_layer_lets_go_of_the_corpus(reader):
    nlp = build_nlp()
    initialize(nlp)
    (source,) = (
        node.attrs["symbol_source"]
        for node in nlp.get_pipe("tok2vec").model.walk()
        if "symbol_source" in node.attrs
    )
    assert source.get is None


@pytest.mark.parametrize(
    "corpus", ["train", "", "corpora", "corpora.other", "nlp.lang"]
)
def test_unknown_corpus(reader, corpus):
    nlp = build_nlp(**{"initialize.before_init.corpus": corpus})
    with pytest.raises(ValueError, match=rf"'corpus'.*'{corpus}'\. There are: .*train"):
        initialize(nlp)


def test_corpora_made_by_one_function(reader):
    registry.readers.register("test.corpora.v1", func=lambda: {"train": current[-1]})
    nlp = build_nlp(**{"initialize.before_init.min_freq": 1})
    nlp.config["corpora"] = {"@readers": "test.corpora.v1"}
    assert initialize(nlp) == {"a", "b", "c", "zz"}


def test_attributes_that_no_token_has_are_warned_of(reader):
    nlp = build_nlp(**{"components.tok2vec.model.embed.attrs": ["POS"]})
    with pytest.warns(UserWarning, match=r"No token .* has a value for POS"):
        initialize(nlp)


def test_streaming_without_a_limit_is_warned_of(reader, caplog):
    nlp = build_nlp(**{"training.max_epochs": -1})
    with caplog.at_level("WARNING", logger="spacy"):
        initialize(nlp)
    assert "set 'limit'" in caplog.text


def test_symbols_are_counted_for_wrapped_layers(reader):
    """spaCy's callback wraps all functions of all layers, and their init."""
    nvtx = {"@callbacks": "spacy.models_with_nvtx_range.v1"}
    overrides = {"initialize.before_init.min_freq": 1}
    nlp = build_nlp(**{"nlp.after_pipeline_creation": nvtx, **overrides})
    assert initialize(nlp) == {"a", "b", "c", "zz"}
    losses = nlp.update(get_examples(nlp))
    assert losses["ner"] > 0
    plain = build_nlp(**overrides)
    initialize(plain)
    plain.from_bytes(nlp.to_bytes(exclude=["config"]), exclude=["config"])
    for text in TEXTS:
        assert (nlp(text).tensor == nlp(text).tensor).all()
        assert abs(nlp(text).tensor - plain(text).tensor).max() < 1e-5
    assert reader.n_passes == 2


@pytest.mark.parametrize(
    ("embedder", "rows", "name", "shape"),
    [
        ("multi_embed", {}, "E", (2, 8)),
        (
            "multi_weighted_hash_embed",
            {"components.tok2vec.model.embed.rows": [50]},
            "P",
            (2, 2),
        ),
    ],
)
def test_spacy_pretrain_counts_for_the_layer_that_it_trains(
    reader, tmp_path, embedder, rows, name, shape
):
    """It disables every component before it initialises the one to be trained."""
    overrides = {"initialize.before_init.min_freq": 2, **rows}
    nlp = build_nlp(embedder=embedder, **overrides)
    config = nlp.config.merge(Config().from_str(PRETRAINING))
    pretrain(config.interpolate(), tmp_path)
    model = nlp.get_pipe("tok2vec").model
    model.from_bytes((tmp_path / "model-last.bin").read_bytes())
    (embed,) = find_symbol_takers(model)
    assert [nlp.vocab.strings[int(symbol)] for symbol in embed.attrs["symbols"]] == [
        "a"
    ]
    # a row for it and one for all others
    assert embed.get_param(name).shape == shape
    # counted once, then trained on once
    assert reader.n_passes == 2
