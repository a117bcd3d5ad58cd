"""lab/pages/misspellings.py: trained pipelines on misspelt test sets."""

import json
import shutil
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from lab.corpora.misspellings import misspell
from lab.pages import misspellings as script
from spacy_hashembeds import evaluate
from spacy_hashembeds.evaluation.scorer import KINDS

VARIANT = ("wnut17", "multi_embed", "equal")


@pytest.fixture(scope="module")
def folder(trained_root, tmp_path_factory) -> Path:
    """A variant of which seed 0 is done, seed 1 is trained, and seed 2 is gone."""
    root = tmp_path_factory.mktemp("sweep")
    shutil.copytree(trained_root / "corpus" / "demo", root / "corpus" / "wnut17")
    trained = next(trained_root.rglob("model-best"))
    for seed in (0, 1):
        model = root.joinpath("training", *VARIANT, f"seed{seed}", "model-best")
        shutil.copytree(trained, model)
    for seed in (0, 2):
        metrics = root.joinpath("metrics", *VARIANT, f"seed{seed}.json")
        metrics.parent.mkdir(parents=True, exist_ok=True)
        metrics.write_text("{}", encoding="utf8")
    return root


def read(folder: Path, split: str) -> list[Doc]:
    docs = DocBin().from_disk(folder / "corpus" / "wnut17" / f"{split}.spacy")
    return list(docs.get_docs(Vocab()))


def test_pipelines_that_are_done_score_as_by_evaluate(folder):
    (found,) = script.measure(folder)
    assert (found["dataset"], found["embedder"], found["variant"]) == VARIANT
    assert found["seed"] == 0
    nlp = spacy.load(folder.joinpath("training", *VARIANT, "seed0", "model-best"))
    golds = read(folder, "test")
    options = {"train": read(folder, "train"), "samples": 9, "show_progress": False}
    expected = evaluate(nlp, golds, **options)
    assert set(found["scores"]) == {"all", "seen", "unseen"}
    for kind, prefix in KINDS.items():
        for key in "prf":
            assert found["scores"][kind][key] == expected[f"{prefix}_{key}"]
    assert len(found["misspelt"]) == len(script.SEEDS) == 3
    for seed, scores in zip(script.SEEDS, found["misspelt"], strict=True):
        expected = evaluate(nlp, misspell(golds, seed=seed), **options)
        assert set(scores) == {"all", "seen", "unseen"}
        for key in "prf":
            assert scores["all"][key] == expected[f"ents_{key}"]
    assert found["misspelt"][0] != found["scores"]


def test_new_scores_take_the_place_of_old_ones(tmp_path):
    def make(variant, seed, score):
        names = {"dataset": "wnut17", "embedder": "multi_embed", "variant": variant}
        return {**names, "seed": seed, "scores": score}

    old = [make("tenth", 0, 1), make("equal", 1, 2)]
    path = tmp_path / "rows.json"
    assert script.record(old, path) == old[::-1]
    rows = script.record([make("equal", 0, 3), make("equal", 1, 4)], path)
    assert rows == [make("equal", 0, 3), make("equal", 1, 4), make("tenth", 0, 1)]
    text = path.read_text(encoding="utf8")
    assert json.loads(text) == rows
    assert len(text.splitlines()) == 2 + len(rows)
