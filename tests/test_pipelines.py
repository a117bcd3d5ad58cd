"""Whole pipelines: trained from configs, saved, loaded, shared and packaged."""

import json
from configparser import ConfigParser

import numpy
import pytest
import spacy
from spacy.cli.init_config import init_config
from spacy.cli.package import package
from spacy.cli.train import train
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import load_config

from spacy_hashembeds.layers.symboltaker import find_symbol_takers
from tests.configs import CONFIGS

from .conftest import TORCH_CONFIGS, find_configs
from .processes import annotate_spawned, load_package, train_alone

# Those of text classifiers are in test_textcat_pipelines.py.
NER_CONFIGS = find_configs("ner") + find_configs("token_ner")
#: What each is trained with to find any entities at all.
EMBEDDERS = {
    "multi_embed": {"initialize.before_init.min_freq": 2},
    "multi_fewer_hash_embed": {},
    "multi_hybrid_embed": {"training.max_steps": 80},
    "multi_weighted_hash_embed": {"training.max_steps": 80},
    "hash_former_embed": {"training.max_steps": 120},
}

SMALL = {
    "components.tok2vec.model.encode.width": 16,
    "components.tok2vec.model.encode.depth": 1,
    "training.max_steps": 40,
    "training.eval_frequency": 20,
}

SPLITS = ("train", "dev")
TEXTS = ["Anna of Zotech said so .", "", "b"]

# Listings 1 to 3 of appendix C in the report, as printed.
LISTING_1 = """
[components]

[components.ner.model]
@architectures = "spacy.TransitionBasedParser.v2"
state_type = "ner"
extra_state_tokens = false
hidden_width = 64
maxout_pieces = 2
use_upper = true
nO = null

[components.ner.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = ${components.tok2vec.model.encode.width}
upstream = "*"

[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
@architectures = "spacy.Tok2Vec.v2"

[components.tok2vec.model.embed]
@architectures = "spacy.MultiHashEmbed.v2"
width = ${components.tok2vec.model.encode.width}
attrs = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
rows = [5000, 2500, 2500, 2500]
include_static_vectors = true

[components.tok2vec.model.encode]
@architectures = "spacy.MaxoutWindowEncoder.v2"
width = 256
depth = 8
window_size = 1
maxout_pieces = 3

[training]
dropout = 0.1
accumulate_gradient = 1
patience = 1600
max_epochs = 0
max_steps = 20000
eval_frequency = 200

[training.optimizer]
@optimizers = "Adam.v1"
beta1 = 0.9
beta2 = 0.999
L2_is_weight_decay = true
L2 = 0.01
grad_clip = 1.0
use_averages = false
eps = 0.00000001
learn_rate = 0.001
"""
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
    """What the tok2vec component computes, without a trace on the docs."""
    return numpy.vstack(nlp.get_pipe("tok2vec").model.predict(docs))


def train_small(config, tiny_corpus, output, **overrides):
    paths = {f"paths.{split}": f"{tiny_corpus}/{split}.spacy" for split in SPLITS}
    train(config, output, overrides={**SMALL, **paths, **overrides})
    return output / "model-last"


@pytest.fixture(scope="session", params=EMBEDDERS)
def trained(request, tiny_corpus, tmp_path_factory):
    """A trained pipeline's folder."""
    output = tmp_path_factory.mktemp(request.param)
    config = CONFIGS / f"{request.param}.cfg"
    return train_small(config, tiny_corpus, output, **EMBEDDERS[request.param])


def train_each_alone(configs, tiny_corpus, folder):
    paths = {f"paths.{split}": f"{tiny_corpus}/{split}.spacy" for split in SPLITS}
    train_alone(configs, folder, {**paths, "training.max_steps": 2})
    return folder


@pytest.fixture(scope="module")
def trained_alone(tiny_corpus, tmp_path_factory):
    """A folder with a pipeline of each config."""
    return train_each_alone(NER_CONFIGS, tiny_corpus, tmp_path_factory.mktemp("alone"))


def check_features(nlp):
    encode = nlp.config["components"]["tok2vec"]["model"]["encode"]
    features = get_features(nlp, [nlp.make_doc("a b")])
    assert features.shape == (2, encode["width"])
    return encode


