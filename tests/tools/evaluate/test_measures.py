"""Entity measures, compared with SemEval's definitions and seqeval."""

from itertools import accumulate, groupby

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given
from seqeval.metrics import classification_report
from seqeval.scheme import IOB2
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_hashembeds import evaluate
from spacy_hashembeds.tools.evaluate.bootstrap import Draws
from spacy_hashembeds.tools.evaluate.measures import (
    AVERAGES,
    OUTCOMES,
    SCHEMES,
    average_types,
    collect_scores,
    measure_calibration,
    score_schemes,
    summarize_scores,
)
from spacy_hashembeds.training.scorer import match_entities, match_spans

from ... import toy_ner

N_TOKENS = 16
TAGS = st.lists(st.sampled_from("OOXYZ"), min_size=8, max_size=8)


def find_entities(tags) -> list[tuple[str, int, int]]:
    labels, lengths = zip(*((x, len([*run])) for x, run in groupby(tags)), strict=True)
    ends = [*accumulate(lengths)]
    found = zip(labels, [0, *ends[:-1]], ends, strict=True)
    return [each for each in found if each[0] != "O"]


@st.composite
def pairs(draw) -> tuple[list[tuple[str, int, int]], list[tuple[str, int, int]]]:
    """Draw gold entities, and predicted ones that differ in some tokens."""
    gold, other = ([tag for tag in draw(TAGS) for _ in range(2)] for _ in range(2))
    is_right = draw(st.lists(st.booleans(), min_size=N_TOKENS, max_size=N_TOKENS))
    both = zip(gold, other, is_right, strict=True)
    predicted = [tag if right else wrong for tag, wrong, right in both]
    return find_entities(gold), find_entities(predicted)


def summarize(docs):
    missing = np.zeros(60, dtype=bool)
    found = ({"ents": match_spans(got, golds, missing)} for golds, got in docs)
    return score_schemes(found, "ents")


def test_schemes_equal_semeval():
    golds = [("X", i, i + 2) for i in (0, 2, 4, 6, 8)]
    # correct, wrong type, partial, both, spurious
    predicted = [("X", 0, 2), ("Y", 2, 4), ("X", 5, 6), ("Y", 7, 8), ("X", 12, 14)]
    found = summarize([(golds, predicted)])
    assert {name: [of[x] for x in OUTCOMES] for name, of in found.items()} == {
        "strict": [1, 3, 0, 1, 1],
        "exact": [2, 2, 0, 1, 1],
        "partial": [2, 0, 2, 1, 1],
        "ent_type": [2, 2, 0, 1, 1],
    }
    assert [found["partial"][key] for key in "prf"] == pytest.approx([3 / 5] * 3)


def test_correct_predictions_are_matched_first():
    """Predictions may overlap after alignment."""
    golds, predicted = [("X", 1, 3)], [("X", 0, 2), ("X", 1, 3)]
    summary = summarize([(golds, predicted)])
    for scheme in SCHEMES:
        assert summary[scheme]["correct"] == summary[scheme]["spurious"] == 1


def test_entities_are_matched_from_left_to_right():
    """Gold entities are not sorted: seen entities precede unseen ones."""
    golds, predicted = [("X", 4, 6), ("X", 0, 2)], [("X", 1, 5), ("X", 5, 7)]
    assert summarize([(golds, predicted)])["partial"]["partial"] == 2


def write_tags(keys) -> list[str]:
    tags = ["O"] * N_TOKENS
    for label, start, end in keys:
        tags[start:end] = [f"B-{label}"] + [f"I-{label}"] * (end - start - 1)
    return tags


@example([([("X", 0, 2)], [("X", 0, 2), ("Y", 2, 4)])])
@given(st.lists(pairs(), min_size=1, max_size=4))
def test_averages_equal_seqeval(docs):
    sides = [[write_tags(keys) for keys in of] for of in zip(*docs, strict=True)]
    ours = average_types(summarize(docs)["strict"])
    if ours is None:
        assert sides[0] == sides[1] == [["O"] * N_TOKENS] * len(docs)
        return
    settings = {"mode": "strict", "scheme": IOB2, "zero_division": 0}
    report = classification_report(*sides, output_dict=True, **settings)
    for name in AVERAGES:
        theirs = [report[f"{name} avg"][x] for x in ("precision", "recall", "f1-score")]
        assert [ours[name][x] for x in "prf"] == pytest.approx(theirs, rel=1e-12)


# Calibration.


def test_calibration_of_a_small_example():
    scores = [0.95, 0.91, 0.99, 0.55, 0.52, 0.05]
    found = measure_calibration(scores, [True, True, False, True, True, False])
    # three entities in the last bin, two in the sixth, one in the first
    expected = 3 / 6 * (0.95 - 2 / 3) + 2 / 6 * (1 - 0.535) + 1 / 6 * 0.05
    assert found["error"] == pytest.approx(expected)
    assert [each["entities"] for each in found["bins"]] == [1, *[0] * 4, 2, *[0] * 3, 3]
    last = {"above": 0.9, "to": 1, "entities": 3, "mean_score": 0.95}
    assert found["bins"][9] == pytest.approx({**last, "precision": 2 / 3})


