"""Conversion of trained pipelines, against what they were before."""

import json
import shutil
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_config, load_model, registry
from spacy.vocab import Vocab
from thinc.api import (
    Linear,
    Model,
    NumpyOps,
    fix_random_seed,
    get_current_ops,
    set_current_ops,
)

from spacy_hashembeds.acceleration import accelerate as accelerate_module
from spacy_hashembeds.acceleration import conversion
from spacy_hashembeds.acceleration.accelerate import accelerate_folder
from spacy_hashembeds.acceleration.conversion import (
    convert_config,
    find_convertible,
    find_unconvertible,
)
from spacy_hashembeds.acceleration.timing import Speed

from . import accelerate_pipelines as pipelines
from .accelerate_pipelines import TEXTS, read_files

OURS = "spacy-hashembeds.MultiFewerHashEmbed.v1"


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> Path:
    """A saved pipeline of each make, to read only."""
    folder = tmp_path_factory.mktemp("pipelines")
    for name, (make, _) in pipelines.MAKERS.items():
        make().to_disk(folder / name)
    return folder


convert = partial(accelerate_folder, blas=False, rounds=1)


def describe(doc: Doc) -> dict:
    """All that must not change, by spaCy's own account."""
    described = doc.to_json()
    described["cats"] = {key: round(value, 4) for key, value in doc.cats.items()}
    described["norms"] = [token.norm_ for token in doc]
    described["ids"] = [(ent.ent_id_, ent.kb_id_) for ent in doc.ents]
    return described


@pytest.mark.slow
@pytest.mark.parametrize("name", pipelines.MAKERS)
def test_pipelines_of_every_make_predict_as_before(folders, tmp_path, name):
    source, output = folders / name, tmp_path / "out"
    files = read_files(source)
    result = convert(source, output, TEXTS)

    # older spaCy sorts the sections of a config
    assert sorted(result.converted) == sorted(
        [*pipelines.find_places(name), "nlp.tokenizer"]
    )
    assert result.left == {}
    assert result.texts == len(TEXTS)
    assert 0 < result.max_relative_diff < 1e-5
    assert read_files(source) == files

    new_files = read_files(output)
    assert new_files.keys() == files.keys()
    changed = {path for path in files if new_files[path] != files[path]}
    assert changed == {"config.cfg"}
    assert find_convertible(load_config(output / "config.cfg")) == []

    before, after = load_model(source), load_model(output)
    assert after.component_names == before.component_names
    assert after.disabled == before.disabled
    docs, new_docs = (list(nlp.pipe(TEXTS)) for nlp in (before, after))
    assert [describe(doc) for doc in new_docs] == [describe(doc) for doc in docs]
    assert any(doc.ents or doc.cats or doc.has_annotation("TAG") for doc in docs)


@pytest.mark.slow
def test_what_was_converted_can_be_trained_and_saved_again(folders, tmp_path):
    convert(folders / "shared", tmp_path / "out", TEXTS)
    nlp = load_model(tmp_path / "out")
    examples = [pipelines.make_example(nlp, text) for text in pipelines.SENTENCES]
    optimizer = nlp.resume_training()
    with nlp.select_pipes(disable=["lemmatizer"]):
        losses = nlp.update(examples, sgd=optimizer)
    assert losses["ner"] > 0
    nlp.to_disk(tmp_path / "again")
    again = load_model(tmp_path / "again")
    text = TEXTS[0]
    assert describe(again(text)) == describe(nlp(text))
    assert again.config["components"] == nlp.config["components"]


@pytest.mark.slow
def test_made_up_texts_are_the_default(folders, tmp_path):
    result = convert(folders / "inside", tmp_path / "out")
    assert result.texts > 300
    assert result.tokens > 3000
    assert set(result.words_per_second) == {"before", "after"}
    assert all(speed > 0 for speed in result.words_per_second.values())


def test_only_words_and_spaces_of_docs_are_taken(folders, tmp_path):
    doc = Doc(Vocab(), words=["Anna", "lives", "inParis"], tags=["Q", "Q", "Q"])
    result = convert(folders / "inside", tmp_path / "out", [doc])
    assert (result.texts, result.tokens) == (1, 3)


