"""Our layers and components named in configs: what they can replace, and what stays."""

from contextlib import nullcontext
from copy import deepcopy
from typing import Any

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.lookups import Lookups
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Config, Linear, fix_random_seed

from spacy_hashembeds.acceleration import conversion
from spacy_hashembeds.acceleration.accelerate import accelerate_folder
from spacy_hashembeds.acceleration.conversion import (
    BLAS,
    OUR_EMBED,
    OUR_ENCODER,
    REPLACED,
    check_precision,
    convert_config,
    convert_layers,
    find_batch_size,
    find_convertible,
    find_replacements,
)
from spacy_hashembeds.acceleration.in_memory import accelerate
from spacy_hashembeds.components.tokenizer import QuickTokenizer

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
    converted = convert_layers(config)
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
    without_variables = convert_layers(pipelines.read_variables().interpolate())
    assert without_variables["components"] == converted.interpolate()["components"]


@pytest.mark.parametrize("callback", [None, {"@callbacks": "mine.v1"}])
def test_the_callback_is_set_where_there_is_none(callback):
    nlp, config = spacy.blank("xx"), make_config()
    config["nlp"]["after_pipeline_creation"] = callback
    for blas, expected in ((False, callback), (True, callback or {"@callbacks": BLAS})):
        for _ in "twice":
            config = convert_config(nlp, config, blas=blas)
            assert config["nlp"]["after_pipeline_creation"] == expected


# Layers


def make_block(name: str, *, vectors: bool = False) -> dict[str, Any]:
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
def test_every_layer_has_the_tree_seeds_and_outputs_of_ours(block):
    converted = convert_layers(make_config(a=block))["components"]["a"]["model"]
    nlp = spacy.blank("xx")
    pipelines.add_vectors(nlp)
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


CHARACTERS = {"@architectures": "spacy.CharacterEmbed.v2"}
WEIGHTED = {"@architectures": "spacy-hashembeds.MultiWeightedHashEmbed.v1"}
#: An encoder that takes one array, where nothing makes one of lists of arrays.
FIRST = {**pipelines.tok2vec("v1"), "encode": pipelines.old_tok2vec()["encode"]}
STATIC = pipelines.without_our_encoder(
    pipelines.tok2vec("v1", include_static_vectors=True)
)


@pytest.mark.parametrize(
    ("layer", "converted", "left"),
    [
        (
            {**pipelines.tok2vec(), "embed": CHARACTERS},
            ["encode"],
            {"embed": "no faster layer"},
        ),
        (pipelines.old_tok2vec(), ["embed", "encode"], {}),
        ({**pipelines.tok2vec(), "embed": WEIGHTED}, ["encode"], {}),
        (FIRST, ["embed"], {"encode": "MaxoutWindowEncoder.v1 takes"}),
        (
            STATIC,
            [],
            {
                "embed": "MultiHashEmbed.v1 with static vectors",
                "encode": "no faster layer",
            },
        ),
    ],
)
def test_what_stays_keeps_nothing_else_from_being_converted(layer, converted, left):
    places, reasons = find_convertible(make_config(ner=layer, other=pipelines.cnn()))
    inside = "components.ner.model."
    assert places == [*(inside + each for each in converted), "components.other.model"]
    assert reasons.keys() == {inside + each for each in left}
    assert all(left[place.removeprefix(inside)] in reasons[place] for place in reasons)


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


OURS = convert_layers(make_config(a=pipelines.tok2vec()))
WITHOUT_ENCODER = make_config(a=pipelines.without_our_encoder(pipelines.tok2vec()))


@pytest.mark.parametrize(
    ("processor", "config", "is_refused"),
    [
        ("instructions", OURS, False),
        ("instructions", WITHOUT_ENCODER, True),
        ("no_instructions", OURS, True),
    ],
)
def test_a_precision_needs_an_encoder_and_instructions(
    processor, config, is_refused, request
):
    request.getfixturevalue(processor)
    for precision in (None, "auto", "float32"):
        check_precision(config, precision)
    with (
        pytest.raises(ValueError, match="'precision'") if is_refused else nullcontext()
    ):
        check_precision(config, "int8")


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
        for before in (config, convert_layers(config)):
            new = convert_layers(before, precision)["components"]
            encoders = {name: new[name]["model"]["encode"] for name in "ab"}
            assert found == {
                k: e["precision"] for k, e in encoders.items() if "precision" in e
            }
        places, _ = find_convertible(convert_layers(config, "int8"), "float32")
        assert places == [f"components.{name}.model.encode" for name in "ab"]


# Components