@pytest.mark.parametrize(("score", "place"), [(0.0, 0), (0.1, 0), (0.5, 4), (1.0, 9)])
def test_bins_include_their_upper_bound(score, place):
    bins = measure_calibration([score], [True])["bins"]
    assert [each["entities"] for each in bins].index(1) == place


def test_the_error_by_chance_is_that_of_calibrated_scores():
    # alone in a bin: with probability s off by 1 - s, otherwise by s
    found = [measure_calibration([s, 1 - s], [True, True])["chance"] for s in (0.1, 0)]
    assert found == pytest.approx([2 * 0.1 * 0.9, 0], abs=0.05)


def draw(rng, n_docs: int, slope: float) -> list[dict]:
    """Draw docs with scores whose true log-odds are `slope` times those given."""
    odds = rng.normal(1, 1.5, size=(n_docs, 2))
    is_right = rng.random(odds.shape) < 1 / (1 + np.exp(-slope * odds))
    pairs = zip(1 / (1 + np.exp(-odds)), is_right, strict=True)
    return [{"ents": [*zip(*each, strict=True)]} for each in pairs]


@pytest.mark.parametrize("slope", [0.3, 0.7])
def test_intervals_cover_the_true_error(slope):
    rng, draws = np.random.default_rng(0), Draws(200, 0)
    pairs = [pair for doc in draw(rng, 20_000, slope) for pair in doc["ents"]]
    truth = measure_calibration(*zip(*pairs, strict=True))["error"]
    found = [summarize_scores(draw(rng, 100, slope), draws) for _ in range(40)]
    bounds = [each["interval"] for each in found]
    assert 36 <= sum(low <= truth <= high for low, high in bounds) < 40


def test_intervals_are_clipped_and_need_two_documents():
    docs = [{"ents": [(1.0, i < 2)]} for i in range(10)]
    low, high = summarize_scores(docs, Draws(200, 0))["interval"]
    assert low < 0.8 < high == 1
    alone = [docs[0], *[{"ents": []}] * 9]
    for same in (docs[:1], alone, [{"ents": [(0.7, True)]}] * 50):
        assert summarize_scores(same, Draws(200, 0))["interval"] is None


def predict(text: str, **scores: object) -> Doc:
    """Return a doc with entities, and span groups with scores for them."""
    doc = toy_ner.make_doc(text)
    for name, values in scores.items():
        doc.spans[name] = SpanGroup(doc, spans=doc.ents, attrs={"scores": values})
    return doc


def run(predicted: list[Doc], golds: list):
    docs = [toy_ner.make_doc(g) if isinstance(g, str) else g for g in golds]
    return evaluate(predicted, docs, train=[], samples=10, show_progress=False)


GOLDS = ["Anna|PER saw Rome|LOC and Oslo|LOC", "Dora|PER"]


@pytest.fixture
def predicted() -> list[Doc]:
    scores = np.array([0.9, 0.5, 0.7], "f")
    first = predict("Anna|PER saw Rome|PER and Oslo|LOC", found=scores)
    return [first, predict("Dora|PER", found=np.array([0.25], "f"))]


def test_entities_without_a_score_or_annotation_are_skipped(predicted):
    doc = predicted[0]
    doc.ents = [*doc.ents, Span(doc, 1, 2, label="RULE")]
    found = run(predicted, GOLDS)
    assert (found["calibration"]["entities"], found["ents_p"]) == (4, 3 / 5)
    gold = toy_ner.make_doc(GOLDS[0])
    gold.set_ents([], missing=[gold[2:3]], default="unmodified")
    found = run(predicted, [gold, GOLDS[1]])["calibration"]
    assert (found["entities"], found["precision"]) == (3, 1)
    for doc in predicted:
        doc.spans["found"].attrs = {}
    assert run(predicted, GOLDS)["calibration"] is None


@pytest.mark.parametrize("scores", [[1.5], [-0.1], [float("nan")], []])
def test_invalid_scores_are_skipped(predicted, scores):
    docs = [*predicted, predict("Emil|PER", found=[0.5], other=scores)]
    docs += [predict("Emil|PER", found=[bound]) for bound in (0, 1)]
    docs[0].spans["other"] = SpanGroup(docs[0], spans=docs[0].ents)
    docs[0].spans["other"].attrs["scores"] = [0.1] * 3
    docs[1].spans["nouns"] = SpanGroup(docs[1], spans=[Span(docs[1], 0, 1, "NOUN")])
    docs[1].spans["nouns"].attrs["scores"] = [0.1]
    found = run(docs, [*GOLDS, *["Emil|PER"] * 3])["calibration"]
    assert (found["entities"], found["precision"]) == (7, 6 / 7)


def test_only_the_first_entity_in_a_gold_entity_is_correct():
    gold = Doc(Vocab(), words=["AB"], spaces=[False], ents=["B-X"])
    doc = Doc(gold.vocab, words=["A", "B"], spaces=[False] * 2, ents=["B-X", "B-X"])
    doc.spans["found"] = SpanGroup(doc, spans=doc.ents, attrs={"scores": [0.9, 0.3]})
    pair = Example(doc, gold)
    scored = collect_scores(pair, match_entities(pair, ())["ents"])
    assert scored == {"found": [(0.9, True), (0.3, False)]}
