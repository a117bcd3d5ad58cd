"""lab/pages/pairs.py: significance tests of the embedders of docs/results.md."""

import json
import shutil
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import spacy
from scipy.stats import t as student
from scipy.stats import ttest_1samp

from lab.pages.pairs import adjust_p_values
from lab.tests.trial import make_trial
from lab.trials.results import read_results
from lab.trials.scores import COUNTS, evaluate_pipeline, pack_counts
from spacy_hashembeds import evaluate
from tests import toy_ner

LOOKUP, FEWER = ("multi_embed", "equal"), ("multi_fewer_hash_embed", "equal")


@pytest.fixture
def pairs(monkeypatch) -> ModuleType:
    """The script, content with one seed."""
    script = import_module("lab.pages.pairs")
    monkeypatch.setattr(script, "FEWEST_SEEDS", 1)
    return script


def write(
    folder: Path, variant: tuple[str, str], seed: int, metrics: dict, **scores: Any
) -> None:
    """Write results under WNUT 2017's name, with other scores on the test set."""
    names = dict(zip(("embedder", "variant"), variant, strict=True))
    of_test = {**metrics["scores"]["test"], **scores}
    changed = {"dataset": "wnut17", **names, "seed": seed, "scores": {"test": of_test}}
    path = folder.joinpath("wnut17", *variant, f"seed{seed}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**metrics, **changed}), encoding="utf8")


@pytest.fixture
def metrics(trained_root) -> dict[str, Any]:
    return json.loads(make_trial(trained_root).metrics.read_text(encoding="utf8"))


def make_counts(*found: int) -> str:
    """Counts of documents with ten new entities each, of which so many were found."""
    counts = np.zeros((len(found), 3, 3), dtype="int32")
    counts[:, 0, 0] = counts[:, 2, 0] = found
    counts[:, 0, 2] = counts[:, 2, 2] = 10 - np.array(found)
    return pack_counts(counts)


def test_pipelines_are_compared_as_by_evaluate(pairs, metrics, trained_root, tmp_path):
    corpus = trained_root / "corpus" / "demo"
    model = make_trial(trained_root).output / "model-best"
    # one that finds less
    nlp = spacy.load(shutil.copytree(model, tmp_path / "ruined"))
    for node in nlp.get_pipe("tok2vec").model.walk():
        if node.name == "layernorm":
            node.set_param("G", node.get_param("G") * 0)
    nlp.to_disk(tmp_path / "ruined")
    paths = (corpus / "test.spacy", corpus / "train.spacy")
    ruined = evaluate_pipeline(tmp_path / "ruined", *paths)
    write(tmp_path / "results", LOOKUP, 1, metrics)
    write(tmp_path / "results", FEWER, 1, metrics, **ruined)
    (found,) = pairs.compare_pairs(read_results(tmp_path / "results"))
    golds, train = map(toy_ner.read, paths)
    expected = evaluate(spacy.load(model), golds, train=train, against=nlp)
    for kind, difference in found["differences"].items():
        f1 = expected["comparison"][kind]["f"]
        assert difference["difference"] == pytest.approx(f1["difference"])
        assert difference["p_value"] == f1["p_value"]
    assert found["differences"]["all"]["difference"] > 0


def test_p_over_seeds_is_that_of_welch(pairs, metrics, tmp_path):
    # F1 of recall alone, 2r / (1 + r), with two documents of ten entities
    found = {LOOKUP: [(5, 1), (7, 3), (9, 9)], FEWER: [(1, 1), (3, 1), (2, 2)]}
    for variant, seeds in found.items():
        for seed, counts in enumerate(seeds):
            write(tmp_path, variant, seed, metrics, **{COUNTS: make_counts(*counts)})
    (pair,) = pairs.compare_pairs(read_results(tmp_path))
    samples = [
        [2 * sum(counts) / (20 + sum(counts)) for counts in seeds]
        for seeds in found.values()
    ]
    (m, n), (v, w) = np.mean(samples, axis=1), np.var(samples, axis=1, ddof=1) / 3
    freedom = (v + w) ** 2 / (v**2 / 2 + w**2 / 2)
    expected = 2 * student.sf(abs(m - n) / (v + w) ** 0.5, freedom)
    assert pair["differences"]["all"]["seeds_p_value"] == pytest.approx(expected)
    for variant in found:  # equal seeds have nothing to test
        write(tmp_path / "equal", variant, 0, metrics, **{COUNTS: make_counts(1, 1)})
    (pair,) = pairs.compare_pairs(read_results(tmp_path / "equal"))
    assert pair["differences"]["all"]["seeds_p_value"] == 1


def test_what_has_no_seed_stands_beside_each(pairs, metrics, tmp_path):
    ours = [(5, 1), (7, 3), (9, 9)]
    for seed, counts in enumerate(ours):
        of_test = {COUNTS: make_counts(*counts)}
        write(tmp_path, ("subword_token_ner", "joined"), seed, metrics, **of_test)
    write(tmp_path, ("crf", "default"), 0, metrics, **{COUNTS: make_counts(3, 1)})
    (pair,) = pairs.compare_pairs(read_results(tmp_path))
    f1s = [2 * sum(counts) / (20 + sum(counts)) for counts in ours]
    assert pair["seeds"] == [0, 1, 2]
    expected = ttest_1samp(f1s, 2 * 4 / 24).pvalue
    assert pair["differences"]["all"]["seeds_p_value"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("p_values", "expected"),
    [
        # that of Wikipedia's "Holm-Bonferroni method", and R's p.adjust(…, "holm")
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.01, 0.02, 0.03, 0.04, 0.05], [0.05, 0.08, 0.09, 0.09, 0.09]),
        ([0.6, 0.02, 0.9], [1.0, 0.06, 1.0]),
        ([0.2], [0.2]),
        ([], []),
    ],
)
def test_p_values_are_adjusted_as_by_holm(p_values, expected):
    assert adjust_p_values(p_values) == pytest.approx(expected)
