"""The names of the report: ours, but for those who register their own under them."""

import inspect
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import catalogue
import numpy
import pytest
import spacy
import srsly
from spacy.cli.debug_config import debug_config
from spacy.cli.init_config import fill_config
from spacy.cli.package import package
from spacy.ml.models.tok2vec import MaxoutWindowEncoder, build_Tok2Vec_model
from spacy.tokens import DocBin
from spacy.util import import_file, load_config, registry
from thinc.api import Model

from spacy_hashembeds.architectures.embedders import aliases
from spacy_hashembeds.architectures.embedders.multi_embed import MultiEmbed
from spacy_hashembeds.architectures.embedders.multi_fewer_hash_embed import (
    MultiFewerHashEmbed,
)

from ...conftest import ROOT

OURS = {
    "spacy.MultiEmbed.v1": MultiEmbed,
    "spacy.MultiFewerHashEmbed.v1": MultiFewerHashEmbed,
}
NAMES = list(OURS)
ATTRS = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
PROJECT = Path(__file__).with_name("report_project.py")
# The embedders of the project's configs, with fewer rows.
EMBEDS = {
    "spacy.MultiEmbed.v1": {"unk": 0},
    "spacy.MultiFewerHashEmbed.v1": {"num_hashes": 2, "rows": [90, 50, 60, 20]},
}


def make_own(width: int, colour: str = "blue") -> Model:
    """Somebody's own function."""
    raise NotImplementedError


def forget_later(monkeypatch):
    """Have what will be registered under the names gone afterwards."""
    keys = [("spacy", "architectures", name) for name in NAMES]
    for key in [*keys, ("spacy", "callbacks", "set_attr")]:
        monkeypatch.setitem(catalogue.REGISTRY, key, None)
        del catalogue.REGISTRY[key]


@pytest.fixture
def registering(monkeypatch):
    """What the test registers is gone after it."""
    forget_later(monkeypatch)


