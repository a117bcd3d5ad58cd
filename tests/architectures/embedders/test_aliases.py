"""The names of the report: ours, but for those who register their own under them."""

import inspect
import os

import numpy
import pytest
import srsly
from spacy.cli.debug_config import debug_config
from spacy.cli.init_config import fill_config
from spacy.cli.package import package
from spacy.util import load_config, registry
from thinc.api import Model

from spacy_hashembeds.architectures.embedders import aliases
from spacy_hashembeds.architectures.embedders.multi_embed import MultiEmbed
from spacy_hashembeds.architectures.embedders.multi_fewer_hash_embed import (
    MultiFewerHashEmbed,
)
from tests.configs import CONFIGS

from .conftest import MULTI_EMBED, MULTI_FEWER, NAMES, PROJECT, run

OURS = {MULTI_EMBED: MultiEmbed, MULTI_FEWER: MultiFewerHashEmbed}


def make_own(width: int, colour: str = "blue") -> Model:
    """Somebody's own function."""
    raise NotImplementedError


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

    config = load_config(CONFIGS / "multi_fewer_hash_embed.cfg", interpolate=False)
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
        MULTI_EMBED: {"multiembed", "remap_ids", "embed"},
        MULTI_FEWER: {"fewerhashembed"},
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
    assert (
        run("-c", code, env={**os.environ, "PYTHONPATH": str(root)})
        == "en_toy.report_project\n"
    )