@pytest.fixture
def nlp() -> Language:
    """A pipeline whose components have something to do."""
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("attribute_ruler", name="ruler")
    ruler.add([[{"LOWER": "mice"}]], {"POS": "NOUN"})
    lookups = Lookups()
    for name in ("lemma_rules", "lemma_index"):
        lookups.add_table(name, {})
    lookups.add_table("lemma_exc", {"noun": {"mice": ["mouse"]}})
    nlp.add_pipe("lemmatizer").initialize(lookups=lookups)
    nlp.tokenizer.add_special_case("micemice", [{"ORTH": "mice"}, {"ORTH": "mice"}])
    nlp.tokenizer.max_cache_size = 7
    return nlp


@pytest.mark.parametrize("factory", REPLACED)
def test_spacys_own_are_replaced_by_their_names_and_strangers_stay(factory):
    nlp = spacy.blank("en")
    pipe: Any = nlp.add_pipe(factory, name="mine")
    if factory == "attribute_ruler":
        pipe.add([[{"LOWER": "mice"}]], {"POS": "NOUN"})
    elif "ruler" in factory:
        pipe.add_patterns([{"label": "X", "pattern": [{"LOWER": "mice"}]}])
    assert find_replacements(nlp, nlp.config) == ({"mine": f"cached_{factory}"}, {})
    of_another = {"components": {"mine": {"source": "another"}}}
    assert find_replacements(nlp, Config(of_another)) == ({}, {})
    pipe.__class__ = type("Other", (type(pipe),), {})
    found, left = find_replacements(nlp, nlp.config)
    assert (found, [*left]) == ({}, ["components.mine"])


def test_a_ruler_that_can_not_be_looked_up_stays():
    nlp = spacy.blank("en")
    nlp.add_pipe("attribute_ruler", name="empty")  # which has nothing to do
    ruler: Any = nlp.add_pipe("attribute_ruler", name="ruler")
    ruler.add([[{"LOWER": "a", "OP": "*"}]], {"POS": "NOUN"})
    found, left = find_replacements(nlp, nlp.config)
    assert (found, [*left]) == ({}, ["components.ruler"])


def test_a_pipeline_without_layers_is_accelerated_by_its_components(nlp, tmp_path):
    texts = ["mice mice", "mice", "micemice", ""]
    done = accelerate(nlp, texts)
    components = ["components.ruler", "components.lemmatizer"]
    of_nlp = ["nlp.tokenizer", "nlp.after_pipeline_creation"]
    assert done.converted == [*components, *of_nlp]
    nlp.to_disk(tmp_path / "before")
    folder = accelerate_folder(tmp_path / "before", tmp_path / "after", texts)
    assert folder.converted == done.converted
    for new in (done.nlp, spacy.load(tmp_path / "after")):
        assert new.config["components"]["ruler"]["factory"] == "cached_attribute_ruler"
        assert type(new.tokenizer) is QuickTokenizer
        for name, pipe in nlp.components:
            assert isinstance(new.get_pipe(name), type(pipe))
            assert new.get_pipe(name).to_bytes() == pipe.to_bytes()
        for doc, new_doc in zip(nlp.pipe(texts), new.pipe(texts), strict=True):
            assert new_doc.to_json() == doc.to_json()
        assert [token.text for token in new("micemice")] == ["mice", "mice"]
    assert done.nlp.tokenizer.max_cache_size == 7
    assert type(nlp.tokenizer) is Tokenizer
    again = accelerate(done.nlp, texts)
    assert (again.converted, again.texts) == ([], 0)
    assert again.nlp is not done.nlp
    assert again.nlp.to_bytes() == done.nlp.to_bytes()


def test_another_tokenizer_stays(nlp):
    config = nlp.config.copy()
    config["nlp"]["tokenizer"] = {"@tokenizers": "spacy.zh.ChineseTokenizer"}
    assert convert_config(nlp, config, blas=False)["nlp"] == config["nlp"]
    nlp.tokenizer = lambda text: Doc(nlp.vocab, words=text.split())
    done = accelerate(nlp, ["mice mice"])
    assert "nlp.tokenizer" not in done.converted
    assert done.nlp.tokenizer is nlp.tokenizer


@pytest.mark.parametrize(
    ("n_classes", "batch_size", "expected"),
    [(20, 128, None), (3000, 128, 87), (3000, 87, None), (3000, 16, None)],
)
def test_batches_should_be_smaller_where_there_are_many_classes(
    n_classes, batch_size, expected
):
    nlp = spacy.blank("en")
    nlp.batch_size = batch_size
    tagger: Any = nlp.add_pipe("tagger")
    tagger.model = Linear(n_classes, 2).initialize()
    assert find_batch_size(nlp) == expected


def test_smaller_batches_are_saved(saved, monkeypatch):
    monkeypatch.setattr(conversion, "MOST_BYTES", 1)
    nlp = spacy.load(saved("bare"))
    done = accelerate(nlp, ["a few words"])
    assert "nlp.batch_size" in done.converted
    assert (done.nlp.batch_size, done.nlp.config["nlp"]["batch_size"]) == (1, 1)
    assert nlp.batch_size > 1
