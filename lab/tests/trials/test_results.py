import pytest

from lab.tests.recorded import write_categories, write_result
from lab.trials.results import (
    Estimate,
    TrialKey,
    estimate_score,
    read_results,
    select_task,
)
from spacy_hashembeds.tools.evaluate.categories import SCORES


def test_what_can_not_be_compared_is_refused(tmp_path):
    write_result(tmp_path, "anem", "multi_embed", "default")
    write_result(tmp_path, "wnut17", "multi_embed", "default")
    assert len(read_results(tmp_path)) == 2
    write_result(
        tmp_path, "anem", "multi_hash_embed", "default", corpus_hashes={"train": "x"}
    )
    with pytest.raises(ValueError, match="results on different files of anem"):
        read_results(tmp_path)
    write_categories(tmp_path / "both", "anem", "ngrams", "default", 0)
    write_result(tmp_path / "both", "anem", "ngrams", "default", 1)
    with pytest.raises(ValueError, match="their task, embedding"):
        read_results(tmp_path / "both")


def test_scores_of_nothing_are_none(tmp_path):
    """SpaCy has 0 for wrong predictions where there is nothing to find, or None."""
    scores = {
        "dev": {"ents_seen_support": 0, "ents_seen_f": 0.0},
        "test": {"ents_seen_support": 0, "ents_seen_f": None},
    }
    write_result(tmp_path, "wnut17", "multi_embed", "default", scores=scores)
    ((result,),) = read_results(tmp_path).values()
    assert result.scores["dev"]["ents_seen_f"] is None
    assert result.scores["test"]["ents_seen_f"] is None
    assert result.scores["test"]["ents_unseen_f"] == 0.5
    assert estimate_score([result], "test", "ents_seen_f") is None


def test_trials_of_text_classifiers_are_read_and_told_apart(tmp_path):
    for seed, accuracy in enumerate((0.75, 0.25)):
        scores = {"cats_acc": accuracy}
        write_categories(tmp_path, "ag_news", "ngrams", "default", seed, scores)
    write_result(tmp_path, "anem", "multi_embed", "default")
    groups = read_results(tmp_path)
    ngrams = TrialKey("ag_news", "ngrams", "default")
    assert list(select_task(groups, "textcat")) == [ngrams]
    assert list(select_task(groups, "ner")) == [("anem", "multi_embed", "default")]
    assert {result.task for result in groups[ngrams]} == {"textcat"}
    accuracy = estimate_score(groups[ngrams], "test", "cats_acc")
    assert accuracy == Estimate(mean=0.5, deviation=0.25, n=2)
    assert groups[ngrams][0].scores["dev"].keys() == set(SCORES)
