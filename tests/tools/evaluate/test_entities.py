import os
from pathlib import Path
from threading import Thread

import pytest
from spacy.tokens import Doc

from spacy_hashembeds.tools.evaluate.entities import EntityRun
from spacy_hashembeds.tools.evaluate.evaluate import evaluate, evaluate_in_depth
from spacy_hashembeds.tools.evaluate.groups import GROUPINGS, learn_training_set
from spacy_hashembeds.tools.evaluate.sources import predict_examples
from spacy_hashembeds.training.scorer import KINDS

from ... import toy_ner


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
    corpora = {name: tiny_corpus / f"{name}.spacy" for name in ("train", "test")}
    return {**corpora, "model": folder / "model", "worse": folder / "worse"}


@pytest.fixture(scope="module")
def evaluation(demo):
    paths = (demo[name] for name in ("model", "test", "train"))
    return evaluate_in_depth(*paths, against=demo["worse"], samples=5000, seed=1)


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


def test_groups_of_a_small_corpus_are_as_counted_by_hand():
    nlp = toy_ner.make_ruler({"Anna": "PER", "Oslo": "LOC", "Rome": "PER"}, None)
    train = ["Anna|PER in Rome|LOC", "Dora|LOC"]
    test = ["Anna|PER Dora|PER in Oslo|LOC", "Rome|PER Anna+Rome|PER Rome+Oslo|LOC"]
    docs = ([toy_ner.make_doc(text) for text in texts] for texts in (test, train))
    golds, trains = docs
    groups = evaluate(nlp, golds, train=trains, samples=9)["groups"]["knowledge"]
    assert {g["group"]: (g["support"], g["recall"]) for g in groups} == {
        "same_type": (1, 1.0),
        "other_type": (2, 0.5),
        "tokens_seen": (1, 0.0),
        "tokens_partly_seen": (1, 0.0),
        "tokens_unseen": (1, 1.0),
    }
    nothing = {"support": 0, "recall": None, "interval": None}
    assert groups[2]["per_type"]["LOC"] == nothing


def test_the_other_pipeline_is_scored_and_subtracted(demo, evaluation):
    paths = (demo[name] for name in ("worse", "test", "train"))
    scores = evaluate_in_depth(*paths, samples=9)
    comparison = evaluation["comparison"]
    assert comparison["model"] == str(demo["worse"])
    pairs = []
    for kind, prefix in KINDS.items():
        ours, theirs = (
            {key: of[f"{prefix}_{key}"] for key in "prf"} for of in (evaluation, scores)
        )
        pairs.append((comparison[kind], ours, theirs))
    for division in ("per_type", "per_length"):
        ours, theirs = (of[f"ents_{division}"] for of in (evaluation, scores))
        assert comparison[division].keys() == theirs.keys()
        for name, rows in comparison[division].items():
            pairs.append((rows or {}, ours[name], theirs[name]))
    for rows, ours, theirs in pairs:
        for key, row in rows.items():
            assert row["other"] == theirs[key]
            assert row["difference"] == pytest.approx(ours[key] - theirs[key])
            assert 0 < row["p_value"] <= 1
    assert sum(rows["f"]["difference"] != 0 for rows, *_ in pairs if rows) > 5
    recall = comparison["unseen"]["r"]
    assert recall["interval"][0] > 0
    assert recall["p_value"] < 0.05
    for tag, chunk in evaluation["chunks"].items():
        assert chunk["other"] == scores["chunks"][tag]["recall"]


def test_credit_for_overlaps_is_for_all_the_seen_and_the_unseen():
    # New Orleans is unseen, New York is seen.
    train = [toy_ner.make_doc("New+York|LOC")]
    golds = [toy_ner.make_doc("New+York|LOC or New+Orleans|LOC")]
    nlp = toy_ner.make_ruler({"York": "LOC", "New Orleans": "PER"}, None)
    schemes = evaluate(nlp, golds, train=train, samples=10)["schemes"]
    f1 = {kind: [score["f"] for score in of.values()] for kind, of in schemes.items()}
    assert f1 == {
        "all": [0, 1 / 2, 3 / 4, 1 / 2],
        "seen": [0, 0, 1 / 2, 1],
        "unseen": [0, 1, 1, 0],
    }


def test_an_empty_corpus_has_an_evaluation_without_scores():
    nlp = toy_ner.make_ruler({"Oslo": "LOC"}, None)
    for docs in ([], [Doc(nlp.vocab)]):
        evaluation = evaluate(nlp, docs, train=[], against=nlp, samples=10)
        assert evaluation["ents_f"] is evaluation["ents_f_interval"] is None
        assert evaluation["confusions"] == []
        assert evaluation["comparison"]["all"] is None
        assert evaluation["averages"] == dict.fromkeys(("all", "seen", "unseen"))
        assert {group["support"] for group in evaluation["groups"]["frequency"]} == {0}
        assert "holds no documents" in evaluation.to_markdown()
        assert "holds no documents" in evaluation._repr_html_()
        assert repr(evaluation) == "<Evaluation of en_pipeline: F1 - on 0 entities>"


def test_predictions_are_told_from_pipelines(tmp_path):
    golds = toy_ner.make_test_docs()
    test = toy_ner.write(tmp_path / "test.spacy", golds)
    (tmp_path / "shards").mkdir()
    for number, doc in enumerate(golds):
        toy_ner.write(tmp_path / "shards" / f"{number:02}.spacy", [doc])
    for predictions in (tmp_path / "shards", test):
        assert evaluate_in_depth(predictions, test, samples=10)["ents_f"] == 1
    toy_ner.write_train(tmp_path / "train.spacy")
    with pytest.raises(ValueError, match=r"Give the file that is meant"):
        evaluate_in_depth(tmp_path, test)
    for paths in (("elsewhere", test), (test, test, tmp_path / "missing.spacy")):
        with pytest.raises(OSError, match=r"elsewhere|missing"):
            evaluate_in_depth(*paths)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_predictions_may_come_through_a_pipe(tmp_path):
    (tmp_path / "gold.iob").write_text("Anna B-PER\nsings O\n")
    os.mkfifo(tmp_path / "pipe")
    text = "Anna B-PER\nsings B-PER\n"
    writer = Thread(target=(tmp_path / "pipe").write_text, args=(text,))
    writer.start()
    evaluation = evaluate_in_depth(tmp_path / "pipe", tmp_path / "gold.iob", samples=9)
    writer.join()
    assert (evaluation["ents_p"], evaluation["ents_r"]) == (1 / 2, 1)


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