@pytest.mark.slow
def test_packages_convert_by_name(folders, tmp_path, monkeypatch):
    """A package laid out as pip installs it, with read-only files."""
    site = tmp_path / "site-packages"
    data = site / "xx_toy" / "xx_toy-0.0.0"
    shutil.copytree(folders / "inside", data)
    (site / "xx_toy" / "__init__.py").write_text(
        "from spacy.util import load_model_from_init_py\n"
        "def load(**overrides):\n"
        "    return load_model_from_init_py(__file__, **overrides)\n"
    )
    shutil.copy(data / "meta.json", site / "xx_toy" / "meta.json")
    meta = json.loads((data / "meta.json").read_text())
    meta |= {"name": "toy", "version": "0.0.0"}
    (site / "xx_toy" / "meta.json").write_text(json.dumps(meta))
    info = site / "xx_toy-0.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: xx_toy\nVersion: 0.0.0\n")
    for path in data.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    monkeypatch.syspath_prepend(site)
    try:
        result = convert("xx_toy", tmp_path / "out", TEXTS)
    finally:
        sys.modules.pop("xx_toy", None)
    assert len(result.converted) == 4
    assert describe(load_model(tmp_path / "out")(TEXTS[0])) == describe(
        load_model(folders / "inside")(TEXTS[0])
    )
    (tmp_path / "out" / "config.cfg").open("a").close()  # ours to write


# Configs


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
    assert components["morphologizer"]["model"]["tok2vec"] == {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {
            "@architectures": OURS,
            "width": "${components.morphologizer.model.tok2vec.encode.width}",
            "attrs": ["LOWER"],
            "rows": [60],
            "include_static_vectors": False,
            "num_hashes": 4,
            "seed": 8,
        },
        "encode": {
            "@architectures": "spacy-hashembeds.MaxoutWindowEncoder.v1",
            "width": 16,
            "depth": "${vars.depth}",
            "window_size": 1,
            "maxout_pieces": 2,
        },
    }
    plain = converted.interpolate()["components"]
    assert plain["ner"]["model"]["tok2vec"] == plain["tok2vec"]["model"]


def test_configs_without_variables_convert_too():
    plain = pipelines.read_variables().interpolate()
    converted = convert_config(plain)
    expected = convert_config(pipelines.read_variables()).interpolate()
    assert converted["components"] == expected["components"]


def test_the_callback_is_set_where_there_is_none():
    config = pipelines.read_variables()
    assert "after_pipeline_creation" not in convert_config(config)["nlp"]
    for before in ({}, {"after_pipeline_creation": None}):
        config["nlp"].update(before)
        new = convert_config(config, blas=True)["nlp"]["after_pipeline_creation"]
        assert new == {"@callbacks": "spacy-hashembeds.use_fastest_blas.v1"}
    config["nlp"]["after_pipeline_creation"] = {"@callbacks": "mine.v1"}
    new = convert_config(config, blas=True)["nlp"]["after_pipeline_creation"]
    assert new == {"@callbacks": "mine.v1"}


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


def make_block(name: str, vectors: bool) -> dict:
    key = "pretrained_vectors" if "CNN" in name else "include_static_vectors"
    return {"@architectures": name, **EMBEDS[name], key: vectors}


def make_config(block: dict):
    return conversion.Config({"nlp": {}, "components": {"a": {"model": block}}})


@pytest.mark.parametrize("subwords", [True, False])
@pytest.mark.parametrize("name", EMBEDS)
def test_every_layer_has_the_tree_seeds_and_outputs_of_ours(vocab, name, subwords):
    for vectors in (False, True):
        block = make_block(name, vectors)
        if "CNN" in name:
            block["subword_features"] = subwords
        config = make_config(block)
        if find_unconvertible(config):
            continue
        converted = convert_config(config)["components"]["a"]["model"]
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
        for actual, expected in zip(
            ours.predict(docs), theirs.predict(docs), strict=True
        ):
            numpy.testing.assert_allclose(actual, expected, atol=1e-5)


