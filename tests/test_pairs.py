"""docs/pairs.py: tests of significance between the embedders of docs/results.md."""

import shutil
from pathlib import Path
from types import ModuleType

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_hashembeds import evaluate

from .conftest import ROOT, load_script

LOOKUP, FEWER = ("multi_embed", "equal"), ("multi_fewer_hash_embed", "equal")


@pytest.fixture(scope="module")
def pairs() -> ModuleType:
    return load_script(ROOT / "docs/pairs.py")


@pytest.fixture(scope="module")
def folder(trained_root, tmp_path_factory) -> Path:
    """Two variants on WNUT 2017's name, of which both have seed 1 alone."""
    root = tmp_path_factory.mktemp("sweep")
    shutil.copytree(trained_root / "corpus" / "demo", root / "corpus" / "wnut17")
    trained = next(trained_root.rglob("model-best"))
    for variant, seeds in ((LOOKUP, (0, 1)), (FEWER, (1, 2))):
        for seed in seeds:
            metrics = root.joinpath("metrics", "wnut17", *variant, f"seed{seed}.json")
            metrics.parent.mkdir(parents=True, exist_ok=True)
            metrics.write_text("{}", encoding="utf8")
            model = root.joinpath("training", "wnut17", *variant, f"seed{seed}")
            shutil.copytree(trained, model / "model-best")
    # a pipeline that finds less than the other
    ruined = root.joinpath("training", "wnut17", *FEWER, "seed1", "model-best")
    nlp = spacy.load(ruined)
    for node in nlp.get_pipe("tok2vec").model.walk():
        if node.name == "layernorm":
            node.set_param("G", node.get_param("G") * 0)
    nlp.to_disk(ruined)
    return root


def read(folder: Path, split: str) -> list[Doc]:
    docs = DocBin().from_disk(folder / "corpus" / "wnut17" / f"{split}.spacy")
    return list(docs.get_docs(Vocab()))


def test_one_seed_is_compared_as_by_evaluate(pairs, folder):
    (found,) = pairs.compare_pairs(folder)
    assert found["dataset"] == "wnut17"
    assert (found["first"], found["second"]) == (list(LOOKUP), list(FEWER))
    assert found["seeds"] == [1]
    models = [
        spacy.load(folder.joinpath("training", "wnut17", *v, "seed1", "model-best"))
        for v in (LOOKUP, FEWER)
    ]
    golds, train = read(folder, "test"), read(folder, "train")
    expected = evaluate(models[0], golds, train=train, against=models[1])["comparison"]
    for kind, difference in found["differences"].items():
        f1 = expected[kind]["f"]
        assert difference["difference"] == pytest.approx(f1["difference"])
        assert difference["p_value"] == f1["p_value"]
    assert found["differences"]["all"]["difference"] > 0


def test_new_comparisons_take_the_place_of_old_ones(pairs):
    def make(dataset, seeds):
        return {"dataset": dataset, "first": LOOKUP, "second": FEWER, "seeds": seeds}

    old = [make("wnut17", [0]), make("anem", [0])]
    found = pairs.update_pairs(old, [make("wnut17", [0, 1])])
    assert found == [make("wnut17", [0, 1]), make("anem", [0])]
