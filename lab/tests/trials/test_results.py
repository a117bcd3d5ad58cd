import pytest

from lab.tests.calling import call, check_failure, squeeze, succeed
from lab.tests.recorded import write_result, write_seeds
from lab.trials.results import (
    Estimate,
    TrialKey,
    estimate_score,
    read_results,
    select_task,
)


def test_incomparable_results_raise_an_error(tmp_path):
    write_result(tmp_path, "anem", "multi_embed")
    write_result(tmp_path, "wnut17", "multi_embed")
    assert len(read_results(tmp_path)) == 2
    write_result(tmp_path, "anem", "other", corpus_hashes={"train": "x"})
    with pytest.raises(ValueError, match="results on different files of anem"):
        read_results(tmp_path)
    write_result(tmp_path / "both", "anem", "ngrams", 0)
    write_result(tmp_path / "both", "anem", "ngrams", 1, {"cats_acc": 1.0})
    with pytest.raises(ValueError, match="should differ by their seed"):
        read_results(tmp_path / "both")


def test_scores_without_entities_are_none(tmp_path):
    """spaCy's score is 0 or None without gold entities."""
    for seed, value in enumerate((0.0, None)):
        scores = {"ents_seen_support": 0, "ents_seen_f": value}
        write_result(tmp_path, "wnut17", "multi_embed", seed, scores)
    (results,) = read_results(tmp_path).values()
    for result in results:
        assert result.get_score("test", "ents_seen_f") is None
        assert result.get_score("test", "ents_unseen_f") == 0.5
        assert result.get_score("elsewhere", "ents_f") is None
    assert estimate_score(results, "test", "ents_seen_f") is None


def test_trials_are_selected_by_task(tmp_path):
    for seed, accuracy in enumerate((0.75, 0.25)):
        write_result(tmp_path, "ag_news", "ngrams", seed, {"cats_acc": accuracy})
    write_result(tmp_path, "anem", "multi_embed")
    groups = read_results(tmp_path)
    ngrams = TrialKey("ag_news", "ngrams", "default")
    assert list(select_task(groups, "textcat")) == [ngrams]
    assert list(select_task(groups, "ner")) == [("anem", "multi_embed", "default")]
    accuracy = estimate_score(groups[ngrams], "test", "cats_acc")
    assert accuracy == Estimate(mean=0.5, population_sd=0.25, n=2)
    assert estimate_score(groups[ngrams], "dev", "cats_macro_f").mean == 0.5


def test_results_are_collected_once(tmp_path):
    metrics, tables = tmp_path / "metrics", tmp_path / "tables"
    write_seeds(metrics, "multi_embed", [0.3, 0.4])
    result = succeed("collect", metrics, "-o", tables)
    assert "Added 2 results" in result.output
    assert read_results(tables).keys() == read_results(metrics).keys()
    write_result(metrics, "anem", "multi_embed", 1, {"ents_f": 0.1})
    check_failure(call("collect", metrics, "-o", tables), "seed1.json", "--force")
    result = succeed("collect", metrics, "-o", tables, "--force")
    assert "1 replaced, 1 unchanged" in squeeze(result.output)
    (results,) = read_results(tables).values()
    assert [result.get_score("test", "ents_f") for result in results] == [0.3, 0.1]
    write_result(tables, "anem", "multi_embed")
    with pytest.raises(ValueError, match="should differ by their seed"):
        read_results(tables)