@pytest.mark.slow
@pytest.mark.torch
def test_spacy_train_needs_no_code_for_lstms(tiny_corpus, tmp_path):
    train_each_alone(TORCH_CONFIGS, tiny_corpus, tmp_path)
    for path in TORCH_CONFIGS:
        encode = check_features(spacy.load(tmp_path / path.stem / "model-last"))
        assert (encode["width"], encode["depth"]) == (200, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", [path.stem for path in NER_CONFIGS])
def test_spacy_train_needs_no_code(trained_alone, name):
    nlp = spacy.load(trained_alone / name / "model-last")
    assert check_features(nlp)["width"] == 96
    depth = 4 if name == "pretrain_ner" else 8
    assert (
        len(nlp.get_pipe("tok2vec").model.get_ref("encode").layers[0].layers) == depth
    )


def test_the_stock_pipeline_is_what_spacy_writes_but_deeper():
    written = init_config(lang="en", pipeline=["ner"], optimize="efficiency", gpu=False)
    stock = load_config(CONFIGS / "spacy_stock.cfg", interpolate=False)
    stock["components"]["tok2vec"]["model"]["encode"]["depth"] = 4
    assert stock["nlp"].items() <= written["nlp"].items()
    assert "after_pipeline_creation" not in stock["nlp"]
    for name, component in stock["components"].items():
        assert component.items() <= written["components"][name].items()


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.cfg")), ids=lambda p: p.stem)
def test_all_other_pipelines_have_our_optimizer(path):
    config = load_config(path)
    for section in {"training", "pretraining"} & config.keys():
        optimizer = config[section]["optimizer"]
        is_ours = optimizer["@optimizers"] == "spacy-hashembeds.Adam.v1"
        assert is_ours is (path.stem != "spacy_stock")
        # what spaCy fills in for Thinc's alone
        assert not is_ours or {"L2", "use_averages"} <= optimizer.keys()


@pytest.fixture(scope="session")
def vectors(tmp_path_factory):
    """A folder with vectors, for `[initialize] vectors`."""
    nlp = spacy.blank("en")
    nlp.vocab.reset_vectors(width=6)
    nlp.vocab.set_vector("the", numpy.arange(6, dtype="f"))
    path = tmp_path_factory.mktemp("vectors")
    nlp.to_disk(path)
    return path


def parse_sections(text):
    """The settings of each section, by its dotted name, with variables unresolved."""
    parser = ConfigParser(interpolation=None)
    parser.optionxform = str
    parser.read_string(text)
    return {
        name: {
            k: v if v.startswith("$") else json.loads(v)
            for k, v in parser[name].items()
        }
        for name in parser.sections()
        if parser[name]
    }


def find_section(config, path):
    *parents, name = path.split(".")
    for parent in parents:
        config = config[parent]
    return config, name


def is_section(value):
    return isinstance(value, dict)


@pytest.mark.slow
@pytest.mark.filterwarnings(r"ignore:'spacy\.MultiEmbed\.v1' is the layer of")
@pytest.mark.parametrize("listing", [LISTING_1, LISTING_2, LISTING_3])
def test_listings_of_the_report(listing, tiny_corpus, vectors, tmp_path):
    """The partial configs run unchanged once they stand in a full one.

    What makes it full is ours: corpora, batches and, for lookup, the callback.
    """
    config = load_config(CONFIGS / "multi_embed.cfg", interpolate=False)
    for section in (LISTING_1, listing):
        printed = parse_sections(section)
        for path, settings in printed.items():
            parent, name = find_section(config, path)
            if any(key.startswith("@") for key in settings):
                # all arguments of a function, so that none of ours stays
                parent[name] = {k: v for k, v in parent[name].items() if is_section(v)}
            parent[name].update(settings)
    config.to_disk(tmp_path / "config.cfg")
    train(
        tmp_path / "config.cfg",
        tmp_path,
        overrides={
            "paths.train": str(tiny_corpus / "train.spacy"),
            "paths.dev": str(tiny_corpus / "dev.spacy"),
            "paths.vectors": str(vectors),
            "training.max_steps": 2,
        },
    )
    nlp = spacy.load(tmp_path / "model-last")
    assert get_features(nlp, [nlp.make_doc("the x")]).shape == (2, 256)
    embed = nlp.config["components"]["tok2vec"]["model"]["embed"]
    assert embed["@architectures"] in listing


def test_loading_needs_nothing_else(trained, tiny_corpus, tmp_path):
    """From disk, from bytes, and elsewhere: the same numbers and entities."""
    nlp = spacy.load(trained)
    docs = read_docs(tiny_corpus / "test.spacy", nlp.vocab)
    expected = get_features(nlp, docs)
    nlp.to_disk(tmp_path / "elsewhere")
    for loaded in (
        spacy.load(tmp_path / "elsewhere"),
        spacy.util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes()),
    ):
        numpy.testing.assert_array_equal(get_features(loaded, docs), expected)


def test_trained_weights_differ_from_initial_ones(trained, tiny_corpus):
    nlp = spacy.load(trained)
    nodes = list(nlp.get_pipe("tok2vec").model.walk())
    tables = [node for node in nodes if "E" in node.param_names]
    axes = [node for node in nodes if node.name == "projcompressor"]
    assert len(tables) + len(axes) == 4
    # the initial ones are uniform in [-0.1, 0.1]
    assert all(abs(node.get_param("E")).max() > 0.1 for node in tables)
    assert all(abs(node.get_param("W")).max() > 0.1 for node in axes)
    # and importance weights of deviation 0.0005
    weights = [node.get_param("P") for node in tables if "P" in node.param_names]
    assert all(abs(P).max() > 0.01 for P in weights)


