"""Aliases of embedders under the report's names, and descriptions of embedders."""

import re
from dataclasses import replace
from importlib.metadata import EntryPoint, EntryPoints, entry_points

import catalogue
import numpy as np
import pytest
import spacy
from spacy.ml.models.tok2vec import MultiHashEmbed
from spacy.tokens import Doc
from spacy.util import load_model_from_config, registry
from thinc.api import Config, Model

from spacy_hashembeds.architectures import descriptions
from spacy_hashembeds.architectures.descriptions import (
    find_description,
    find_table_kinds,
    get_description,
    get_descriptions,
    list_names,
)
from spacy_hashembeds.architectures.multi_embed import MultiEmbed
from spacy_hashembeds.architectures.multi_fewer_hash_embed import (
    DESCRIPTION,
    MultiFewerHashEmbed,
)
from spacy_hashembeds.layers.tableembed import TableColumn

from ..conftest import ROOT
from ..test_cached_weights import CONFIG, make_examples

MULTI_EMBED, MULTI_FEWER = "spacy.MultiEmbed.v1", "spacy.MultiFewerHashEmbed.v1"
OURS = {MULTI_EMBED: MultiEmbed, MULTI_FEWER: MultiFewerHashEmbed}


@pytest.fixture(autouse=True)
def forgetting(monkeypatch) -> None:
    """Undo registrations after the test."""
    for name in OURS:
        key = ("spacy", "architectures", name)
        monkeypatch.setitem(catalogue.REGISTRY, key, None)
        del catalogue.REGISTRY[key]


def make_reports_own(
    width: int,
    num_hashes: int,
    attrs: list[str | int],
    rows: list[int],
    include_static_vectors: bool,
) -> Model:
    """Reimplement the embedder of the report's project (`benchmarks/ner_embeddings` in
    explosion/projects): `MultiHashEmbed` with tables of another name.
    """
    model = MultiHashEmbed(width, attrs, rows, include_static_vectors)
    for node in model.walk():
        if node.name == "hashembed":
            node.attrs["num_hashes"] = num_hashes
            node.replace_callbacks(forward_fewer, init=node.init)
        node.name = node.name.replace("hashembed", "fewerhashembed")
    return model


def forward_fewer(model, ids, is_train):
    E, ops = model.get_param("E"), model.ops
    keys = ops.hash(ops.as_contig(ids, dtype="uint64"), model.attrs["seed"])
    rows = keys[:, : model.attrs["num_hashes"]] % E.shape[0]
    return ops.gather_add(E, rows), None  # not trained in tests


@pytest.mark.parametrize("name", OURS)
def test_aliases_resolve_to_ours_unless_registered_by_code(name):
    architectures = registry.architectures

    def find_all():
        found = architectures.get(name), registry.get("architectures", name)
        return {*found, architectures.get_all()[name]}

    assert find_all() == {OURS[name]}
    architectures.register(name, func=make_reports_own)  # after the first lookup
    assert find_all() == {make_reports_own}
    assert registry.find("architectures", name)["module"] == __name__


def test_pipelines_of_the_project_load_with_and_without_its_code(tmp_path):
    """See docs/report-project.md. Warnings are errors here."""
    config = Config(CONFIG).copy()
    embed = config["components"]["tok2vec"]["model"]["embed"]
    embed |= {"@architectures": MULTI_FEWER, "num_hashes": 1}
    registry.architectures.register(MULTI_FEWER, func=make_reports_own)
    nlp = load_model_from_config(config, auto_fill=True)
    nlp.initialize(lambda: make_examples(nlp))
    nlp.to_disk(tmp_path)
    expected = predict(nlp)
    np.testing.assert_array_equal(predict(spacy.load(tmp_path)), expected)
    del catalogue.REGISTRY["spacy", "architectures", MULTI_FEWER]
    np.testing.assert_allclose(predict(spacy.load(tmp_path)), expected, atol=1e-5)


def predict(nlp) -> np.ndarray:
    doc = Doc(nlp.vocab, words=["Anna", "sang", "in", "Paris"])
    return nlp.get_pipe("tok2vec").model.predict([doc])[0]


def test_configs_of_the_page():
    page = (ROOT / "docs/report-project.md").read_text(encoding="utf8")
    blocks = re.findall(r"^```ini\n(.*?)^```", page, flags=re.M | re.S)
    parents = "components", "components.tok2vec", "components.tok2vec.model"
    sections = "".join(f"[{section}]\n" for section in (*parents, "initialize"))
    names = (MULTI_EMBED, "spacy-hashembeds.MultiEmbed.v1")
    for block, name in zip(blocks, names, strict=True):
        config = Config().from_str(sections + block, interpolate=False)
        embed = config["components"]["tok2vec"]["model"]["embed"]
        assert embed["@architectures"] == name
    assert registry.resolve({"embed": {**embed, "width": 8}})["embed"]
    assert registry.has("callbacks", config["initialize"]["before_init"]["@callbacks"])


# Descriptions

GROUP = "spacy_hashembeds_embedders"


class ToyColumn(TableColumn):
    kind = "toy"


TOY = replace(
    DESCRIPTION,
    **{"name": "a_toy_embed", "architecture": "toy.ToyEmbed.v1"},
    **{"aliases": ["old.ToyEmbed.v1"], "tables": {"toylayer": ToyColumn}},
)


@pytest.fixture
def install(monkeypatch):
    """Return a function that simulates another installed package."""

    def install(**embedders: str) -> None:
        points = [*entry_points(group=GROUP)]
        points += [EntryPoint(name, value, GROUP) for name, value in embedders.items()]
        found = EntryPoints(reversed(points))
        monkeypatch.setattr(descriptions, "entry_points", lambda group: found)
        get_descriptions.cache_clear()

    yield install
    get_descriptions.cache_clear()


def test_embedders_of_other_packages_follow_ours(install):
    ours = [*get_descriptions()]
    install(a_toy_embed=f"{__name__}:TOY")
    assert list_names() == ["a_toy_embed", *(d.name for d in ours)]
    assert [*get_descriptions()] == [*ours, get_description("a_toy_embed")]
    for name in ("toy.ToyEmbed.v1", "old.ToyEmbed.v1"):
        assert find_description(name).name == "a_toy_embed"
    assert find_table_kinds()["toylayer"].kind == "toy"
    assert find_table_kinds()["hashembed"].kind == "hash"


def test_broken_packages_are_skipped(install):
    expected = get_descriptions()
    install(gone="gone.nothing:TOY")
    with pytest.warns(UserWarning, match="'gone' can't be used"):
        assert get_descriptions() == expected


def test_names_match_entry_points_and_architectures():
    for entry_point in entry_points(group=GROUP):
        description = entry_point.load()
        assert get_description(entry_point.name) == description
        for name in (description.architecture, *description.aliases):
            assert name in registry.architectures
            assert find_description(name) == description
    assert list_names() == [d.name for d in get_descriptions()]
    assert find_description("spacy.MultiHashEmbed.v2") is None
    with pytest.raises(ValueError, match=r"no embedder 'x'.*multi_embed, multi_fewer"):
        get_description("x")
