"""Our layers named in configs: which of spaCy's they can replace, and which stay."""

import re
from typing import Any

import numpy
import pytest
import spacy
from spacy.tokens import Doc
from spacy.util import registry
from spacy.vocab import Vocab
from thinc.api import Config, fix_random_seed

from spacy_hashembeds.acceleration import conversion
from spacy_hashembeds.acceleration.conversion import (
    BLAS,
    OUR_EMBED,
    OUR_ENCODER,
    check_convertible,
    convert_config,
    find_convertible,
    find_unconvertible,
)

from . import accelerate_pipelines as pipelines
from .accelerate_pipelines import TEXTS


def make_config(**models: dict[str, Any]) -> Config:
    """Make what is read of a config, with the models of components."""
    components = {name: {"model": model} for name, model in models.items()}
    return Config({"nlp": {}, "components": components})


def test_variables_stay_where_they_still_point_to_something():
    config = pipelines.read_variables()
    before = config.to_str(interpolate=False)
    converted = convert_config(config)
    assert config.to_str(interpolate=False) == before
    components = converted["components"]
    encode = components["tok2vec"]["model"]["encode"]
    embed = components["tok2vec"]["model"]["embed"]
    assert encode["depth"] == "${vars.depth}"
    assert encode["width"] == embed["width"] == 16
    assert embed["rows"] == [60, 30, 30, 30]
    assert components["ner"]["model"]["tok2vec"] == "${components.tok2vec.model}"
    assert components["ner"]["model"]["hidden_width"] == 16
    assert components["tagger"]["model"]["tok2vec"]["width"] == 16
    layer = components["morphologizer"]["model"]["tok2vec"]
    assert layer["embed"]["@architectures"] == OUR_EMBED
    width = "${components.morphologizer.model.tok2vec.encode.width}"
    assert (layer["embed"]["width"], layer["embed"]["rows"]) == (width, [60])
    assert layer["encode"] == {
        "@architectures": OUR_ENCODER,
        "width": 16,
        "depth": "${vars.depth}",
        "window_size": 1,
        "maxout_pieces": 2,
    }
    plain = converted.interpolate()["components"]
    assert plain["ner"]["model"]["tok2vec"] == plain["tok2vec"]["model"]
    without_variables = convert_config(pipelines.read_variables().interpolate())
    assert without_variables["components"] == plain


@pytest.mark.parametrize(
    ("nlp", "blas", "callback", "left"),
    [
        ({}, False, None, []),
        ({}, True, BLAS, []),
        ({"after_pipeline_creation": None}, True, BLAS, []),
        (
            {"after_pipeline_creation": {"@callbacks": "mine.v1"}},
            *(True, "mine.v1"),
            ["mine.v1 stands where the choice of BLAS would"],
        ),
    ],
)
def test_the_callback_is_set_where_there_is_none(nlp, blas, callback, left):
    config = pipelines.read_variables()
    config["nlp"].update(nlp)
    new = convert_config(config, blas=blas)["nlp"].get("after_pipeline_creation")
    assert new == (callback and {"@callbacks": callback})
    assert [*find_unconvertible(config, blas=blas).values()] == left


# Layers


def make_docs(vocab: Vocab) -> list[Doc]:
    return [Doc(vocab, words=text.split()) for text in TEXTS if text.strip()]


@pytest.fixture(scope="module")
def vocab() -> Vocab:
    nlp = spacy.blank("xx")
    pipelines.add_vectors(nlp)
    return nlp.vocab


def build(block: dict):
    return registry.resolve({"model": block})["model"]


EMBEDS = {
    "spacy.MultiHashEmbed.v2": pipelines.EMBED_ARGUMENTS,
    "spacy.MultiHashEmbed.v1": pipelines.EMBED_ARGUMENTS,
    "spacy-legacy.MultiHashEmbed.v1": pipelines.EMBED_ARGUMENTS,
    "spacy.HashEmbedCNN.v2": pipelines.CNN_ARGUMENTS,
    "spacy.HashEmbedCNN.v1": pipelines.CNN_ARGUMENTS,
    "spacy-legacy.HashEmbedCNN.v1": pipelines.CNN_ARGUMENTS,
}


def make_block(name: str, *, vectors: bool = False) -> dict:
    key = "pretrained_vectors" if "CNN" in name else "include_static_vectors"
    return {"@architectures": name, **EMBEDS[name], key: vectors}


@pytest.mark.parametrize(
    "block",
    [
        *map(make_block, EMBEDS),
        {**make_block("spacy.HashEmbedCNN.v2"), "subword_features": False},
        make_block("spacy.MultiHashEmbed.v2", vectors=True),
        make_block("spacy.HashEmbedCNN.v2", vectors=True),
    ],
    ids=lambda block: block["@architectures"],
)
def test_every_layer_has_the_tree_seeds_and_outputs_of_ours(vocab, block):
    converted = convert_config(make_config(a=block))["components"]["a"]["model"]
    fix_random_seed(0)
    docs = make_docs(vocab)
    theirs = build(block).initialize(X=docs)
    ours = build(converted)
    for node, new_node in zip(theirs.walk(), ours.walk(), strict=True):
        assert new_node.param_names == node.param_names
        assert new_node.ref_names == node.ref_names
        assert len(new_node.layers) == len(node.layers)
        for key in ("seed", "column"):
            assert new_node.attrs.get(key) == node.attrs.get(key)
    ours.from_bytes(theirs.to_bytes())
    for actual, expected in zip(ours.predict(docs), theirs.predict(docs), strict=True):
        numpy.testing.assert_allclose(actual, expected, atol=1e-5)