@pytest.mark.parametrize("name", [name for name in EMBEDS if name.endswith("v1")])
def test_legacy_layers_with_vectors_are_not_ours(vocab, name):
    """Why they are refused: a word without a vector has one there."""
    block = make_block(name, True)
    config = make_config(block)
    assert find_convertible(config) == []
    assert name in find_unconvertible(config)["components.a.model"]
    latest = {**block, "@architectures": name.replace("-legacy", "")[:-2] + "v2"}
    known, unknown = (Doc(vocab, words=[word]) for word in ("Anna", "Berta"))
    fix_random_seed(0)
    old = build(block).initialize(X=[known])
    new = build(latest).initialize(X=[known])
    new.from_bytes(old.to_bytes())
    assert numpy.allclose(old.predict([known])[0], new.predict([known])[0], atol=1e-5)
    difference = old.predict([unknown])[0] - new.predict([unknown])[0]
    assert abs(difference).max() > 1e-3


def test_the_first_version_of_the_encoder_stays(tmp_path):
    """It stands in a first version of Tok2Vec, with another tree of layers."""
    layer = pipelines.tok2vec("v1")
    layer["@architectures"] = "spacy.Tok2Vec.v1"
    layer["encode"]["@architectures"] = "spacy.MaxoutWindowEncoder.v1"
    nlp = spacy.blank("xx")
    pipelines.add(nlp, "ner", layer)
    pipelines.train(nlp).to_disk(tmp_path / "in")
    result = convert(tmp_path / "in", tmp_path / "out", TEXTS)
    place = "components.ner.model.tok2vec"
    assert result.converted == [f"{place}.embed", "nlp.tokenizer"]
    assert list(result.left) == [f"{place}.encode"]
    assert "spacy.MaxoutWindowEncoder.v1 takes" in result.left[f"{place}.encode"]
    before, after = (load_model(tmp_path / name) for name in ("in", "out"))
    assert [describe(after(t)) for t in TEXTS] == [describe(before(t)) for t in TEXTS]


@registry.architectures("tests.RefusingEncoder.v1")
def make_refusing_encoder(width: int, window_size: int, maxout_pieces: int, depth: int):
    """Stands for ours, and takes fewer settings than spaCy's."""
    if window_size == 2:
        raise ValueError("'window_size' should not be 2.")
    return registry.architectures.get("spacy-hashembeds.MaxoutWindowEncoder.v1")(
        width=width, window_size=window_size, maxout_pieces=maxout_pieces, depth=depth
    )


def test_what_our_layers_refuse_stays_and_all_else_is_converted(tmp_path, monkeypatch):
    nlp = spacy.blank("xx")
    wide = pipelines.tok2vec()
    wide["encode"]["window_size"] = 2
    pipelines.add(nlp, "tagger", wide)
    pipelines.add(nlp, "ner", pipelines.cnn(window_size=2))
    pipelines.add(nlp, "textcat", pipelines.tok2vec())
    pipelines.train(nlp).to_disk(tmp_path / "in")
    monkeypatch.setattr(conversion, "OUR_ENCODER", "tests.RefusingEncoder.v1")
    result = convert(tmp_path / "in", tmp_path / "out", TEXTS)
    assert result.converted == [
        "components.tagger.model.tok2vec.embed",
        "components.textcat.model.tok2vec.embed",
        "components.textcat.model.tok2vec.encode",
        "nlp.tokenizer",
    ]
    why = "has settings that ours does not take: 'window_size' should not be 2."
    assert result.left == {
        "components.tagger.model.tok2vec.encode": f"spacy.MaxoutWindowEncoder.v2 {why}",
        "components.ner.model.tok2vec": f"spacy.HashEmbedCNN.v2 {why}",
    }
    before, after = (load_model(tmp_path / name) for name in ("in", "out"))
    assert [describe(after(t)) for t in TEXTS] == [describe(before(t)) for t in TEXTS]
    assert after.config["components"]["ner"] == before.config["components"]["ner"]


