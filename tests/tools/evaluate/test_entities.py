from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given
from spacy.tokens import Doc
from spacy.training import Example, iob_to_biluo
from spacy.vocab import Vocab

from spacy_hashembeds.tools.evaluate.entities import (
    CHUNKS,
    GROUPS,
    EntityRun,
    group_entity,
    learn_training_set,
)
from spacy_hashembeds.tools.evaluate.evaluate import evaluate, evaluate_in_depth
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
    for name, groups in evaluation["groups"].items():
        assert [group["group"] for group in groups] == list(GROUPS[name])
        assert sum(group["support"] for group in groups) == evaluation["ents_support"]
        bounded = [group for group in groups if group["interval"]]
        # which bounds of precision could not be: no prediction is in a group
        assert {x for group in bounded for x in group["interval"]} - {0, 1}
        for group in bounded:
            low, high = group["interval"]
            assert low <= group["recall"] <= high


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
    per_type = groups[2]["per_type"]
    assert per_type["LOC"] == {"support": 0, "recall": None, "interval": None}
    assert (per_type["PER"]["support"], per_type["PER"]["recall"]) == (1, 0.0)


TRAIN = (
    "Anna|PER met Paris|PER in Paris|LOC",
    "Carl+Brown|PER is in New York today",
    *["Rome|LOC"] * 12,
)


def test_entities_are_grouped_by_what_training_has_shown():
    knowledge = learn_training_set(map(toy_ner.make_doc, TRAIN))
    for text, expected in {
        "Anna|PER": ("same_type", "1", "1"),
        "Paris|PER": ("same_type", "2-9", "2-9"),
        "Rome|PER": ("other_type", "10-99", "10-99"),  # whatever the type
        "Carl+Brown|PER": ("same_type", "1", "1"),
        "New+York|LOC": ("tokens_seen", "0", "1"),  # seen, though in no entity
        "New+Orleans|LOC": ("tokens_partly_seen", "0", "0"),
        "anna|PER": ("tokens_unseen", "0", "0"),  # case counts
    }.items():
        [ent] = toy_ner.make_doc(f"yesterday {text} slept").ents
        assert tuple(group_entity(ent, knowledge).values()) == expected


def test_ranges_hold_their_bounds():
    doc = toy_ner.make_doc("Oslo|LOC")
    ranges = {0: "0", 1: "1", 2: "2-9", 9: "2-9", 10: "10-99", 99: "10-99", 100: "100+"}
    for count, expected in ranges.items():
        groups = group_entity(doc.ents[0], learn_training_set([doc] * count))
        assert groups["frequency"] == groups["token_frequency"] == expected


def test_the_other_pipeline_is_scored_and_subtracted(demo, evaluation):
    paths = (demo[name] for name in ("worse", "test", "train"))
    scores = evaluate_in_depth(*paths, samples=9)
    comparison = evaluation["comparison"]
    assert comparison["model"] == str(demo["worse"])
    sides = (evaluation, scores)
    pairs = [
        (comparison[kind], *({k: of[f"{prefix}_{k}"] for k in "prf"} for of in sides))
        for kind, prefix in KINDS.items()
    ]
    for division in ("per_type", "per_length"):
        ours, theirs = (of[f"ents_{division}"] for of in sides)
        assert comparison[division].keys() == theirs.keys()
        rows = comparison[division].items()
        pairs += [(row or {}, ours[name], theirs[name]) for name, row in rows]
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
        for form in (evaluation.to_markdown(), evaluation._repr_html_()):
            assert "No document" in form


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


# Tags of chunks, by spaCy's own conversion.

BILUO = {"O": "O", "U": "S", "B": "B", "I": "I", "L": "E"}
VOCAB = Vocab()


def get_chunks(examples: list[Example]) -> dict[str, tuple[int, int]]:
    """Count the tokens of each tag that get it, and those that don't."""
    totals = EntityRun(examples, None).totals
    return {tag: tuple(totals["chunk", tag, None][::2]) for tag in CHUNKS}


def tag(doc: Doc) -> list[str]:
    """Tags of tokens; "-" is missing."""
    iob = [f"{t.ent_iob_ or 'O'}-{t.ent_type_}".rstrip("-") for t in doc]
    biluo = zip(doc, iob_to_biluo(iob), strict=True)
    return [BILUO[tag[0]] if token.ent_iob else "-" for token, tag in biluo]


def draw_doc(data, n_words: int, outside: list[str]) -> Doc:
    tags: list[str] = []
    while len(tags) < n_words:
        kind = data.draw(st.sampled_from([*outside, "X", "Y"]))
        n_inside = data.draw(st.integers(0, 4))
        tags += [kind if kind in outside else f"B-{kind}"]
        tags += [kind if kind in outside else f"I-{kind}"] * n_inside
    return Doc(VOCAB, words=["a"] * n_words, ents=tags[:n_words])


@given(st.data(), st.lists(st.integers(0, 12), max_size=3))
def test_tags_of_chunks_are_those_of_spacy(data, lengths):
    # "": annotation is missing
    examples = [
        Example(*(draw_doc(data, n, outside) for outside in (["O"], ["O", ""])))
        for n in lengths
    ]
    both = [
        found
        for example in examples
        for found in zip(tag(example.reference), tag(example.predicted), strict=True)
    ]
    for chunk, counts in get_chunks(examples).items():
        predicted = [theirs for ours, theirs in both if ours == chunk]
        n_right = predicted.count(chunk)
        assert counts == (n_right, len(predicted) - n_right)


@pytest.mark.parametrize(
    ("ents", "chunk"),
    [
        (["B-X", "O"], "S"),  # the first prediction is right, the second is not
        (["B-Z", ""], "S"),  # the first is wrong, the second neither right nor wrong
    ],
)
def test_of_predictions_on_one_token_the_one_that_says_more_counts(ents, chunk):
    gold = Doc(VOCAB, words=["ab", "c"], spaces=[False] * 2, ents=ents)
    words = ["a", "b", "c"]
    predicted = Doc(VOCAB, words, spaces=[False] * 3, ents=["B-X", "B-Y", "I-Y"])
    assert get_chunks([Example(predicted, gold)])[chunk] == (1, 0)
