"""Trained pipelines, compared before and after conversion."""

import json
import shutil
from functools import partial
from typing import Any

import pytest
from spacy.tokens import Doc
from spacy.util import load_config, load_model, registry
from thinc.api import Linear, get_current_ops

from spacy_hashembeds.acceleration import accelerate as accelerate_module
from spacy_hashembeds.acceleration import blas, conversion
from spacy_hashembeds.acceleration.accelerate import AccelerationReport
from spacy_hashembeds.acceleration.blas import NUMPY_BLAS_OPS
from spacy_hashembeds.acceleration.conversion import find_convertible
from spacy_hashembeds.acceleration.in_memory import accelerate
from spacy_hashembeds.acceleration.timing import Spread

from .accelerate_pipelines import TEXTS, read_files

accelerate_folder = accelerate_module.accelerate_folder
convert = partial(accelerate_folder, blas=False)


def describe(doc: Doc) -> dict:
    described = doc.to_json()
    described["cats"] = {key: round(value, 4) for key, value in doc.cats.items()}
    described["norms"] = [token.norm_ for token in doc]
    described["ids"] = [(ent.ent_id_, ent.kb_id_) for ent in doc.ents]
    return described


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shared", "foreign", "variables"])
def test_predictions_are_equal_from_disk_and_in_memory(saved, tmp_path, name):
    source, output = saved(name), tmp_path / "out"
    files = read_files(source)
    result = convert(source, output, TEXTS)
    assert (result.left, result.unchecked, result.texts) == ({}, [], len(TEXTS))
    assert 0 < result.max_relative_diff < 1e-5
    assert read_files(source) == files
    new_files = read_files(output)
    assert new_files.keys() == files.keys()
    changed = {path for path in files if new_files[path] != files[path]}
    assert changed == {"config.cfg"}
    assert find_convertible(load_config(output / "config.cfg")) == ([], {})

    before, after = load_model(source), load_model(output)
    state = before.to_bytes()
    done = accelerate(before, TEXTS, blas=False)
    assert before.to_bytes() == state
    assert done.converted == result.converted
    after.to_disk(tmp_path / "again")
    done.nlp.to_disk(tmp_path / "memory")
    assert read_files(tmp_path / "memory") == read_files(tmp_path / "again")
    docs = [*before.pipe(TEXTS)]
    assert any(doc.ents or doc.cats or doc.has_annotation("TAG") for doc in docs)
    for new in (after, done.nlp):
        assert new.component_names == before.component_names
        assert new.disabled == before.disabled
        assert [*map(describe, new.pipe(TEXTS))] == [*map(describe, docs)]


def change_seeds(component: Any) -> None:
    for node in component.model.walk():
        if "seed" in node.attrs:
            node.attrs["seed"] += 1


def add_layer(component: Any) -> None:
    component.model.layers.append(Linear())


@pytest.mark.parametrize(
    ("change", "match"),
    [(change_seeds, "differ"), (add_layer, r"zip\(\) argument 2 is longer")],
)
def test_wrong_conversions_are_errors_also_in_disabled_components(
    saved, tmp_path, monkeypatch, change, match
):
    source = saved("shared")

    def load_with_change(path):
        nlp = load_model(path)
        if path != source:
            change(dict(nlp.components)["morphologizer"])
        return nlp

    monkeypatch.setattr(accelerate_module, "load_trained", load_with_change)
    with pytest.raises(ValueError, match=match):
        convert(source, tmp_path / "out", TEXTS)
    assert list(tmp_path.iterdir()) == []


def test_only_force_replaces_pipelines_if_checks_pass(saved, tmp_path, monkeypatch):
    output = tmp_path / "deep" / "out"
    shutil.copytree(saved("inside"), output)
    old = read_files(output)
    with pytest.raises(FileExistsError, match=r"deep/out' exists.*--force"):
        convert(saved("bare"), output, TEXTS)
    with monkeypatch.context() as patch:
        patch.setattr(conversion, "MAX_HASHES", 3)
        with pytest.raises(ValueError, match="differ"):
            convert(saved("bare"), output, TEXTS, force=True)
    assert read_files(output) == old
    convert(saved("bare"), output, TEXTS, force=True)
    assert load_model(output).pipe_names == ["tok2vec", "tagger"]
    assert [path.name for path in output.parent.iterdir()] == ["out"]


