"""Replacement of layers and components in configs."""

from copy import deepcopy
from typing import Any

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.pipeline import AttributeRuler
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc
from spacy.util import registry
from spacy.vectors import Vectors
from thinc.api import Config, Linear, fix_random_seed

from spacy_hashembeds.acceleration import conversion
from spacy_hashembeds.acceleration.conversion import (
    OUR_EMBED,
    OUR_ENCODER,
    REPLACED,
    convert_config,
    convert_layers,
    find_batch_size,
    find_convertible,
    find_replacements,
)
from spacy_hashembeds.acceleration.in_memory import accelerate
from spacy_hashembeds.components.tokenizer import QuickTokenizer

from . import accelerate_pipelines as pipelines
from .accelerate_pipelines import TEXTS, layer, tok2vec


def make_config(**models: dict[str, Any]) -> Config:
    """Return a minimal config with the models of components."""
    components = {name: {"model": model} for name, model in models.items()}
    return Config({"nlp": {}, "components": components})


def test_variables_of_components_become_values_and_others_are_kept():
    config = pipelines.read_variables()
    config["training"] = {"dropout": "${vars.depth}"}
    config["pretraining"] = {"width": "${components.tok2vec.model.width}"}
    before = config.to_str(interpolate=False)
    converted = convert_layers(config)
    assert config.to_str(interpolate=False) == before
    # of a HashEmbedCNN, which is a Tok2Vec now
    assert converted["pretraining"]["width"] == 16
    assert converted["training"]["dropout"] == "${vars.depth}"
    components = converted["components"]
    assert components["ner"]["model"]["hidden_width"] == 16
    assert components["tok2vec"]["model"]["embed"]["rows"] == [60, 30, 30, 30]
    assert components["ner"]["model"]["tok2vec"] == components["tok2vec"]["model"]
    block = components["morphologizer"]["model"]["tok2vec"]
    assert block["embed"]["@architectures"] == OUR_EMBED
    assert (block["embed"]["width"], block["embed"]["rows"]) == (16, [60])
    assert block["encode"] == pipelines.encoder(**{"@architectures": OUR_ENCODER})
    without_variables = convert_layers(pipelines.read_variables().interpolate())
    assert without_variables["components"] == converted.interpolate()["components"]


# Layers


@pytest.mark.parametrize(
    "block",
    [
        *(
            layer(f"{prefix}.{name}.v1")
            for name in ("MultiHashEmbed", "HashEmbedCNN")
            for prefix in ("spacy", "spacy-legacy")
        ),
        pipelines.cnn(subword_features=False),
        pipelines.cnn(pretrained_vectors=True),
        pipelines.embed(include_static_vectors=True),
        pipelines.old_tok2vec(),
        pipelines.old_tok2vec("spacy-legacy", depth=2),
    ],
    ids=lambda block: block["@architectures"],
)
def test_our_layers_have_equal_trees_seeds_and_outputs(block):
    converted = convert_layers(make_config(a=block))["components"]["a"]["model"]
    nlp = spacy.blank("xx")
    words = ["Anna", "Paris", "lives", "in", "there"]
    data = numpy.random.RandomState(0).normal(size=(len(words), 7)).astype("f")
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=data, keys=words)
    docs = [Doc(nlp.vocab, words=text.split()) for text in TEXTS if text.strip()]
    fix_random_seed(0)
    theirs = registry.resolve({"model": block})["model"].initialize(X=docs)
    ours = registry.resolve({"model": converted})["model"].initialize(X=docs)
    for node, new_node in zip(theirs.walk(), ours.walk(), strict=True):
        assert new_node.param_names == node.param_names
        assert new_node.ref_names == node.ref_names
        assert len(new_node.layers) == len(node.layers)
        for key in ("seed", "column"):
            assert new_node.attrs.get(key) == node.attrs.get(key)
    ours.from_bytes(theirs.to_bytes())
    for actual, expected in zip(ours.predict(docs), theirs.predict(docs), strict=True):
        numpy.testing.assert_allclose(actual, expected, atol=1e-5)


CHARACTERS = layer("spacy.CharacterEmbed.v2")
WEIGHTED = layer("spacy-hashembeds.MultiWeightedHashEmbed.v1")
OLD = layer("spacy.MultiHashEmbed.v1", include_static_vectors=True)
#: An encoder of one array in a Tok2Vec that passes lists of arrays.
FIRST = layer("spacy.MaxoutWindowEncoder.v1")
REFUSED = pipelines.encoder(depth=0)


@pytest.mark.parametrize(
    ("block", "converted", "left"),
    [
        (tok2vec(embed=CHARACTERS), [".encode"], {".embed": "no faster layer"}),
        (pipelines.old_tok2vec(), [".embed", ".encode"], {}),
        (tok2vec(embed=WEIGHTED), [".encode"], {}),
        (tok2vec(encode=FIRST), [".embed"], {".encode": "Encoder.v1 takes all"}),
        (tok2vec(encode=REFUSED), [".embed"], {".encode": "'depth' should be"}),
        (pipelines.cnn(depth=0), [], {"": "'depth' should be"}),
        (
            tok2vec(embed=OLD, encode=layer("spacy.MishWindowEncoder.v2")),
            [],
            {".embed": "last vector", ".encode": "no faster layer"},
        ),
    ],
)
def test_kept_layers_do_not_prevent_other_conversions(block, converted, left):
    places, reasons = find_convertible(make_config(ner=block, other=pipelines.cnn()))
    inside = "components.ner.model"
    assert places == [*(inside + each for each in converted), "components.other.model"]
    assert reasons.keys() == {inside + each for each in left}
    assert all(left[place.removeprefix(inside)] in reasons[place] for place in reasons)


