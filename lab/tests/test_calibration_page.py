"""lab/pages/calibration.py: trained pipelines, calibrated; and its table in ner.md."""

from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from spacy.tokens import DocBin

from lab.pages import calibration as script
from lab.pages.markdown import read_measured
from lab.pages.results import fill
from lab.trials.results import TrialKey
from spacy_hashembeds.components.decoding import BIASES
from spacy_hashembeds.components.platt import calibrate, fit_calibration
from spacy_hashembeds.evaluation.reliability import measure_calibration
from tests import toy_ner
from tests.components.toy_recognizers import make_pipeline, train

TRIAL = ("wnut17", "subword_token_ner", "joined")


def test_the_table_of_the_page_is_that_of_the_measurements():
    rows = read_measured(script.CALIBRATION)
    text = fill(script.PAGE, {"calibration": script.make_table(rows)})
    assert text == script.PAGE.read_text(encoding="utf8")


def test_what_balancing_gives_is_what_was_measured(groups):
    rows = read_measured(script.CALIBRATION)
    balanced = [row for row in rows if "balance" in row]
    found = [row["balance"] for row in balanced if row["dataset"] == TRIAL[0]]
    others = [row["balance"] for row in balanced if row["dataset"] != TRIAL[0]]
    page = " ".join(script.PAGE.read_text(encoding="utf8").split())
    biases = " and ".join(f"{each['bias']:g}" for each in found)
    validated = zip(*(each["dev"] for each in found), strict=True)
    trained = (
        [r.scores["test"]["ents_f"] for r in groups[TrialKey(*TRIAL[:2], variant)]]
        for variant in ("joined", "joined_balanced")
    )
    for f1, said in (
        (validated, f", cross-validated as above (two seeds, with {biases})"),
        (trained, " on test data (five seeds); elsewhere it stays 0"),
    ):
        before, after = (f"{100 * fmean(values):.1f}" for values in f1)
        assert f"of {after} for {before}{said}" in page
    assert len(found) == 2
    assert {each["bias"] for each in others} == {0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A trained pipeline, and others that are not done or no recommended ones."""
    root = tmp_path_factory.mktemp("sweep")
    nlp = train(make_pipeline(), steps=15)
    nlp.get_pipe("token_ner").cfg["calibration"] = (0.5, 0.5)  # fitted anew
    for parts in ((*TRIAL, "seed0"), (*TRIAL, "seed1"), (*TRIAL[:2], "other", "seed0")):
        model = root.joinpath("training", *parts, "model-best")
        model.parent.mkdir(parents=True)
        nlp.to_disk(model)
        if parts[-1] == "seed0":
            metrics = root.joinpath("metrics", *parts).with_suffix(".json")
            metrics.parent.mkdir(parents=True)
            metrics.write_text("{}", encoding="utf8")
    (root / "corpus" / "wnut17").mkdir(parents=True)
    for split, n in (("dev", 30), ("test", 5)):
        docs = [toy_ner.make_doc(text) for text in toy_ner.TEST * n]
        DocBin(docs=docs).to_disk(root / "corpus" / "wnut17" / f"{split}.spacy")
    return root


def test_a_pipeline_is_measured_on_development_and_test_data(folder):
    (row,) = script.measure(folder)
    assert (row["dataset"], row["embedder"], row["variant"]) == TRIAL
    assert row["seed"] == 0
    for split in ("dev", "test"):
        part = row[split]
        assert 0 <= part["after"] < part["before"]
        assert 0 < part["precision"] < 1
    assert row["dev"]["entities"] == 6 * row["test"]["entities"] > 0
    balance = row["balance"]
    assert balance["dev"][0] == pytest.approx(balance["test"][0])  # the same texts
    assert balance["bias"] in BIASES
    table = script.make_table([row]).splitlines()
    assert len(table) == 3
    assert table[2].startswith("| WNUT 2017 | 1 |")


def test_a_part_is_balanced_by_what_others_choose():
    """All others gain by a bias of 1, and one loses."""
    counts = np.zeros((5, len(BIASES), 3), dtype=int)
    counts[:] = [40, 80, 80]
    counts[1:, BIASES.index(1)] = [60, 80, 80]
    counts[0, BIASES.index(1)] = [0, 80, 80]
    found = script.balance(counts, counts[0])
    assert found["bias"] == 1
    assert found["dev"] == [0.5, 0.6]
    assert found["test"] == [0.5, 0.0]


def make_part(seed: int):
    state = np.random.default_rng(seed)
    scores = state.uniform(0.05, 0.99, size=40)
    return scores, state.random(40) < scores**3


def test_each_part_is_calibrated_by_what_others_give(monkeypatch):
    monkeypatch.setattr(script, "N_DIVISIONS", 1)
    parts = [make_part(seed) for seed in range(5)]  # as many as folds
    errors = []
    for i, (scores, is_right) in enumerate(parts):
        fitted = fit_calibration(*script.join(parts[:i] + parts[i + 1 :]))
        errors += zip(calibrate(np.log(scores), fitted), is_right, strict=True)
    found = script.cross_validate(parts)
    expected = measure_calibration(*zip(*errors, strict=True))["error"]
    assert found["after"] == pytest.approx(expected)
    scores, is_right = script.join(parts)
    assert found["before"] == measure_calibration(scores, is_right)["error"]


def test_scores_that_are_exact_show_what_is_chance():
    scores = np.full(400, 0.5)
    found = script.compare_scores((scores, scores > 0), [scores] * 50)
    # the mean distance of a share of 400 draws from a half: that of a normal deviate
    assert found["chance"] == pytest.approx(0.025 * (2 / np.pi) ** 0.5, rel=0.1)
