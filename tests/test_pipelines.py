"""Whole pipelines: trained from configs, saved, loaded and packaged."""

from importlib import import_module

import numpy
import pytest
import spacy
from spacy.cli.init_config import init_config
from spacy.cli.package import package
from spacy.cli.train import train
from spacy.tokens import Doc, DocBin
from spacy.util import load_config, load_config_from_str, load_model_from_config
from thinc.compat import has_torch

from spacy_hashembeds.layers.vocabulary import find_vocabulary_layers
from tests.configs import CONFIGS

from .conftest import TORCH_CONFIGS, find_configs
from .processes import train_alone

# Configs of text classifiers are tested in tests/papers/test_text_classifiers.py.
NER_CONFIGS = find_configs("ner") + find_configs("token_ner")
#: A config with symbols and hashes, trained until some entities are found.
CONFIG = CONFIGS / "multi_weighted_hash_embed.cfg"
SMALL = {
    "components.tok2vec.model.encode.width": 16,
    "components.tok2vec.model.encode.depth": 1,
    "training.max_steps": 80,
    "training.eval_frequency": 20,
}

SPLITS = ("train", "dev")
TEXTS = ["Anna of Zotech said so .", "", "b"]

# Listings 2 and 3 of appendix C in the report, as printed, which replace spaCy's
# embedder.
LISTING_2 = """
[components.tok2vec.model.embed]
@architectures = "spacy.MultiEmbed.v1"
attrs = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
width = ${components.tok2vec.model.encode.width}
include_static_vectors = true
unk = 0
"""
LISTING_3 = """
[components.tok2vec.model.embed]
@architectures = "spacy.MultiFewerHashEmbed.v1"
num_hashes = 1
width = ${components.tok2vec.model.encode.width}
attrs = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
rows = [5000, 2500, 2500, 2500]
include_static_vectors = true
"""


def read_docs(path, vocab):
    return list(DocBin().from_disk(path).get_docs(vocab))


def get_features(nlp, docs):
    """Return the output of the tok2vec component, without setting it on docs."""
    return numpy.vstack(nlp.get_pipe("tok2vec").model.predict(docs))


def train_small(tiny_corpus, output, config=CONFIG, **overrides):
    paths = {f"paths.{split}": f"{tiny_corpus}/{split}.spacy" for split in SPLITS}
    train(config, output, overrides={**SMALL, **paths, **overrides})
    return output / "model-last"


@pytest.fixture(scope="module")
def trained(tiny_corpus, tmp_path_factory):
    """A trained pipeline's folder."""
    return train_small(tiny_corpus, tmp_path_factory.mktemp("trained"))


@pytest.fixture(scope="module")
def trained_alone(tiny_corpus, tmp_path_factory):
    """A folder with a pipeline of each config."""
    folder = tmp_path_factory.mktemp("alone")
    overrides = {f"paths.{split}": f"{tiny_corpus}/{split}.spacy" for split in SPLITS}
    configs = NER_CONFIGS + TORCH_CONFIGS * has_torch
    train_alone(configs, folder, {**overrides, "training.max_steps": 1})
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "width"),
    [
        *((path.stem, 96) for path in NER_CONFIGS),
        *(pytest.param(p.stem, 200, marks=pytest.mark.torch) for p in TORCH_CONFIGS),
    ],
)
def test_spacy_train_needs_no_code(trained_alone, name, width):
    nlp = spacy.load(trained_alone / name / "model-last")
    assert get_features(nlp, [nlp.make_doc("a b")]).shape == (2, width)


def test_the_stock_pipeline_is_spacys_except_for_its_depth():
    written = init_config(lang="en", pipeline=["ner"], optimize="efficiency", gpu=False)
    stock = load_config(CONFIGS / "spacy_stock.cfg", interpolate=False)
    stock["components"]["tok2vec"]["model"]["encode"]["depth"] = 4
    assert stock["nlp"].items() <= written["nlp"].items()
    assert "after_pipeline_creation" not in stock["nlp"]
    for name, component in stock["components"].items():
        assert component.items() <= written["components"][name].items()