@pytest.mark.parametrize(
    ("precision", "found"),
    [
        *((None, {}), ("float32", {}), ("int8", {"a": "int8", "b": "int8"})),
        *(({"b": "int8"}, {"b": "int8"}), ({"a": "bfloat16"}, {"a": "bfloat16"})),
    ],
)
def test_another_precision_is_written_to_encoders(precision, found):
    for block in (tok2vec(), pipelines.cnn()):
        config = make_config(a=block, b=deepcopy(block))
        for before in (config, convert_layers(config)):
            new = convert_layers(before, precision)["components"]
            encoders = {name: new[name]["model"]["encode"] for name in "ab"}
            assert found == {
                k: e["precision"] for k, e in encoders.items() if "precision" in e
            }
        places, _ = find_convertible(convert_layers(config, "int8"), "float32")
        assert places == [f"components.{name}.model.encode" for name in "ab"]


# Components


def add_ruler(nlp: Language, name: str = "ruler", **pattern: Any) -> AttributeRuler:
    ruler = nlp.add_pipe("attribute_ruler", name=name)
    ruler.add([[{"LOWER": "mice", **pattern}]], {"POS": "NOUN"})
    return ruler


@pytest.mark.parametrize("factory", REPLACED)
def test_factories_of_spacy_are_replaced_and_others_kept(nlp, factory):
    if factory == "attribute_ruler":
        pipe: Any = add_ruler(nlp, "mine")
    else:
        pipe = nlp.add_pipe(factory, name="mine")
        if "ruler" in factory:
            pipe.add_patterns([{"label": "X", "pattern": [{"LOWER": "mice"}]}])
    assert find_replacements(nlp, nlp.config) == ({"mine": f"cached_{factory}"}, {})
    of_another = {"components": {"mine": {"source": "another"}}}
    assert find_replacements(nlp, Config(of_another)) == ({}, {})
    pipe.__class__ = type("Other", (type(pipe),), {})
    found, left = find_replacements(nlp, nlp.config)
    assert (found, [*left]) == ({}, ["components.mine"])


def test_a_ruler_that_can_not_be_cached_is_kept(nlp):
    nlp.add_pipe("attribute_ruler", name="empty")
    add_ruler(nlp, OP="*")
    found, left = find_replacements(nlp, nlp.config)
    assert (found, [*left]) == ({}, ["components.ruler"])


def test_components_of_a_pipeline_without_layers_are_converted(nlp):
    ruler = add_ruler(nlp)
    nlp.tokenizer.max_cache_size = 7
    done = accelerate(nlp, ["mice", ""])
    settings = ["nlp.tokenizer", "nlp.after_pipeline_creation"]
    assert done.converted == ["components.ruler", *settings]
    assert done.nlp.config["components"]["ruler"]["factory"] == "cached_attribute_ruler"
    new = done.nlp.get_pipe("ruler")
    assert isinstance(new, AttributeRuler)
    assert type(new) is not type(ruler)
    tokenizers = done.nlp.tokenizer, nlp.tokenizer
    assert [*map(type, tokenizers)] == [QuickTokenizer, Tokenizer]
    assert done.nlp.tokenizer.max_cache_size == 7
    again = accelerate(done.nlp, ["mice"])
    assert (again.converted, again.texts) == ([], 0)
    assert again.nlp is not done.nlp
    assert again.nlp.to_bytes() == done.nlp.to_bytes()


def test_other_tokenizers_are_kept(nlp):
    add_ruler(nlp)
    config = nlp.config.copy()
    config["nlp"]["tokenizer"] = {"@tokenizers": "spacy.zh.ChineseTokenizer"}
    converted, changed = convert_config(nlp, config, blas=False)
    assert (converted["nlp"], changed) == (config["nlp"], ["components.ruler"])
    nlp.tokenizer = lambda text: Doc(nlp.vocab, words=text.split())
    done = accelerate(nlp, ["mice mice"])
    assert "nlp.tokenizer" not in done.converted
    assert done.nlp.tokenizer is nlp.tokenizer


@pytest.mark.parametrize(
    ("n_classes", "batch_size", "expected"),
    [(20, 128, None), (3000, 128, 87), (3000, 87, None), (3000, 16, None)],
)
def test_many_classes_need_smaller_batches(nlp, n_classes, batch_size, expected):
    nlp.batch_size = batch_size
    tagger: Any = nlp.add_pipe("tagger")
    tagger.model = Linear(n_classes, 2).initialize()
    assert find_batch_size(nlp) == expected


def test_smaller_batches_are_saved(saved, monkeypatch):
    monkeypatch.setattr(conversion, "MAX_BYTES", 1)
    nlp = spacy.load(saved("bare"))
    done = accelerate(nlp, ["a few words"], precision="float32")
    assert "nlp.batch_size" in done.converted
    assert (done.nlp.batch_size, done.nlp.config["nlp"]["batch_size"]) == (1, 1)
    assert nlp.batch_size > 1
