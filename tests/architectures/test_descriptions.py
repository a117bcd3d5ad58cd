"""Embedders take part by their descriptions alone, whichever package they are of."""

import sys
from dataclasses import replace
from importlib.metadata import entry_points

import pytest
from spacy.util import registry

from spacy_hashembeds.architectures.descriptions import (
    find_description,
    find_table_kinds,
    get_description,
    get_descriptions,
    list_names,
)
from spacy_hashembeds.architectures.multi_fewer_hash_embed import DESCRIPTION
from spacy_hashembeds.layers.tableembed import TableColumn


class ToyColumn(TableColumn):
    kind = "toy"


TOY = replace(
    DESCRIPTION,
    name="toy_embed",
    architecture="toy.ToyEmbed.v1",
    aliases=["old.ToyEmbed.v1"],
    tables={"toylayer": ToyColumn},
)


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Have a package without code installed, with what it registers."""

    def write(*embedders: str) -> None:
        info = tmp_path / "outside-1.0.dist-info"
        info.mkdir()
        metadata = "Metadata-Version: 2.1\nName: outside\nVersion: 1\n"
        (info / "METADATA").write_text(metadata)
        lines = "\n".join(["[spacy_hashembeds_embedders]", *embedders])
        (info / "entry_points.txt").write_text(lines)
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
        get_descriptions.cache_clear()

    yield write
    get_descriptions.cache_clear()


def test_an_embedder_of_another_package_comes_after_ours(install):
    ours = [*get_descriptions()]
    install(f"toy_embed = {__name__}:TOY")
    assert list_names() == sorted([*(d.name for d in ours), "toy_embed"])
    assert [*get_descriptions()] == [*ours, get_description("toy_embed")]
    for name in ("toy.ToyEmbed.v1", "old.ToyEmbed.v1"):
        assert find_description(name).name == "toy_embed"
    assert find_table_kinds()["toylayer"].kind == "toy"
    assert find_table_kinds()["hashembed"].kind == "hash"


def test_what_is_wrong_with_another_package_stops_nobody(install):
    expected = get_descriptions()
    install("gone = gone.nothing:TOY", f"none = {__name__}:ToyColumn")
    with (
        pytest.warns(UserWarning, match="'gone' can't be used"),
        pytest.warns(UserWarning, match="'none' can't be used"),
    ):
        assert get_descriptions() == expected


def test_each_of_ours_is_what_its_entry_point_and_its_architecture_are_called():
    for entry_point in entry_points(group="spacy_hashembeds_embedders"):
        description = entry_point.load()
        assert get_description(entry_point.name) == description
        for name in (description.architecture, *description.aliases):
            assert name in registry.architectures
            assert find_description(name) == description
    assert list_names() == [d.name for d in get_descriptions()]
    assert find_description("spacy.MultiHashEmbed.v2") is None
    with pytest.raises(ValueError, match=r"no embedder 'x'.*multi_embed, multi_fewer"):
        get_description("x")
