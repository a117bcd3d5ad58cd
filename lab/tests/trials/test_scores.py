from lab.trials.scores import COUNTS, score_pipeline, unpack_counts
from spacy_hashembeds.training.scorer import KINDS, score_counts
from tests import toy_ner


def test_scores_follow_from_the_sum_of_counts(tmp_path):
    train = toy_ner.write_train(tmp_path / "train.spacy")
    test = toy_ner.write(tmp_path / "test.spacy", toy_ner.make_test_docs())
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
