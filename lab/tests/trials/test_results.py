import json
import re
from typing import Any

import pytest

from lab.tests.recorded import (
    ENTITIES,
    SETTING,
    SIZES,
    change_result,
    write_categories,
    write_result,
)
from lab.tests.trial import make_trial
from lab.trials.results import (
    Estimate,
    PartScore,
    TrialKey,
    estimate,
    estimate_score,
    find_misnamed,
    read_results,
    select_task,
)
from spacy_hashembeds.evaluation.categories import SCORES


def test_what_a_real_trial_wrote_is_read(trained_root):
    trial = make_trial(trained_root)
    recorded = json.loads(trial.metrics.read_text())
    groups = read_results(trained_root / "metrics")
    ((key, (result,)),) = groups.items()
    assert key == ("demo", "multi_fewer_hash_embed", "default")
    assert (result.seed, result.recorded) == (0, recorded)
    assert result.overrides == recorded["overrides"]
    for split, scores in recorded["scores"].items():
        assert len(result.scores[split]) == 9
        assert result.scores[split].items() <= scores.items()
        for part, names in result.parts[split].items():
            assert names == {
                name: (each["f"] if each["support"] else None, each["support"])
                for name, each in scores[f"ents_per_{part}"].items()
            }
        assert sum(s.support for s in result.parts[split]["length"].values()) > 0
    assert result.words_per_second == recorded["timings"]["words_per_second"]
    for name in ("pipeline_parameters", "mixing_parameters", "bytes_on_disk"):
        assert getattr(result, name) == recorded["sizes"][name]


def test_seeds_are_grouped_in_order(tmp_path):
    for seed in (10, 2, 0):
        write_result(tmp_path, "anem", "multi_embed", "default", seed)
    write_result(tmp_path, "anem", "multi_embed", "min_freq1", 7)
    groups = read_results(tmp_path)
    assert [r.seed for r in groups[TrialKey("anem", "multi_embed", "default")]] == [
        0,
        2,
        10,
    ]
    assert len(groups) == 2


def test_files_skipped_for_their_names_are_found(tmp_path):
    path = write_result(tmp_path, "anem", "multi_embed", "default")
    (tmp_path / "anem/comparison.json").write_text("no result")
    misnamed = ("seed-1.json", "seed0.failed.json", "seed\N{SUPERSCRIPT TWO}.json")
    others = (".seed1-abc.json", "importance.json", "attention.json", "ablation.json")
    for name in (*misnamed, *others, "notes.txt"):
        path.with_name(name).write_text("no result")
    assert find_misnamed(tmp_path) == sorted(map(path.with_name, misnamed))
    assert len(read_results(tmp_path)) == 1


def test_no_results_and_no_folder_are_errors(tmp_path):
    message = r"no results in '.*Give the folder 'metrics' .*VARIANT/seedN\.json, or"
    with pytest.raises(FileNotFoundError, match=message):
        read_results(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"There is no folder '.*nowhere'"):
        read_results(tmp_path / "nowhere")


BROKEN = "should hold the results of a trial, but is damaged or of another kind"


def score(**values: Any) -> dict[str, Any]:
    """Results with other scores of entities."""
    return {"scores": {"test": {**ENTITIES, **values}}}


def classify(**values: Any) -> dict[str, Any]:
    """Results with other scores of categories."""
    return {"scores": {"test": {**dict.fromkeys(SCORES, 0.5), **SETTING, **values}}}