def test_components_that_were_never_initialised_are_converted_unchecked(tmp_path):
    nlp = pipelines.make_bare()
    pipelines.add(nlp, "ner", pipelines.tok2vec())
    nlp.disable_pipe("ner")
    nlp.to_disk(tmp_path / "in")
    result = convert(tmp_path / "in", tmp_path / "out", TEXTS)
    assert result.unchecked == ["ner"]
    assert 0 < result.max_relative_diff < 1e-5
    after = load_model(tmp_path / "out")
    assert after.disabled == ["ner"]
    embed = after.config["components"]["ner"]["model"]["tok2vec"]["embed"]
    assert embed["@architectures"] == OURS


def make_first(tmp_path: Path) -> Path:
    """A classifier that looks at the first token of each Doc, and fails without."""
    nlp = spacy.blank("xx")
    uses = {f"use_reduce_{name}": name == "first" for name in REDUCTIONS}
    name = "spacy.TextCatReduce.v1"
    layer = {"@architectures": name, "exclusive_classes": True, **uses}
    nlp.add_pipe("textcat", config={"model": {**layer, "tok2vec": pipelines.tok2vec()}})
    pipelines.train(nlp).to_disk(tmp_path / "in")
    return tmp_path / "in"


REDUCTIONS = ("first", "last", "max", "mean")


@pytest.mark.slow
def test_made_up_texts_are_none_that_the_pipeline_can_not_take(tmp_path):
    result = convert(make_first(tmp_path), tmp_path / "out")
    assert result.texts > 300
    assert len(result.converted) == 3


def test_texts_that_the_pipeline_can_not_take_are_refused_with_a_remedy(tmp_path):
    with pytest.raises(ValueError, match=r"lengths.*it is for \(--text, or 'texts' in"):
        convert(make_first(tmp_path), tmp_path / "out", ["Anna", ""])


# What is refused


def test_nothing_to_convert_is_refused_by_name_and_place(tmp_path):
    nlp = spacy.blank("xx")
    layer = pipelines.tok2vec()
    layer["embed"] = {
        "@architectures": "spacy.CharacterEmbed.v2",
        **{"width": 16, "rows": 50, "nM": 4, "nC": 3},
        "include_static_vectors": False,
    }
    pipelines.add(nlp, "tagger", pipelines.without_our_encoder(layer))
    pipelines.train(nlp, steps=1).to_disk(tmp_path / "in")
    match = r"components.tagger.model.tok2vec.embed: spacy.CharacterEmbed.v2"
    with pytest.raises(ValueError, match=match):
        convert(tmp_path / "in", tmp_path / "out", TEXTS)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


@registry.architectures("tests.Transformer.v1")
def make_transformer(width: int) -> Model:
    """Stands for a layer of another package, such as a transformer."""
    block = {"@architectures": "spacy.CharacterEmbed.v2", "width": width}
    return build(
        {**block, "rows": 50, "nM": 4, "nC": 3, "include_static_vectors": False}
    )


def make_with_transformer() -> Language:
    nlp = spacy.blank("xx")
    layer = {"@architectures": "tests.Transformer.v1", "width": 16}
    nlp.add_pipe("tok2vec", name="transformer", config={"model": layer})
    pipelines.add(nlp, "tagger", pipelines.LISTENER)
    return nlp


def test_a_transformer_has_nothing_to_convert(tmp_path):
    pipelines.train(make_with_transformer(), steps=1).to_disk(tmp_path / "in")
    match = r"has none.*components.transformer.model: tests.Transformer.v1"
    with pytest.raises(ValueError, match=match):
        convert(tmp_path / "in", tmp_path / "out", TEXTS)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_components_beside_a_transformer_are_converted(tmp_path):
    nlp = make_with_transformer()
    pipelines.add(nlp, "ner", pipelines.cnn())
    pipelines.train(nlp).to_disk(tmp_path / "in")
    result = convert(tmp_path / "in", tmp_path / "out", TEXTS)
    assert result.converted == ["components.ner.model.tok2vec", "nlp.tokenizer"]
    before, after = (load_model(tmp_path / name) for name in ("in", "out"))
    for text in TEXTS:
        assert describe(after(text)) == describe(before(text))
    for name in ("transformer", "tagger"):
        assert after.config["components"][name] == before.config["components"][name]


