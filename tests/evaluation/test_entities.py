import json
import os
from pathlib import Path
from threading import Thread

import pytest
import spacy
from spacy.pipeline import EntityRuler
from spacy.tokens import Doc

from spacy_hashembeds.evaluation.entities import EntityRun
from spacy_hashembeds.evaluation.evaluate import evaluate_in_depth
from spacy_hashembeds.evaluation.groups import GROUPINGS, learn_training_set
from spacy_hashembeds.evaluation.scorer import KINDS
from spacy_hashembeds.evaluation.sources import predict_examples

from .. import toy_ner


@pytest.fixture
def train(tmp_path: Path) -> Path:
    return toy_ner.write_train(tmp_path / "train.spacy")


@pytest.fixture
def test(tmp_path: Path) -> Path:
    return toy_ner.write(tmp_path / "test.spacy", toy_ner.make_test_docs())


@pytest.fixture
def model(tmp_path: Path) -> Path:
    patterns = {"Anna": "PER", "Oslo": "LOC", "Rome": "PER", "in": "MISC"}
    patterns["Dora"] = "PER"
    toy_ner.make_ruler(patterns, None).to_disk(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture(scope="module")
def demo(tiny_corpus, tmp_path_factory) -> dict[str, Path]:
    """Two pipelines that know many names of the demo's test set, and some amiss."""
    docs = toy_ner.read(tiny_corpus / "test.spacy")
    ents = sorted({(ent.text, ent.label_) for doc in docs for ent in doc.ents})
    folder = tmp_path_factory.mktemp("models")
    for name, step in (("model", 5), ("worse", 2)):
        known = {text: label for i, (text, label) in enumerate(ents) if i % step}
        known.update(dict.fromkeys([text for text, _ in ents[::9]], "ORG"))
        # Half a name, and no name at all.
        known.update({text.split()[0]: label for text, label in ents[::6]})
        known.update({"opens": "LOC", "Monday": "ORG", "saw": "PERSON", "of": "PERSON"})
        toy_ner.make_ruler(known, None).to_disk(folder / name)
    return {
        "train": tiny_corpus / "train.spacy",
        "test": tiny_corpus / "test.spacy",
        "model": folder / "model",
        "worse": folder / "worse",
    }


@pytest.fixture(scope="module")
def evaluation(demo):
    paths = (demo[name] for name in ("model", "test", "train"))
    return evaluate_in_depth(*paths, against=demo["worse"], samples=500)


# Intervals and groups.


def test_every_score_stands_within_its_interval(evaluation):
    n_intervals = 0
    for prefix in KINDS.values():
        keys = (*"prf", "p_interval", "r_interval", "f_interval")
        total = {key: evaluation[f"{prefix}_{key}"] for key in keys}
        types, lengths = (evaluation[f"{prefix}_per_{n}"] for n in ("type", "length"))
        for score in (total, *types.values(), *lengths.values()):
            for key in "prf":
                if score[f"{key}_interval"] is not None:
                    low, high = score[f"{key}_interval"]
                    assert low <= score[key] <= high
                    assert low < high
                    n_intervals += 1
    # Three scores of 12 things: not all vary, and seen ones of a type are few.
    assert n_intervals > 24


def test_groups_divide_the_gold_entities_and_what_was_found(evaluation):
    for name, groups in evaluation["groups"].items():
        assert [group["group"] for group in groups] == list(GROUPINGS[name][1])
        assert_recall(groups, evaluation["ents_r"], evaluation["ents_support"])
        bounded = [group for group in groups if group["interval"]]
        # which bounds of precision could not be: no prediction is in a group
        assert {x for group in bounded for x in group["interval"]} - {0, 1}
        for group in bounded:
            low, high = group["interval"]
            assert low <= group["recall"] <= high
        for label, score in evaluation["ents_per_type"].items():
            cells = [group["per_type"][label] for group in groups]
            assert_recall(cells, score["r"], score["support"])


def assert_recall(groups: list[dict], recall: float, support: int) -> None:
    assert sum(group["support"] for group in groups) == support
    found = sum(group["support"] * (group["recall"] or 0) for group in groups)
    assert found == pytest.approx(recall * support)
    assert all((group["recall"] is None) == (group["support"] == 0) for group in groups)


def test_groups_of_a_small_corpus_are_as_counted_by_hand(model, tmp_path):
    train = ["Anna|PER in Rome|LOC", "Dora|LOC"]
    test = ["Anna|PER Dora|PER in Oslo|LOC", "Rome|PER Anna+Rome|PER Rome+Oslo|LOC"]
    for name, texts in {"train": train, "test": test}.items():
        docs = [toy_ner.make_doc(text) for text in texts]
        toy_ner.write(tmp_path / f"{name}.spacy", docs)
    paths = (tmp_path / "test.spacy", tmp_path / "train.spacy")
    groups = evaluate_in_depth(model, *paths, samples=10)["groups"]["knowledge"]
    found = {g["group"]: (g["support"], g["recall"]) for g in groups}
    assert found == {
        "same_type": (1, 1.0),
        "other_type": (2, 1.0),
        "tokens_seen": (1, 0.0),
        "tokens_partly_seen": (1, 0.0),
        "tokens_unseen": (1, 1.0),
    }
    nothing = {"support": 0, "recall": None, "interval": None}
    assert groups[2]["per_type"]["LOC"] == nothing


def test_confusions_add_up_to_the_errors(demo, evaluation):
    errors = evaluation["confusions"]
    missed = sum(error["count"] for error in errors if error["gold"])
    spurious = sum(error["count"] for error in errors if error["predicted"])
    support = evaluation["ents_support"]
    correct = round(evaluation["ents_r"] * support)
    assert missed == support - correct
    assert spurious == round(correct / evaluation["ents_p"]) - correct
    assert {error["error"] for error in errors} >= {"missed", "spurious", "type"}
    golds = toy_ner.read(demo["test"])
    for example in (example for error in errors for example in error["examples"]):
        assert example["text"] in golds[example["document"]].text


# Comparison.


def test_the_other_pipeline_is_scored_and_subtracted(demo, evaluation):
    paths = (demo[name] for name in ("worse", "test", "train"))
    scores = evaluate_in_depth(*paths, samples=9)
    comparison = evaluation["comparison"]
    assert comparison["model"] == str(demo["worse"])
    for kind, prefix in KINDS.items():
        for key in "prf":
            row = comparison[kind][key]
            ours, theirs = evaluation[f"{prefix}_{key}"], scores[f"{prefix}_{key}"]
            assert row["other"] == theirs
            assert row["difference"] == pytest.approx(ours - theirs)
            assert 0 < row["p_value"] <= 1
    for division in ("per_type", "per_length"):
        assert comparison[division].keys() == scores[f"ents_{division}"].keys()
        for name, rows in comparison[division].items():
            theirs = scores[f"ents_{division}"][name]
            for key, row in (rows or {}).items():
                ours = evaluation[f"ents_{division}"][name][key]
                assert row["other"] == theirs[key]
                assert row["difference"] == pytest.approx(ours - theirs[key])
        rows = filter(None, comparison[division].values())
        assert any(row["f"]["difference"] for row in rows)
    recall = comparison["unseen"]["r"]
    assert recall["interval"][0] > 0
    assert recall["p_value"] < 0.05


def test_kinds_without_gold_entities_are_not_compared(model, tmp_path, train):
    docs = [toy_ner.make_doc("Emil|PER in Oslo|LOC"), toy_ner.make_doc("Oslo|LOC")]
    test = toy_ner.write(tmp_path / "test.spacy", docs)
    evaluation = evaluate_in_depth(model, test, train, against=model, samples=50)
    assert evaluation["ents_seen_support"] == 0
    assert evaluation["ents_seen_f_interval"] is None
    assert evaluation["comparison"]["seen"] is None
    assert evaluation["comparison"]["unseen"] is not None


# Running.


def test_each_pipeline_runs_once_over_each_doc(model, test, train, monkeypatch):
    texts = [doc.text for doc in toy_ner.make_test_docs()]
    annotated = toy_ner.record_calls(monkeypatch)
    evaluate_in_depth(model, test, train, against=model, samples=10)
    assert [doc.text for _, doc in annotated] == texts * 2


def test_equal_seeds_give_equal_evaluations_which_are_json(model, test, train):
    options = {"against": model, "samples": 99}
    first, again, other = (
        evaluate_in_depth(model, test, train, seed=seed, **options)
        for seed in (1, 1, 2)
    )
    assert json.dumps(dict(first), allow_nan=False) == json.dumps(dict(again))
    assert first["ents_f_interval"] != other["ents_f_interval"]


@pytest.mark.parametrize("docs", [[], [Doc(spacy.blank("en").vocab)]])
def test_an_empty_corpus_has_an_evaluation_without_scores(model, tmp_path, train, docs):
    test = toy_ner.write(tmp_path / "test.spacy", docs)
    evaluation = evaluate_in_depth(model, test, train, against=model, samples=10)
    assert evaluation["ents_f"] is None
    assert evaluation["ents_f_interval"] is None
    assert evaluation["confusions"] == []
    assert evaluation["comparison"]["all"] is None
    assert {group["support"] for group in evaluation["groups"]["frequency"]} == {0}


def test_predictions_are_told_from_pipelines(model, test, train, tmp_path):
    (tmp_path / "shards").mkdir()
    for number, doc in enumerate(toy_ner.make_test_docs()):
        toy_ner.write(tmp_path / "shards" / f"{number:02}.spacy", [doc])
    evaluation = evaluate_in_depth(tmp_path / "shards", test, train, samples=10)
    assert evaluation["ents_f"] == 1
    assert evaluate_in_depth(test, test, train, samples=10)["ents_f"] == 1
    with pytest.raises(ValueError, match=r"Give the file that is meant"):
        evaluate_in_depth(tmp_path, test, train)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_predictions_may_come_through_a_pipe(train, tmp_path):
    (tmp_path / "gold.iob").write_text("Anna B-PER\nsings O\n")
    os.mkfifo(tmp_path / "pipe")
    text = "Anna B-PER\nsings B-PER\n"
    writer = Thread(target=(tmp_path / "pipe").write_text, args=(text,))
    writer.start()
    paths = (tmp_path / "pipe", tmp_path / "gold.iob", train)
    evaluation = evaluate_in_depth(*paths, samples=10)
    writer.join()
    assert (evaluation["ents_p"], evaluation["ents_r"]) == (1 / 2, 1)


def test_bad_arguments_are_refused_before_anything_runs(
    model, test, train, monkeypatch
):
    monkeypatch.setattr(EntityRuler, "__call__", None)
    with pytest.raises(OSError, match="elsewhere"):
        evaluate_in_depth(model, test, train, against="elsewhere")
    with pytest.raises(FileNotFoundError, match=r"no file or folder .*missing\.spacy"):
        evaluate_in_depth(model, test, test.with_name("missing.spacy"))


def test_the_words_of_other_docs_may_tell_what_was_seen():
    """As those of a gold corpus that was misspelt: Anna twice and Rome were seen."""
    nlp = toy_ner.make_ruler({"Anna": "PER", "Oslo": "LOC", "Olso": "LOC"}, None)
    train, golds, copies = (
        [toy_ner.make_doc(text) for text in texts]
        for texts in (
            ("Anna|PER sings", "Rome|LOC"),
            ("Anna|PER met Rome|LOC", "Oslo|LOC sleeps", "Oslo|LOC wakes", "Anna|PER"),
            ("Ana|PER met Roma|LOC", "Olso|LOC sleeps", "Osl|LOC wakes", "Anna|PER"),
        )
    )
    knowledge = learn_training_set(train)
    scores = EntityRun(predict_examples(nlp, copies), knowledge, golds).scores
    recalls = [scores[f"{prefix}_r"] for prefix in KINDS.values()]
    assert recalls == [2 / 5, 1 / 3, 1 / 2]