def run(*command, **env):
    """Run Python in a process of its own, in which only entry points are ours."""
    result = subprocess.run(
        [sys.executable, "-W", "ignore", *map(str, command)],
        capture_output=True,
        text=True,
        env={**os.environ, **env},
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def read_docs(path, vocab=None):
    vocab = spacy.blank("en").vocab if vocab is None else vocab
    return list(DocBin().from_disk(path).get_docs(vocab))


def make_project_tables(docs, min_freq):
    """Count as the project does: rows from 1, the most frequent symbols first."""
    counts = {attr: Counter() for attr in ATTRS}
    for doc in docs:
        for attr, counter in counts.items():
            counter.update(doc.to_array(attr).tolist())
    tables = {}
    for attr, counter in counts.items():
        kept = [symbol for symbol, n in counter.most_common() if n >= min_freq]
        tables[attr] = {symbol: row for row, symbol in enumerate(kept, start=1)}
    return tables, counts


@pytest.fixture(scope="module")
def vectors(tiny_corpus, tmp_path_factory):
    nlp = spacy.blank("en")
    nlp.vocab.reset_vectors(width=4)
    state = numpy.random.default_rng(0)
    for doc in read_docs(tiny_corpus / "train.spacy"):
        nlp.vocab.set_vector(doc[0].text, state.normal(size=4).astype("f"))
    path = tmp_path_factory.mktemp("vectors")
    nlp.to_disk(path)
    return path


@pytest.fixture(scope="module")
def tables(tiny_corpus, tmp_path_factory):
    """The project's two files of tables: rows, and counts."""
    folder = tmp_path_factory.mktemp("tables")
    docs = read_docs(tiny_corpus / "train.spacy")
    rows, counts = make_project_tables(docs, min_freq=2)
    srsly.write_msgpack(folder / "train.tables", rows)
    srsly.write_msgpack(folder / "train.counts", counts)
    return folder / "train.tables"


def write_config(name, path, *, corpus, tables, vectors):
    """Write a config as the project's are, but for size."""
    config = load_config(ROOT / "configs/multi_embed.cfg", interpolate=False)
    config["paths"] |= {"train": str(corpus / "train.spacy"), "vectors": str(vectors)}
    config["paths"]["dev"] = str(corpus / "dev.spacy")
    tok2vec = config["components"]["tok2vec"]["model"]
    tok2vec["encode"] |= {"width": 16, "depth": 1}
    tok2vec["encode"]["@architectures"] = "spacy.MaxoutWindowEncoder.v2"
    tok2vec["embed"] = {
        "@architectures": name,
        "width": "${components.tok2vec.model.encode.width}",
        "attrs": ATTRS,
        "include_static_vectors": True,
        **EMBEDS[name],
    }
    config["nlp"]["after_pipeline_creation"] = None
    config["training"] |= {"max_steps": 4, "eval_frequency": 2}
    config["initialize"]["before_init"] = None
    if name == "spacy.MultiEmbed.v1":
        config["initialize"]["before_init"] = {
            "@callbacks": "set_attr",
            "path": str(tables),
            "component": "tok2vec",
            "layer": "multiembed",
            "attr": "tables",
        }
    config.to_disk(path)
    return path


@pytest.fixture(scope="module", params=NAMES)
def saved(request, tiny_corpus, tables, vectors, tmp_path_factory):
    """What `spacy train --code` saved, with the project's code."""
    folder = tmp_path_factory.mktemp("saved")
    paths = {"corpus": tiny_corpus, "tables": tables, "vectors": vectors}
    config = write_config(request.param, folder / "config.cfg", **paths)
    run(*f"-m spacy train {config} --output {folder} --code {PROJECT}".split())
    return request.param, folder / "model-last"


def read_features(nlp, corpus):
    docs = read_docs(corpus / "test.spacy", nlp.vocab)
    return numpy.vstack(nlp.get_pipe("tok2vec").model.predict(docs))


@pytest.fixture(scope="module")
def expected(saved, tiny_corpus):
    """The features by the project's own function, for which no registry was asked."""
    name, path = saved
    config = load_config(path / "config.cfg", interpolate=True)
    model = config["components"]["tok2vec"]["model"]
    embed, encode = (
        {key: value for key, value in model[part].items() if not key.startswith("@")}
        for part in ("embed", "encode")
    )
    with pytest.MonkeyPatch.context() as monkeypatch:
        forget_later(monkeypatch)
        project = import_file("report_project", PROJECT)
    make_embed = getattr(project, name.split(".")[1])
    tok2vec = build_Tok2Vec_model(make_embed(**embed), MaxoutWindowEncoder(**encode))
    tok2vec.from_disk(path / "tok2vec" / "model")
    vocab = spacy.blank("en").vocab.from_disk(path / "vocab")
    return numpy.vstack(tok2vec.predict(read_docs(tiny_corpus / "test.spacy", vocab)))


@pytest.mark.parametrize("name", NAMES)
def test_ours_unless_code_takes_the_name(name, registering):
    architectures = registry.architectures

    def find_all():
        return {
            architectures.get(name),
            architectures.get_all()[name],
            registry.get("architectures", name),
        }

    def has_all():
        return name in architectures and registry.has("architectures", name)

    (ours,) = find_all()
    assert has_all()
    assert inspect.unwrap(ours) is OURS[name]
    architectures.register(name, func=make_own)  # after the first lookup
    assert find_all() == {make_own}
    assert has_all()
    assert architectures.find(name)["docstring"] == make_own.__doc__
    assert registry.find("architectures", name)["module"] == __name__
    architectures.register(name, func=OURS[name])
    assert find_all() == {OURS[name]}


def test_there_are_no_other_names():
    with pytest.raises(AttributeError, match="aliases' has no attribute 'HashEmbed'"):
        _ = aliases.HashEmbed


@pytest.mark.parametrize("name", NAMES)
def test_commands_for_configs_ask_the_function_that_has_the_name(
    name, registering, tmp_path, tiny_corpus, capsys
):
    @registry.architectures(name)
    def make(width: int, colour: str = "blue") -> Model:
        return MultiFewerHashEmbed(
            width=width, attrs=["NORM"], rows=[9], include_static_vectors=False
        )

    config = load_config(ROOT / "configs/multi_fewer_hash_embed.cfg", interpolate=False)
    embed = {"@architectures": name, "width": 96}
    config["components"]["tok2vec"]["model"]["embed"] = embed
    for split in ("train", "dev"):
        config["paths"][split] = str(tiny_corpus / f"{split}.spacy")
    config.to_disk(tmp_path / "base.cfg")
    fill_config(tmp_path / "filled.cfg", tmp_path / "base.cfg")
    filled = load_config(tmp_path / "filled.cfg")
    assert filled["components"]["tok2vec"]["model"]["embed"] == {
        **embed,
        "colour": "blue",
    }
    debug_config(tmp_path / "filled.cfg")
    assert "Config is valid" in capsys.readouterr().out


@pytest.mark.slow
def test_train_with_code_trains_the_layer_of_that_code(saved):
    name, path = saved
    nodes = srsly.read_msgpack(path / "tok2vec" / "model")["nodes"]
    names = {node["name"] for node in nodes}
    project = {
        "spacy.MultiEmbed.v1": {"multiembed", "remap_ids", "embed"},
        "spacy.MultiFewerHashEmbed.v1": {"fewerhashembed"},
    }
    assert project[name] <= names


LOAD = """
import sys, numpy, spacy
from spacy.tokens import DocBin
model, corpus, code, name, output = sys.argv[1:]
spacy.registry.get("architectures", name)  # a first lookup, before there is code
spacy.util.import_file("report_project", code)
nlp = spacy.load(model)
docs = DocBin().from_disk(corpus).get_docs(nlp.vocab)
numpy.save(output, numpy.vstack(nlp.get_pipe("tok2vec").model.predict(list(docs))))
"""


@pytest.mark.slow
def test_loads_and_predicts_as_before_with_its_code(
    saved, expected, tiny_corpus, tmp_path
):
    name, path = saved
    output = tmp_path / "features.npy"
    run("-c", LOAD, path, tiny_corpus / "test.spacy", PROJECT, name, output)
    numpy.testing.assert_array_equal(numpy.load(output), expected)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of spaCy's own
def test_a_package_uses_the_code_in_it(saved, registering, tmp_path):
    name, path = saved
    package(path, tmp_path, name="toy", version="0.0.1", code_paths=[PROJECT])
    (root,) = tmp_path.iterdir()
    code = (
        "import spacy; nlp = spacy.load('en_toy');"
        f"print(spacy.registry.find('architectures', {name!r})['module'])"
    )
    assert run("-c", code, PYTHONPATH=str(root)) == "en_toy.report_project\n"


@pytest.mark.slow
@pytest.mark.parametrize("saved", ["spacy.MultiEmbed.v1"], indirect=True)
def test_without_its_code_the_cause_and_the_remedy_are_named(saved):
    _, path = saved
    warning = (
        r"'spacy\.MultiEmbed\.v1' is the layer of spacy-hashembeds here, since no code"
        r" has registered another.*'mismatched structure'.*saved with another one: "
        r"import the code"
    )
    with (
        pytest.warns(UserWarning, match=warning),
        pytest.raises(ValueError, match="mismatched structure"),
    ):
        spacy.load(path)


@pytest.mark.slow
@pytest.mark.parametrize("saved", ["spacy.MultiFewerHashEmbed.v1"], indirect=True)
def test_the_hashing_layer_loads_without_its_code_too(saved, expected, tiny_corpus):
    """No warning either: they would be errors here."""
    _, path = saved
    features = read_features(spacy.load(path), tiny_corpus)
    numpy.testing.assert_allclose(features, expected, atol=1e-5)