@pytest.mark.parametrize(
    "embed",
    [
        {"@architectures": "tests.Transformer.v1"},
        {
            "@architectures": "spacy-hashembeds.MultiWeightedHashEmbed.v1",
            **{"attrs": ["NORM"], "rows": [50], "importance_rows": [100]},
            "include_static_vectors": False,
        },
        {
            "@architectures": "spacy-hashembeds.HashFormerEmbed.v1",
            "attrs": ["NORM"],
            "hashers": {"NORM": {"@architectures": "spacy-hashembeds.MD5Hasher.v1"}},
            "compressors": {
                "NORM": {"@architectures": "spacy-hashembeds.ProjCompressor.v1"}
            },
            "include_static_vectors": False,
        },
    ],
    ids=["foreign", "ours", "codes"],
)
def test_an_encoder_is_converted_beside_an_embedding_that_stays(tmp_path, embed):
    nlp = spacy.blank("xx")
    embed = {**embed, "width": 16}
    pipelines.add(nlp, "ner", {**pipelines.tok2vec(), "embed": embed})
    pipelines.train(nlp).to_disk(tmp_path / "in")
    result = convert(tmp_path / "in", tmp_path / "out", TEXTS)
    assert result.converted == [
        "components.ner.model.tok2vec.encode",
        "nlp.tokenizer",
    ]
    assert result.left == {}
    assert 0 < result.max_relative_diff < 1e-5
    with pytest.raises(ValueError, match=r"has ours already.*MaxoutWindowEncoder"):
        convert(tmp_path / "out", tmp_path / "again", TEXTS)


def test_pipelines_without_a_model_are_refused(tmp_path):
    spacy.blank("xx").to_disk(tmp_path / "in")
    with pytest.raises(ValueError, match=r"none \(no trained component"):
        convert(tmp_path / "in", tmp_path / "out", TEXTS)
    with pytest.raises(ValueError, match="'blank:en' should be a saved pipeline"):
        convert("blank:en", tmp_path / "out", TEXTS)


def make_legacy_static(path: Path, other: dict) -> None:
    nlp = spacy.blank("xx")
    pipelines.add_vectors(nlp)
    layer = pipelines.tok2vec("v1", include_static_vectors=True)
    pipelines.add(nlp, "tagger", pipelines.without_our_encoder(layer))
    pipelines.add(nlp, "ner", other)
    pipelines.train(nlp, steps=2).to_disk(path)


def test_one_layer_may_stay_if_another_is_converted(tmp_path):
    make_legacy_static(tmp_path / "in", pipelines.cnn())
    result = convert(tmp_path / "in", tmp_path / "out", TEXTS)
    assert result.converted == ["components.ner.model.tok2vec", "nlp.tokenizer"]
    place = "components.tagger.model.tok2vec.embed"
    assert list(result.left) == [place]
    assert "spacy.MultiHashEmbed.v1 with static vectors" in result.left[place]
    config = load_config(tmp_path / "out" / "config.cfg")
    embed = config["components"]["tagger"]["model"]["tok2vec"]["embed"]
    assert embed["@architectures"] == "spacy.MultiHashEmbed.v1"


def test_only_layers_that_must_stay_are_refused_with_the_reason(tmp_path):
    legacy = pipelines.cnn("v1", pretrained_vectors=True)
    make_legacy_static(tmp_path / "in", legacy)
    tagger = r"components\.tagger\.model\.tok2vec\.embed: spacy\.MultiHashEmbed\.v1"
    ner = r"components\.ner\.model\.tok2vec: spacy\.HashEmbedCNN\.v1"
    # in the order of the config, whose sections older spaCy sorts
    match = f"(?=.*{tagger} with static)(?=.*{ner} with static)"
    with pytest.raises(ValueError, match=match):
        convert(tmp_path / "in", tmp_path / "out", TEXTS)


