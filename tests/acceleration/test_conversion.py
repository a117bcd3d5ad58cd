"""Our layers named in configs: which of spaCy's they can replace, and which stay."""

import re
from copy import deepcopy
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
    check_precision,
    convert_config,
    find_convertible,
)

from . import accelerate_pipelines as pipelines
from .accelerate_pipelines import TEXTS


def make_config(**models: dict[str, Any]) -> Config:
    """Make what is read of a config, with the models of components."""
    components = {name: {"model": model} for name, model in models.items()}
    return Config({"nlp": {}, "components": components})


def test_variables_of_components_become_values_and_others_stay():
    config = pipelines.read_variables()
    config["training"] = {"dropout": "${vars.depth}"}
    config["pretraining"] = {"width": "${components.tok2vec.model.width}"}
    before = config.to_str(interpolate=False)
    converted = convert_config(config)
    assert config.to_str(interpolate=False) == before
    # of a HashEmbedCNN, which has become a Tok2Vec
    assert converted["pretraining"]["width"] == 16
    assert converted["training"]["dropout"] == "${vars.depth}"
    components = converted["components"]
    assert components["ner"]["model"]["hidden_width"] == 16
    assert components["tok2vec"]["model"]["embed"]["rows"] == [60, 30, 30, 30]
    assert components["ner"]["model"]["tok2vec"] == components["tok2vec"]["model"]
    layer = components["morphologizer"]["model"]["tok2vec"]
    assert layer["embed"]["@architectures"] == OUR_EMBED
    assert (layer["embed"]["width"], layer["embed"]["rows"]) == (16, [60])
    assert layer["encode"] == {
        "@architectures": OUR_ENCODER,
        **{"width": 16, "depth": 1, "window_size": 1, "maxout_pieces": 2},
    }
    without_variables = convert_config(pipelines.read_variables().interpolate())
    assert without_variables["components"] == converted.interpolate()["components"]


@pytest.mark.parametrize("nlp", [{}, {"after_pipeline_creation": None}])
def test_the_callback_is_set_where_there_is_none(nlp):
    config = pipelines.read_variables()
    config["nlp"].update(nlp)
    for blas, callback in ((True, {"@callbacks": BLAS}), (False, None)):
        new = convert_config(config, blas=blas)
        assert new["nlp"].get("after_pipeline_creation") == callback
        again = convert_config(new, blas=blas)
        assert again["nlp"].get("after_pipeline_creation") == callback
    config["nlp"]["after_pipeline_creation"] = {"@callbacks": "mine.v1"}
    assert convert_config(config, blas=True)["nlp"] == config["nlp"]


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


def make_block(name: str, *, vectors: bool = False) -> dict:
    if "CNN" in name:
        arguments = {**pipelines.CNN_ARGUMENTS, "pretrained_vectors": vectors}
    else:
        arguments = {**pipelines.EMBED_ARGUMENTS, "include_static_vectors": vectors}
    return {"@architectures": name, **arguments}


@pytest.mark.parametrize(
    "block",
    [
        *(
            make_block(f"{prefix}.{name}")
            for name in ("MultiHashEmbed.v1", "HashEmbedCNN.v1")
            for prefix in ("spacy", "spacy-legacy")
        ),
        {**make_block("spacy.HashEmbedCNN.v2"), "subword_features": False},
        make_block("spacy.MultiHashEmbed.v2", vectors=True),
        make_block("spacy.HashEmbedCNN.v2", vectors=True),
        pipelines.old_tok2vec(),
        pipelines.old_tok2vec("spacy-legacy", depth=2),
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
#: An encoder that takes one array, where nothing makes one of lists of arrays.
FIRST = {**pipelines.tok2vec("v1"), "encode": pipelines.old_tok2vec()["encode"]}
STATIC = {
    "tagger": pipelines.without_our_encoder(
        pipelines.tok2vec("v1", include_static_vectors=True)
    ),
    "ner": pipelines.cnn("v1", pretrained_vectors=True),
}


@pytest.mark.parametrize(
    ("models", "converted", "left"),
    [
        (
            {"ner": {**pipelines.tok2vec(), "embed": CHARACTERS}},
            ["ner.encode"],
            {"ner.embed": "no faster layer"},
        ),
        ({"ner": pipelines.old_tok2vec()}, ["ner.embed", "ner.encode"], {}),
        ({"ner": {**pipelines.tok2vec(), "embed": WEIGHTED}}, ["ner.encode"], {}),
        ({"ner": FIRST}, ["ner.embed"], {"ner.encode": "MaxoutWindowEncoder.v1 takes"}),
        (
            {**STATIC, "ner": pipelines.cnn()},
            ["ner"],
            {
                "tagger.embed": "MultiHashEmbed.v1 with static vectors",
                "tagger.encode": "no faster layer",
            },
        ),
    ],
)
def test_what_stays_keeps_nothing_else_from_being_converted(models, converted, left):
    config = make_config(**models)
    places, reasons = find_convertible(config)
    assert [shorten(place) for place in places] == converted
    reasons = {shorten(place): why for place, why in reasons.items()}
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
    places, left = find_convertible(config)
    assert places == ["components.tagger.model.embed"]
    assert {*left} == {"components.tagger.model.encode", "components.ner.model"}
    assert all("'window_size' should not be 2" in why for why in left.values())


TOK2VEC = make_config(a=pipelines.tok2vec())
OURS = convert_config(TOK2VEC)
WITHOUT_ENCODER = make_config(a=pipelines.without_our_encoder(pipelines.tok2vec()))


@pytest.mark.usefixtures("instructions")
def test_a_precision_needs_an_encoder():
    for precision in (None, "auto", "float32", "int8"):
        check_precision(OURS, precision)
    check_precision(WITHOUT_ENCODER, "float32")
    with pytest.raises(ValueError, match="'precision' should be 'float32'"):
        check_precision(WITHOUT_ENCODER, "int8")


@pytest.mark.usefixtures("no_instructions")
def test_a_precision_needs_instructions():
    check_precision(OURS, "auto")
    with pytest.raises(ValueError, match="'precision' should be 'float32'"):
        check_precision(OURS, "int8")


@pytest.mark.parametrize(
    ("precision", "found"),
    [
        *((None, {}), ("float32", {}), ("int8", {"a": "int8", "b": "int8"})),
        *(({"b": "int8"}, {"b": "int8"}), ({"a": "bfloat16"}, {"a": "bfloat16"})),
    ],
)
def test_the_precision_of_encoders_is_written_where_it_is_another(precision, found):
    for block in (pipelines.tok2vec(), pipelines.cnn()):
        config = make_config(a=block, b=deepcopy(block))
        for before in (config, convert_config(config)):
            new = convert_config(before, precision=precision)
            encoders = {
                name: component["model"]["encode"]
                for name, component in new["components"].items()
            }
            precisions = {
                k: e["precision"] for k, e in encoders.items() if "precision" in e
            }
            assert precisions == found
        in_int8 = convert_config(config, precision="int8")
        places, _ = find_convertible(in_int8, "float32")
        assert places == [f"components.{name}.model.encode" for name in "ab"]