@pytest.mark.slow
@pytest.mark.filterwarnings(r"ignore:'spacy\.MultiEmbed\.v1' is the layer of")
@pytest.mark.parametrize("listing", [LISTING_2, LISTING_3])
def test_listings_of_the_report(listing, tiny_corpus, tmp_path):
    """Listings run unchanged as a part of a full config."""
    nlp, vectors = spacy.blank("en"), str(tmp_path / "vectors")
    nlp.vocab.reset_vectors(width=6)
    nlp.vocab.set_vector("the", numpy.arange(6, dtype="f"))
    nlp.to_disk(vectors)
    parents = "[components]\n[components.tok2vec]\n[components.tok2vec.model]\n"
    config = load_config(CONFIGS / "multi_embed.cfg", interpolate=False)
    config = config.merge(load_config_from_str(parents + listing))
    config.to_disk(tmp_path / "config.cfg")
    overrides = {"paths.vectors": vectors, "training.max_steps": 1}
    nlp = spacy.load(
        train_small(tiny_corpus, tmp_path, tmp_path / "config.cfg", **overrides)
    )
    assert get_features(nlp, [nlp.make_doc("the x")]).shape == (2, 16)
    embed = nlp.config["components"]["tok2vec"]["model"]["embed"]
    assert embed["@architectures"] in listing


def get_bytes(path, name):
    return spacy.load(path).get_pipe(name).model.to_bytes()


@pytest.mark.slow
def test_equal_seeds_give_equal_models(trained, tiny_corpus, tmp_path):
    again = train_small(tiny_corpus, tmp_path)
    for name in ("tok2vec", "ner"):
        assert get_bytes(trained, name) == get_bytes(again, name)


def test_symbol_tables_are_saved_once(trained):
    (embed, *_) = find_vocabulary_layers(spacy.load(trained).get_pipe("tok2vec").model)
    symbols = embed.attrs["symbols"].tobytes()
    files = [path.read_bytes() for path in trained.rglob("*") if path.is_file()]
    assert len(symbols) > 8
    assert sum(content.count(symbols) for content in files) == 1


def get_labels(nlp, docs):
    copies = (Doc(nlp.vocab, words=[token.text for token in doc]) for doc in docs)
    return [[ent.label_ for ent in doc.ents] for doc in nlp.pipe(copies)]


@pytest.mark.parametrize("has_listener", [True, False])
def test_loaded_pipelines_predict_the_same(
    trained, tiny_corpus, tmp_path, has_listener
):
    """Load from another folder and from bytes, without other files."""
    nlp = spacy.load(trained)
    docs = read_docs(tiny_corpus / "test.spacy", nlp.vocab)
    features, labels = get_features(nlp, docs), get_labels(nlp, docs)
    assert any(labels)
    if not has_listener:
        nlp.replace_listeners("tok2vec", "ner", ["model.tok2vec"])
    nlp.to_disk(tmp_path / "elsewhere")
    for loaded in (
        nlp,
        spacy.load(tmp_path / "elsewhere"),
        load_model_from_config(nlp.config).from_bytes(nlp.to_bytes()),
    ):
        numpy.testing.assert_array_equal(get_features(loaded, docs), features)
        assert get_labels(loaded, docs) == labels
        own = loaded.get_pipe("ner").model.get_ref("tok2vec").layers[0]
        if not has_listener:
            numpy.testing.assert_array_equal(numpy.vstack(own.predict(docs)), features)


@pytest.mark.slow
def test_frozen_tok2vec_is_not_changed(trained, tmp_path):
    config = load_config(trained / "config.cfg")
    config["components"]["tok2vec"] = {"source": str(trained)}
    config["training"]["frozen_components"] = ["tok2vec"]
    config["training"]["annotating_components"] = ["tok2vec"]
    config["components"]["ner"]["model"]["tok2vec"]["width"] = 16
    config.to_disk(tmp_path / "frozen.cfg")
    train(tmp_path / "frozen.cfg", tmp_path, overrides={"training.max_steps": 4})
    after = tmp_path / "model-last"
    assert get_bytes(trained, "tok2vec") == get_bytes(after, "tok2vec")
    assert get_bytes(trained, "ner") != get_bytes(after, "ner")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes(trained, start_method, method):
    start_method(method)
    nlp = spacy.load(trained)
    one, two = (
        [doc.to_json() for doc in nlp.pipe(TEXTS * 5, n_process=n, batch_size=4)]
        for n in (1, 2)
    )
    assert one == two
    assert any(doc["ents"] for doc in one)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of spaCy's own
def test_package(trained, tmp_path, monkeypatch):
    package(trained, tmp_path, name="toy", version="0.0.1")
    (root,) = tmp_path.iterdir()
    monkeypatch.syspath_prepend(root)
    assert len(import_module("en_toy").load()("a b c")) == 3