def test_equal_seeds_give_equal_models(trained, tiny_corpus, tmp_path):
    config = CONFIGS / f"{trained.parent.name.rstrip('0123456789')}.cfg"
    again = train_small(config, tiny_corpus, tmp_path, **EMBEDDERS[config.stem])
    first, second = spacy.load(trained), spacy.load(again)
    for name in ("tok2vec", "ner"):
        assert first.get_pipe(name).model.to_bytes() == (
            second.get_pipe(name).model.to_bytes()
        )


def test_symbol_tables_travel_once(tiny_corpus, tmp_path):
    path = train_small(
        CONFIGS / "multi_embed.cfg",
        tiny_corpus,
        tmp_path,
        **{"initialize.before_init.min_freq": 2},
    )
    files = [p for p in path.rglob("*") if p.is_file()]
    (embed, *_) = find_symbol_takers(spacy.load(path).get_pipe("tok2vec").model)
    symbols = embed.attrs["symbols"].tobytes()
    assert len(symbols) > 8
    assert sum(file.read_bytes().count(symbols) for file in files) == 1


def get_labels(nlp, docs):
    copies = (Doc(nlp.vocab, words=[token.text for token in doc]) for doc in docs)
    return [[ent.label_ for ent in doc.ents] for doc in nlp.pipe(copies)]


def test_replaced_listeners(trained, tiny_corpus):
    nlp = spacy.load(trained)
    docs = read_docs(tiny_corpus / "test.spacy", nlp.vocab)
    features, labels = get_features(nlp, docs), get_labels(nlp, docs)
    assert any(labels)
    nlp.replace_listeners("tok2vec", "ner", ["model.tok2vec"])
    for copied in (
        nlp,
        spacy.util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes()),
    ):
        own, *_ = copied.get_pipe("ner").model.get_ref("tok2vec").layers
        numpy.testing.assert_array_equal(numpy.vstack(own.predict(docs)), features)
        assert get_labels(copied, docs) == labels


def test_frozen_tok2vec_is_not_changed(trained, tiny_corpus, tmp_path):
    config = load_config(trained / "config.cfg")
    config["components"]["tok2vec"] = {"source": str(trained)}
    config["training"]["frozen_components"] = ["tok2vec"]
    config["training"]["annotating_components"] = ["tok2vec"]
    config["components"]["ner"]["model"]["tok2vec"]["width"] = 16
    config.to_disk(tmp_path / "frozen.cfg")
    train(tmp_path / "frozen.cfg", tmp_path, overrides={"training.max_steps": 4})
    paths = (trained, tmp_path / "model-last")
    for name, is_frozen in (("tok2vec", True), ("ner", False)):
        before, after = (spacy.load(p).get_pipe(name).model.to_bytes() for p in paths)
        assert (before == after) is is_frozen


def test_training_goes_on_from_a_saved_pipeline(trained, tiny_corpus):
    nlp = spacy.load(trained)
    docs = read_docs(tiny_corpus / "train.spacy", nlp.vocab)
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in docs[:8]]
    examples += [Example(nlp.make_doc(""), nlp.make_doc(""))]
    before = get_features(nlp, docs)
    optimizer = nlp.resume_training()
    for _ in range(2):  # Thinc's Adam leaves the weights alone at its first step
        nlp.update(examples, sgd=optimizer)
    assert not numpy.array_equal(get_features(nlp, docs), before)


def test_only_empty_docs(trained):
    nlp = spacy.load(trained)
    assert [len(doc) for doc in nlp.pipe(["", ""])] == [0, 0]
    empty = Doc(nlp.vocab)
    model = nlp.get_pipe("tok2vec").model.get_ref("embed")
    Y, backprop = model.begin_update([empty, empty])
    assert backprop(Y) == []


@pytest.mark.slow
@pytest.mark.usefixtures("forked")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_worker_processes(trained):
    nlp = spacy.load(trained)
    one, two = (
        [doc.to_json() for doc in nlp.pipe(TEXTS * 5, n_process=n, batch_size=4)]
        for n in (1, 2)
    )
    assert one == two


@pytest.mark.slow
@pytest.mark.parametrize("trained", ["multi_hybrid_embed"], indirect=True)
def test_spawned_processes(trained, tmp_path):
    """With an embedder that has symbols and hashes to send."""
    annotate_spawned(trained, TEXTS, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("trained", ["multi_embed"], indirect=True)
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of spaCy's own
def test_package(trained, tmp_path):
    """What `spacy package` makes imports and loads in a process of its own."""
    package(trained, tmp_path, name="toy", version="0.0.1")
    (root,) = tmp_path.iterdir()
    code = "import en_toy; nlp = en_toy.load(); print(len(nlp('a b c')))"
    assert load_package(root, code) == "3\n"