@pytest.mark.slow
def test_what_is_ours_already_is_refused(folders, tmp_path):
    convert(folders / "bare", tmp_path / "out", TEXTS)
    with pytest.raises(ValueError, match=r"out' has ours already\. It should"):
        convert(tmp_path / "out", tmp_path / "again", TEXTS)


def test_wrong_conversions_are_caught_and_leave_nothing(folders, tmp_path, monkeypatch):
    monkeypatch.setattr(conversion, "MAX_HASHES", 3)
    with pytest.raises(ValueError, match=r"differ"):
        convert(folders / "shared", tmp_path / "out", TEXTS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("component", ["tok2vec", "morphologizer"])
def test_wrong_seeds_are_caught_in_disabled_components_too(
    folders, tmp_path, monkeypatch, component
):
    def load_with_other_seeds(path):
        nlp = load_model(path)
        if path != folders / "shared":
            for node in dict(nlp.components)[component].model.walk():
                if "seed" in node.attrs:
                    node.attrs["seed"] += 1
        return nlp

    monkeypatch.setattr(accelerate_module, "load_trained", load_with_other_seeds)
    with pytest.raises(ValueError, match="differ"):
        convert(folders / "shared", tmp_path / "out", TEXTS)
    assert list(tmp_path.iterdir()) == []


def test_pipelines_with_other_trees_of_layers_are_not_compared(
    folders, tmp_path, monkeypatch
):
    def load_with_a_layer_more(path):
        nlp = load_model(path)
        if path != folders / "shared":
            dict(nlp.components)["morphologizer"].model.layers.append(Linear())
        return nlp

    monkeypatch.setattr(accelerate_module, "load_trained", load_with_a_layer_more)
    with pytest.raises(ValueError, match=r"zip\(\) argument 2 is longer"):
        convert(folders / "shared", tmp_path / "out", TEXTS)
    assert list(tmp_path.iterdir()) == []


def test_texts_without_a_token_are_refused(folders, tmp_path):
    with pytest.raises(ValueError, match="there is none in the 2 texts"):
        convert(folders / "bare", tmp_path / "out", ["", ""])
    assert list(tmp_path.iterdir()) == []


# Folders


@pytest.mark.slow
def test_pipelines_are_replaced_only_by_force_and_when_all_is_well(
    folders, tmp_path, monkeypatch
):
    output = tmp_path / "deep" / "out"
    shutil.copytree(folders / "inside", output)
    old = read_files(output)
    with pytest.raises(FileExistsError, match=r"something in .*deep/out.*--force"):
        convert(folders / "bare", output, TEXTS)
    with monkeypatch.context() as patch:
        patch.setattr(conversion, "MAX_HASHES", 3)
        with pytest.raises(ValueError, match="differ"):
            convert(folders / "bare", output, TEXTS, force=True)
    assert read_files(output) == old
    convert(folders / "bare", output, TEXTS, force=True)
    assert load_model(output).pipe_names == ["tok2vec", "tagger"]
    assert [path.name for path in output.parent.iterdir()] == ["out"]


def test_an_empty_folder_may_be_written_to(folders, tmp_path):
    (tmp_path / "out").mkdir()
    convert(folders / "bare", tmp_path / "out", TEXTS)
    assert load_model(tmp_path / "out").pipe_names == ["tok2vec", "tagger"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_file_is_never_replaced(folders, tmp_path):
    (tmp_path / "out").write_text("years of work")
    for force in (False, True):
        with pytest.raises(FileExistsError, match="out"):
            convert(folders / "bare", tmp_path / "out", TEXTS, force=force)
    assert (tmp_path / "out").read_text() == "years of work"


def test_what_is_no_pipeline_is_never_replaced(folders, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("years of work")
    with pytest.raises(FileExistsError, match=r"has no config.cfg.*remove it yourself"):
        convert(folders / "bare", tmp_path / "out", TEXTS, force=True)
    assert (tmp_path / "out" / "thesis.txt").read_text() == "years of work"


def test_a_project_around_a_pipeline_is_never_replaced(folders, tmp_path):
    output = shutil.copytree(folders / "inside", tmp_path / "out")
    (output / ".git").mkdir()
    (output / "corpus").mkdir()
    (output / "corpus" / "train.spacy").write_text("years of work")
    files = read_files(output)
    with pytest.raises(FileExistsError, match=r"also holds \.git, corpus\. Name"):
        convert(folders / "bare", output, TEXTS, force=True)
    assert read_files(output) == files
    assert (output / ".git").is_dir()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("place", [".", "..", "tok2vec", "new/out"])
def test_the_old_pipeline_is_not_written_to(folders, tmp_path, place):
    source = shutil.copytree(folders / "bare", tmp_path / "in")
    files = read_files(source)
    with pytest.raises(ValueError, match=r"the old one is in '.*in', and stays"):
        convert(source, source / place, TEXTS, force=True)
    assert read_files(source) == files


def test_a_missing_pipeline_is_refused(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        convert(str(tmp_path / "nowhere"), tmp_path / "out", TEXTS)


# BLAS


def use_other_ops(nlp: Language) -> Language:
    set_current_ops(NumpyOps(use_blis=False))
    for _, pipe in nlp.components:
        for node in pipe.model.walk():
            node.ops = NumpyOps(use_blis=False)
    return nlp


@pytest.fixture
def other_ops(monkeypatch) -> Iterator[str]:
    """A callback in place of ours, that changes the ops of a pipeline and of others."""
    name = "tests.use_other_ops.v1"
    registry.callbacks(name, func=lambda: use_other_ops)
    monkeypatch.setattr(conversion, "BLAS", name)
    ops = get_current_ops()
    yield name
    set_current_ops(ops)


def test_pipelines_are_timed_each_with_its_own_blas(
    folders, tmp_path, other_ops, monkeypatch
):
    loaded = []

    def load_in_turns(loaders, docs, *, rounds, progress):
        for _ in progress(range(rounds)):
            for name, load in loaders.items():
                ops = load().get_pipe("tok2vec").model.ops
                loaded.append((name, ops.use_blis))
        return {"before": Speed(1.0, (1.0, 1.0)), "after": Speed(2.0, (2.0, 2.0))}

    monkeypatch.setattr(accelerate_module, "measure_speeds", load_in_turns)
    ops = get_current_ops()
    assert ops.use_blis
    result = accelerate_folder(folders / "bare", tmp_path / "out", TEXTS, rounds=2)
    assert loaded == [("before", True), ("after", False)] * 2
    assert get_current_ops() is ops
    assert result.words_per_second == {"before": 1.0, "after": 2.0}
    assert result.left == {}
    config = load_config(tmp_path / "out" / "config.cfg")
    assert config["nlp"]["after_pipeline_creation"] == {"@callbacks": other_ops}


def test_what_loading_warns_of_is_said_once(folders, tmp_path):
    source = shutil.copytree(folders / "bare", tmp_path / "in")
    meta = json.loads((source / "meta.json").read_text())
    meta["spacy_version"] = ">=2.0.0,<2.1.0"
    (source / "meta.json").write_text(json.dumps(meta))
    with pytest.warns(UserWarning, match=r"\[W095\]") as said:
        accelerate_folder(source, tmp_path / "out", TEXTS, rounds=2)
    assert len(said) == 1


def test_a_callback_of_their_own_stays(folders, tmp_path, other_ops, monkeypatch):
    registry.callbacks("tests.mine.v1", func=lambda: lambda language: language)
    nlp = load_model(folders / "bare")
    nlp.config["nlp"]["after_pipeline_creation"] = {"@callbacks": "tests.mine.v1"}
    nlp.to_disk(tmp_path / "in")
    result = accelerate_folder(tmp_path / "in", tmp_path / "out", TEXTS, rounds=1)
    assert list(result.left) == ["nlp.after_pipeline_creation"]
    assert "tests.mine.v1" in result.left["nlp.after_pipeline_creation"]
    config = load_config(tmp_path / "out" / "config.cfg")
    assert config["nlp"]["after_pipeline_creation"] == {"@callbacks": "tests.mine.v1"}
