"""The names of the report: ours, but for those who register their own under them."""

import inspect

import numpy
import pytest
import spacy
from spacy.util import import_file, registry
from thinc.api import Model

from spacy_hashembeds.architectures import aliases
from spacy_hashembeds.architectures.multi_embed import MultiEmbed
from spacy_hashembeds.architectures.multi_fewer_hash_embed import MultiFewerHashEmbed

from .conftest import MULTI_EMBED, MULTI_FEWER, NAMES, PROJECT, read_features

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


def test_loads_and_predicts_as_before_with_its_code(saved, tiny_corpus, registering):
    name, path, expected = saved
    registry.get("architectures", name)  # a first lookup, before there is code
    import_file("report_project", PROJECT)
    features = read_features(spacy.load(path), tiny_corpus)
    numpy.testing.assert_array_equal(features, expected)
