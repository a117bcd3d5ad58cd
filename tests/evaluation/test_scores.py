from pathlib import Path

import pytest
from spacy.cli.evaluate import evaluate as spacy_evaluate

from spacy_hashembeds.evaluation.counts import score_counts, unpack_counts
from spacy_hashembeds.evaluation.evaluate import COUNTS, evaluate_pipeline
from spacy_hashembeds.evaluation.scorer import KINDS

from .. import toy_ner


@pytest.fixture
def train(tmp_path: Path) -> Path:
    return toy_ner.write_train(tmp_path / "train.spacy")


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    return toy_ner.write(tmp_path / "dev.spacy", toy_ner.make_test_docs())


@pytest.mark.slow
def test_scores_of_any_pipeline_equal_those_of_spacy_evaluate(tmp_path, train, dev):
    toy_ner.train_ner(train).to_disk(tmp_path / "model")
    scores = evaluate_pipeline(tmp_path / "model", dev, train)
    for prefix, copy in toy_ner.write_copies(dev, train).items():
        expected = spacy_evaluate(str(tmp_path / "model"), copy)
        assert 0 < expected["ents_f"] < 1  # else this would compare little
        for key, value in toy_ner.without_support(scores, prefix).items():
            assert value == expected[key]


def test_the_pipelines_own_scorer_and_its_lost_file_do_not_matter(tmp_path, train, dev):
    lost = toy_ner.write_train(tmp_path / "lost.spacy")
    toy_ner.make_ruler({"Oslo": "LOC"}, lost).to_disk(tmp_path / "model")
    lost.unlink()
    scores = evaluate_pipeline(str(tmp_path / "model"), str(dev), str(train))
    assert scores["ents_p"] == 1.0
    assert scores["ents_seen_r"] == 0.0
    assert 0 < scores["ents_unseen_r"] < 1


def test_the_pipeline_runs_once_over_each_doc(tmp_path, train, dev, monkeypatch):
    toy_ner.make_ruler({"Oslo": "LOC"}, None).to_disk(tmp_path / "model")
    annotated = toy_ner.record_calls(monkeypatch)
    evaluate_pipeline(tmp_path / "model", dev, train)
    texts = [doc.text for doc in toy_ner.make_test_docs()]
    assert [doc.text for _, doc in annotated] == texts


def test_what_is_counted_in_each_document_adds_up_to_the_scores(tmp_path, train, dev):
    rules = {"Anna": "PER", "Oslo": "LOC", "Rome": "PER", "in": "LOC"}
    toy_ner.make_ruler(rules, None).to_disk(tmp_path / "model")
    scores = evaluate_pipeline(tmp_path / "model", dev, train)
    counts = unpack_counts(scores[COUNTS], len(KINDS))
    # a row for each annotated document, in order
    docs = [doc for doc in toy_ner.read(dev) if doc.has_annotation("ENT_IOB")]
    n_gold = counts[:, 0, 0] + counts[:, 0, 2]
    assert n_gold.tolist() == [len(doc.ents) for doc in docs]
    for prefix, total in zip(KINDS.values(), counts.sum(axis=0), strict=True):
        measured = [scores[f"{prefix}_{key}"] for key in "prf"]
        assert score_counts(total).tolist() == measured
        assert total[0] + total[2] == scores[f"{prefix}_support"] > 0


@pytest.mark.parametrize("name", ["dev.spacy", "train.spacy"])
def test_a_missing_corpus_is_refused_with_its_path(tmp_path, train, dev, name):
    toy_ner.make_ruler({"Oslo": "LOC"}, None).to_disk(tmp_path / "model")
    (tmp_path / name).unlink()
    with pytest.raises(FileNotFoundError, match=f"no file or folder .*{name}"):
        evaluate_pipeline(tmp_path / "model", dev, train)


@pytest.mark.parametrize("name", ["dev.spacy", "train.spacy"])
def test_a_damaged_corpus_is_refused_with_its_path(tmp_path, train, dev, name):
    toy_ner.make_ruler({"Oslo": "LOC"}, None).to_disk(tmp_path / "model")
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match=f"'.*{name}.*truncated"):
        evaluate_pipeline(tmp_path / "model", dev, train)