def weigh(**values: Any) -> dict[str, Any]:
    """Results with other sizes."""
    return {"sizes": {**SIZES, **values}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (b"", f"{BROKEN}: Expecting value.* If it is of a trial, run that again"),
        (b"null", "it should be an object, but is None"),
        (b"\x89PNG\r\n\x1a\n\x00", "can't decode byte 0x89"),
        ({"dataset": ["anem"]}, "'dataset': "),
        ({"variant": "a/b"}, "'variant': "),
        ({"embedder": ".."}, "'embedder': "),
        ({"joined": None}, "'joined': "),
        ({"joined": {"test": {"x": {}}}}, r"'joined\.test\.x\."),
        ({"joined": {"test": {"1": {"ents_f": 2}}}}, r"'joined\.test\.1\.ents_f': "),
        ({"variant": "x" * 10**6}, "but holds the results of 'anem/multi_embed/x"),
        ({"seed": True}, "'seed': "),
        ({"corpus_hashes": None}, "'corpus_hashes': "),
        ({"model": None}, "'model': "),
        (weigh(embedding_parameters=-1), r"'sizes\.embedding_parameters': "),
        (weigh(bytes_on_disk=None), r"'sizes\.bytes_on_disk': "),
        (weigh(pipeline_parameters=0.5), r"'sizes\.pipeline_parameters': "),
        *(
            ({"timings": {"words_per_second": speed}}, r"'timings\.words_per_second': ")
            for speed in (-1, True, None, 1e300)
        ),
        ({"scores": {}}, "'scores': "),
        ({"scores": {"test": [0.5]}}, r"'scores\.test': "),
        ({"scores": {"test": {}}}, "'support': "),
        *((score(ents_f=value), r"'scores\.ents_f': ") for value in (1.5, -0.1)),
        (score(ents_f=None), "'ents_f' should be a number, but is missing"),
        (score(ents_per_type={"PER": None}), "'PER': "),
        (score(ents_per_length={"1": {"f": 0.5}}), "'support': "),
        (score(ents_per_length={"1": {"f": 2, "support": 2}}), r"'scores\.f': "),
        (classify(cats_acc=1.5), r"'scores\.cats_acc': "),
        (classify(cats_support=None), "'support': "),
        (classify(cats_exclusive=1), "should be a valid boolean"),
        ({"scores": {"dev": ENTITIES, **classify()["scores"]}}, "all splits should be"),
    ],
)
def test_what_is_damaged_is_named(change, message, tmp_path):
    path = write_result(tmp_path, "anem", "multi_embed", "default")
    if isinstance(change, bytes):
        path.write_bytes(change)
    else:
        change_result(path, change)
    with pytest.raises(ValueError, match=message) as error:
        read_results(tmp_path)
    assert str(error.value).startswith(f"'{path}' should ")
    assert len(str(error.value)) < 500 + len(str(path))


@pytest.mark.parametrize(
    "change", [{"dataset": "wnut17"}, {"variant": "rows10"}, {"seed": 1}]
)
def test_a_result_under_another_name_is_refused(change, tmp_path):
    change_result(write_result(tmp_path, "anem", "multi_embed", "default"), change)
    with pytest.raises(ValueError, match="should be named after its trial, but holds"):
        read_results(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"overrides": {"a.b": 0}}, "'overrides' is {'a.b': 0} and {}. Give one a"),
        ({"overrides": {"a.b": "x" * 10**6}}, "'overrides' is {'a.b': 'xx"),
        ({"sizes": {**SIZES, "embedding_parameters": 3}}, "parameters' is 3 and 1000"),
    ],
)
def test_what_can_not_be_averaged_is_refused(change, message, tmp_path):
    for seed, changes in enumerate(({}, change)):
        write_result(tmp_path, "anem", "multi_embed", "default", seed, **changes)
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        read_results(tmp_path)
    assert "should differ by their seed alone" in str(error.value)
    assert len(str(error.value)) < 1000


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
    with pytest.raises(ValueError, match="'task' is 'ner' and 'textcat'"):
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


def test_documents_and_splits_that_are_not_there_have_no_score(tmp_path):
    scores = {**dict.fromkeys(SCORES), "cats_support": 0}
    write_categories(tmp_path, "ag_news", "ngrams", "default", scores=scores)
    path = write_result(tmp_path, "demo", "multi_embed", "default")
    change_result(path, {"scores": {"dev": ENTITIES}})
    (texts,), (entities,) = read_results(tmp_path).values()
    assert texts.scores["test"]["cats_acc"] is None
    assert estimate_score([entities], "test", "ents_f") is None
    assert estimate_score([entities], "dev", "ents_f") == Estimate(mean=0.5, n=1)


def test_one_seed_has_no_deviation_and_none_no_mean():
    assert estimate([0.25]) == Estimate(mean=0.25, deviation=None, n=1)
    assert estimate([]) is None
    assert estimate([0.5, None]) is None
    assert estimate_score([], "test", "ents_f") is None


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


def test_scores_by_type_and_length_need_not_be_there(tmp_path):
    """Earlier trials have none by length; where nothing is found, spaCy has None."""
    score = {"p": 0.0, "r": 0.0, "f": 0.25, "support": 3}
    scores = {
        "dev": {"ents_per_type": None},
        "test": {"ents_per_type": {"PER": score, "LOC": {**score, "support": 0}}},
    }
    write_result(tmp_path, "wnut17", "multi_embed", "default", scores=scores)
    ((result,),) = read_results(tmp_path).values()
    assert result.parts["dev"] == {"type": {}, "length": {}}
    types = {"PER": PartScore(0.25, 3), "LOC": PartScore(None, 0)}
    assert result.parts["test"] == {"type": types, "length": {}}
    assert (result.words_per_second, result.pipeline_parameters) == (None, None)
    assert result.mixing_parameters is None
