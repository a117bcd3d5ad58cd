"""Pipelines, configs and tables of the report's project, and docs/report-project.md."""

import numpy
import pytest
import spacy
from spacy.training.initialize import init_nlp
from spacy.util import import_file, load_config

from spacy_hashembeds.architectures.multi_embed import MultiEmbed
from spacy_hashembeds.layers.symboltaker import find_symbol_takers

from ..toy_embedders import get_nodes, give_counted
from .conftest import (
    ATTRS,
    MULTI_EMBED,
    MULTI_FEWER,
    NAMES,
    PROJECT,
    read_changes,
    read_docs,
    read_features,
    write_config,
)


@pytest.mark.parametrize("saved", [MULTI_EMBED], indirect=True)
def test_without_its_code_the_cause_and_the_remedy_are_named(saved):
    _, path, _ = saved
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


@pytest.mark.parametrize("saved", [MULTI_FEWER], indirect=True)
def test_the_hashing_layer_loads_without_its_code_too(saved, tiny_corpus):
    """No warning either: they would be errors here."""
    _, path, expected = saved
    features = read_features(spacy.load(path), tiny_corpus)
    numpy.testing.assert_allclose(features, expected, atol=1e-5)


def copy_weights(project, ours):
    """Give our MultiEmbed the weights of the project's."""
    tables = project.attrs["tables"]
    pairs = zip(get_nodes(project, "embed"), find_symbol_takers(ours), strict=True)
    for theirs, embed in pairs:
        symbols = embed.attrs["symbols"].tolist()
        rows = [0, *(tables[embed.attrs["key"]][symbol] for symbol in symbols)]
        embed.set_param("E", theirs.get_param("E")[rows])
    for name in ("maxout", "layernorm", "static_vectors"):
        (theirs,), (node,) = get_nodes(project, name), get_nodes(ours, name)
        for param in theirs.param_names:
            node.set_param(param, theirs.get_param(param))


@pytest.mark.parametrize("saved", [MULTI_EMBED], indirect=True)
def test_the_lookup_layers_are_equal_but_for_the_order_of_rows(
    saved, tiny_corpus, registering
):
    _, path, _ = saved
    import_file("report_project", PROJECT)
    nlp = spacy.load(path)
    project = nlp.get_pipe("tok2vec").model.get_ref("embed")
    ours = MultiEmbed(attrs=ATTRS, width=16, include_static_vectors=True)
    give_counted(ours, read_docs(tiny_corpus / "train.spacy"))
    docs = read_docs(tiny_corpus / "test.spacy", nlp.vocab)
    ours.initialize(X=docs)
    copy_weights(project, ours)
    numpy.testing.assert_allclose(
        numpy.vstack(ours.predict(docs)),
        numpy.vstack(project.predict(docs)),
        atol=1e-5,
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_page_turns_configs_of_the_project_into_ours(name, paths, tmp_path):
    before, after = read_changes(name)
    embeds = [b["components"]["tok2vec"]["model"]["embed"] for b in (before, after)]
    ours = name.replace("spacy.", "spacy-hashembeds.")
    assert [embed["@architectures"] for embed in embeds] == [name, ours]
    paths = {key: path for key, path in paths.items() if key != "tables"}
    config = write_config(tmp_path / "config.cfg", after, paths)
    nlp = init_nlp(load_config(config, interpolate=True))
    assert nlp.get_pipe("tok2vec").model.predict([nlp.make_doc("a b")])[0].any()
