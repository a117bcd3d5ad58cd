from pathlib import Path

import numpy as np
import pytest

from lab.trials.scores import COUNTS, evaluate_pipeline, pack_counts, unpack_counts
from spacy_hashembeds.evaluation.counts import score_counts
from spacy_hashembeds.evaluation.evaluate import evaluate_in_depth
from spacy_hashembeds.evaluation.scorer import KINDS
from tests import toy_ner, toy_textcat


@pytest.fixture
def train(tmp_path: Path) -> Path:
    return toy_ner.write_train(tmp_path / "train.spacy")


@pytest.fixture
def test(tmp_path: Path) -> Path:
    return toy_ner.write(tmp_path / "test.spacy", toy_ner.make_test_docs())


def test_the_pipelines_own_scorer_and_its_lost_file_do_not_matter(
    tmp_path, train, test
):
    lost = toy_ner.write_train(tmp_path / "lost.spacy")
    toy_ner.make_ruler({"Oslo": "LOC"}, lost).to_disk(tmp_path / "model")
    lost.unlink()
    scores = evaluate_pipeline(str(tmp_path / "model"), str(test), str(train))
    assert scores["ents_p"] == 1.0
    assert scores["ents_seen_r"] == 0.0
    assert 0 < scores["ents_unseen_r"] < 1


def test_what_is_counted_in_each_document_adds_up_to_the_scores(tmp_path, train, test):
    rules = {"Anna": "PER", "Oslo": "LOC", "Rome": "PER", "in": "LOC"}
    toy_ner.make_ruler(rules, None).to_disk(tmp_path / "model")
    scores = evaluate_pipeline(tmp_path / "model", test, train)
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
    scores = evaluate_pipeline(tmp_path / "model", test, train)
    evaluation = evaluate_in_depth(tmp_path / "model", test, train, samples=9)
    assert 0 < scores["ents_f"] < 1
    for prefix in KINDS.values():
        for key in ("p", "r", "f", "support"):
            assert evaluation[f"{prefix}_{key}"] == scores[f"{prefix}_{key}"]
        for division in ("type", "length"):
            for name, score in scores[f"{prefix}_per_{division}"].items():
                found = evaluation[f"{prefix}_per_{division}"][name]
                assert {key: found[key] for key in score} == score


def test_categories_score_as_for_users(tmp_path):
    train, test = (
        toy_textcat.write(tmp_path / f"{name}.spacy", toy_textcat.make_docs(texts))
        for name, texts in (("train", toy_textcat.TRAIN), ("test", toy_textcat.TEST))
    )
    nlp = toy_textcat.train_textcat(train, exclusive=True)
    nlp.to_disk(tmp_path / "model")
    scores = evaluate_pipeline(tmp_path / "model", test, tmp_path / "unread.spacy")
    evaluation = evaluate_in_depth(tmp_path / "model", test, samples=9)
    assert 0 < scores["cats_acc"] < 1
    for key in scores.keys() - {"cats_per_type"}:
        assert evaluation[key] == scores[key]
    for node in nlp.get_pipe("textcat").model.walk():
        for name in filter(node.has_param, node.param_names):
            node.set_param(name, node.get_param(name) * np.nan)
    nlp.to_disk(tmp_path / "diverged")
    with pytest.raises(ValueError, match=r"diverged' should be numbers.* has nan"):
        evaluate_pipeline(tmp_path / "diverged", test, train)


@pytest.mark.parametrize("shape", [(5, 3, 3), (1, 1, 3), (0, 3, 3)])
def test_counts_are_packed_as_text_and_unpacked(shape):
    counts = np.random.default_rng(0).integers(0, 70_000, shape).astype("int32")
    text = pack_counts(counts)
    assert text.isascii()
    found = unpack_counts(text, shape[1])
    assert (found.shape, found.dtype) == (shape, counts.dtype)
    assert (found == counts).all()


@pytest.mark.parametrize(
    "damage", [lambda text: text[:-8], lambda _: "no base64", lambda _: 7]
)
def test_packed_counts_that_are_damaged_are_refused(damage):
    text = pack_counts(np.ones((4, 3, 3), dtype="int32"))
    with pytest.raises(ValueError, match="those of 3 things, but are '"):
        unpack_counts(damage(text), 3)
    with pytest.raises(ValueError, match="those of 5 things"):
        unpack_counts(text, 5)
