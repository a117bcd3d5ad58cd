from pathlib import Path

import pytest

from lab.trials.scores import COUNTS, score_pipeline, unpack_counts
from spacy_hashembeds.tools.evaluate.evaluate import evaluate_in_depth
from spacy_hashembeds.training.scorer import KINDS, score_counts
from tests import toy_ner


@pytest.fixture
def train(tmp_path: Path) -> Path:
    return toy_ner.write_train(tmp_path / "train.spacy")


@pytest.fixture
def test(tmp_path: Path) -> Path:
    return toy_ner.write(tmp_path / "test.spacy", toy_ner.make_test_docs())


def test_what_is_counted_in_each_document_adds_up_to_the_scores(tmp_path, train, test):
    rules = {"Anna": "PER", "Oslo": "LOC", "Rome": "PER", "in": "LOC"}
    toy_ner.make_ruler(rules, None).to_disk(tmp_path / "model")
    scores, _ = score_pipeline(tmp_path / "model", test, train)
    counts = unpack_counts(scores[COUNTS], len(KINDS))
    # a row for each annotated document, in order
    docs = [doc for doc in toy_ner.read(test) if doc.has_annotation("ENT_IOB")]
    n_gold = counts[:, 0, 0] + counts[:, 0, 2]
    assert n_gold.tolist() == [len(doc.ents) for doc in docs]
    for prefix, total in zip(KINDS.values(), counts.sum(axis=0), strict=True):
        measured = [scores[f"{prefix}_{key}"] for key in "prf"]
        assert score_counts(total).tolist() == measured
        assert total[0] + total[2] == scores[f"{prefix}_support"] > 0


def test_entities_score_as_for_users(tmp_path, train, test):
    toy_ner.make_ruler({"Anna": "PER", "Oslo": "ORG"}, None).to_disk(tmp_path / "model")
    scores, _ = score_pipeline(tmp_path / "model", test, train)
    evaluation = evaluate_in_depth(tmp_path / "model", test, train, samples=9)
    assert 0 < scores["ents_f"] < 1
    for prefix in KINDS.values():
        for key in ("p", "r", "f", "support"):
            assert evaluation[f"{prefix}_{key}"] == scores[f"{prefix}_{key}"]
        for division in ("type", "length"):
            for name, score in scores[f"{prefix}_per_{division}"].items():
                found = evaluation[f"{prefix}_per_{division}"][name]
                assert {key: found[key] for key in score} == score