def test_each_pipeline_is_timed_with_its_blas(saved, tmp_path, monkeypatch):
    loaded = []

    def load_in_turns(loaders, docs, *, rounds, progress):
        for _ in progress(range(rounds)):
            for name, load in loaders.items():
                ops = load().get_pipe("tok2vec").model.ops
                loaded.append((name, ops is NUMPY_BLAS_OPS))
        return {"before": Spread(1.0, (1.0, 1.0)), "after": Spread(2.0, (2.0, 2.0))}

    monkeypatch.setattr(accelerate_module, "measure_speeds", load_in_turns)
    monkeypatch.setattr(blas, "is_numpy_faster", lambda: True)
    folders = [saved("bare"), *(tmp_path / name for name in ("layers", "all", "copy"))]
    layers = convert(*folders[:2], TEXTS, rounds=1)
    assert "Little to gain" not in str(layers)
    assert loaded == [("before", False), ("after", False)]
    ops = get_current_ops()
    result = accelerate_folder(*folders[1:3], TEXTS, rounds=2)
    assert loaded[2:] == [("before", False), ("after", True)] * 2
    assert get_current_ops() is ops
    assert result.words_per_second == {"before": 1.0, "after": 2.0}
    assert result.converted == ["nlp.after_pipeline_creation"]
    assert "Little to gain" in str(result)
    done = accelerate_folder(*folders[2:], TEXTS)
    assert (done.converted, done.texts) == ([], 0)
    assert "Nothing to convert" in str(done)


def test_other_callbacks_are_kept_and_warnings_shown_once(saved, tmp_path):
    source = shutil.copytree(saved("bare"), tmp_path / "in")
    registry.callbacks("tests.callback.v1", func=lambda: lambda nlp: nlp)
    config = load_config(source / "config.cfg")
    callback = {"@callbacks": "tests.callback.v1"}
    config["nlp"]["after_pipeline_creation"] = callback
    config.to_disk(source / "config.cfg")
    meta = json.loads((source / "meta.json").read_text())
    meta["spacy_version"] = ">=2.0.0,<2.1.0"
    (source / "meta.json").write_text(json.dumps(meta))
    with pytest.warns(UserWarning, match=r"\[W095\]") as said:
        result = accelerate_folder(source, tmp_path / "out", TEXTS, rounds=2)
    assert len(said) == 1
    assert [*result.left] == ["nlp.after_pipeline_creation"]
    config = load_config(tmp_path / "out" / "config.cfg")
    assert config["nlp"]["after_pipeline_creation"] == callback


def test_reports_are_shown_as_text_and_in_notebooks():
    done = AccelerationReport(
        converted=["components.<script>.model"],
        left={"components.ner.model": "it has 1 & 2"},
        texts=1234,
        tokens=56_789,
        unchecked=["tagger"],
        max_relative_diff=5.4321e-06,
        words_per_second={"before": 10_000.0, "after": 24_000.0},
        words_per_second_quartiles={"before": (9.5e3, 1.02e4), "after": (2.3e4, 2.5e4)},
        component_times={
            "before": {"tagger": 1.25, "ner": 90.06},
            "after": {"tagger": 1.25, "ner": 30.0},
        },
    )
    rows = [line.split() for line in str(done).splitlines() if line.strip()]
    assert [(row[0], *row[-2:]) for row in rows[-5:]] == [
        ("Words/s", "10,000", "24,000"),
        ("Quartiles", "9,500..10,200", "23,000..25,000"),
        ("Ratio", "Ratio", "2.40"),
        ("ner", "90.1", "30.0"),
        ("tagger", "1.2", "1.2"),
    ]
    assert "Converted components.&lt;script&gt;.model" in done._repr_html_()