CHARACTERS = {"@architectures": "spacy.CharacterEmbed.v2"}
WEIGHTED = {"@architectures": "spacy-hashembeds.MultiWeightedHashEmbed.v1"}
#: With an encoder that stands in a first version of Tok2Vec, of another tree.
FIRST = {
    **pipelines.tok2vec("v1"),
    "encode": {"@architectures": "spacy.MaxoutWindowEncoder.v1"},
}
STATIC = {
    "tagger": pipelines.without_our_encoder(
        pipelines.tok2vec("v1", include_static_vectors=True)
    ),
    "ner": pipelines.cnn("v1", pretrained_vectors=True),
}


@pytest.mark.parametrize(
    ("models", "converted", "left"),
    [
        ({"ner": {**pipelines.tok2vec(), "embed": CHARACTERS}}, ["ner.encode"], {}),
        ({"ner": {**pipelines.tok2vec(), "embed": WEIGHTED}}, ["ner.encode"], {}),
        ({"ner": FIRST}, ["ner.embed"], {"ner.encode": "MaxoutWindowEncoder.v1 takes"}),
        (
            {**STATIC, "ner": pipelines.cnn()},
            ["ner"],
            {"tagger.embed": "MultiHashEmbed.v1 with static vectors"},
        ),
    ],
)
def test_what_stays_keeps_nothing_else_from_being_converted(models, converted, left):
    config = make_config(**models)
    check_convertible(config, "in", None)
    assert [shorten(place) for place in find_convertible(config)] == converted
    reasons = {shorten(k): why for k, why in find_unconvertible(config).items()}
    assert reasons.keys() == left.keys()
    assert all(left[place] in why for place, why in reasons.items())


def shorten(place: str) -> str:
    return re.sub(r"components\.|\.model", "", place)


@registry.architectures("tests.RefusingEncoder.v1")
def make_refusing_encoder(width: int, window_size: int, maxout_pieces: int, depth: int):
    """Stands for ours, and takes fewer settings than spaCy's."""
    raise ValueError("'window_size' should not be 2.")


def test_what_our_layers_refuse_stays_and_all_else_is_converted(monkeypatch):
    monkeypatch.setattr(conversion, "OUR_ENCODER", "tests.RefusingEncoder.v1")
    config = make_config(tagger=pipelines.tok2vec(), ner=pipelines.cnn())
    assert find_convertible(config) == ["components.tagger.model.embed"]
    why = "has settings that ours does not take: 'window_size' should not be 2."
    assert find_unconvertible(config) == {
        "components.tagger.model.encode": f"spacy.MaxoutWindowEncoder.v2 {why}",
        "components.ner.model": f"spacy.HashEmbedCNN.v2 {why}",
    }


@pytest.mark.parametrize(
    ("config", "match"),
    [
        (make_config(), r"'in' should .* none \(no trained component\)"),
        (
            make_config(a={"@architectures": "tests.Transformer.v1"}),
            r"has none.*\(components\.a\.model: tests\.Transformer\.v1\)",
        ),
        # in the order of the config, whose sections older spaCy sorts
        (
            make_config(**STATIC),
            r"(?=.*components\.tagger\.model\.embed: spacy\.MultiHashEmbed\.v1 with st)"
            r"(?=.*components\.ner\.model: spacy\.HashEmbedCNN\.v1 with static)",
        ),
        (
            make_config(a=make_block("spacy-legacy.HashEmbedCNN.v1", vectors=True)),
            r"has none \(components\.a\.model: spacy-legacy\.HashEmbedCNN\.v1 with st",
        ),
        (
            convert_config(make_config(a=pipelines.cnn())),
            r"'in' has ours already\. It should have a spacy\.MultiHashEmbed",
        ),
    ],
)
def test_nothing_to_convert_is_refused_by_name_and_place(config, match):
    with pytest.raises(ValueError, match=match):
        check_convertible(config, "in", None)


TOK2VEC = make_config(a=pipelines.tok2vec())
OURS, OURS_IN_INT8 = convert_config(TOK2VEC), convert_config(TOK2VEC, precision="int8")
WITHOUT_ENCODER = make_config(a=pipelines.without_our_encoder(pipelines.tok2vec()))


@pytest.mark.usefixtures("instructions")
@pytest.mark.parametrize(
    ("config", "precision", "match"),
    [
        (
            OURS_IN_INT8,
            "int8",
            r"already, with products of int8\. It (?!.*--precision)",
        ),
        (OURS_IN_INT8, None, r"already, with products of int8\. It (?!.*--precision)"),
        (OURS, "float32", r"already\. It should.*'precision' in P"),
        (OURS, None, r"already\. It should.*'precision' in P"),
        (WITHOUT_ENCODER, "int8", "should be 'float32' for 'in': it has no window enc"),
    ],
)
def test_a_precision_that_changes_nothing_is_refused(config, precision, match):
    with pytest.raises(ValueError, match=match):
        check_convertible(config, "in", precision)


@pytest.mark.usefixtures("no_instructions")
@pytest.mark.parametrize(
    ("config", "precision", "match"),
    [
        (OURS, None, r"already\. It should (?!.*--precision)"),
        (OURS, "auto", r"has ours already\..*Nor has 'auto'.*doctor"),
        (TOK2VEC, "int8", r"'precision' should be 'float32'.*for int8"),
    ],
)
def test_without_instructions_there_is_no_other_precision(config, precision, match):
    with pytest.raises(ValueError, match=match):
        check_convertible(config, "in", precision)
