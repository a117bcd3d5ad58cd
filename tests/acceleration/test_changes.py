"""Counts of changes by a lower precision, their intervals, and limits."""

import numpy as np
import pytest
import spacy
from scipy.stats import binomtest
from spacy.tokens import Doc, Span

from spacy_hashembeds.acceleration.changes import (
    Changes,
    compare_f1,
    count_changes,
    estimate_share,
)

NLP = spacy.blank("en")
WORDS = "Anna met Carl in Rome".split()


def make_doc(ents=(), spans=(), cats=None, tags=()):
    doc = Doc(NLP.vocab, words=WORDS, tags=tags or None)
    doc.set_ents([Span(doc, *span) for span in ents], default="outside")
    doc.spans["sc"] = [Span(doc, *span) for span in spans]
    doc.cats = cats or {}
    return doc


def count(befores, afters, golds=None, nlp=NLP) -> Changes:
    return count_changes(nlp, golds or ["a text"] * len(befores), befores, afters)


# Shares


def test_the_minimum_number_of_tokens_for_a_limit():
    """The upper bound is Wilson's for no changes, with a design effect of 4."""
    assert binomtest(0, 765).proportion_ci(method="wilson").high <= 0.005
    for n, is_told in ((4 * 765, True), (4 * 764, False)):
        changes = Changes(tokens=(0, n), kinds={}, f1=None)
        assert (changes.describe_excess(0.5) == "") is is_told


def test_intervals_are_wilsons_and_wider_for_clustered_changes():
    apart = np.array([[1, 100]] * 10 + [[0, 100]] * 90)
    together = np.array([[10, 100]] + [[0, 100]] * 99)
    wilson = binomtest(10, 10_000).proportion_ci(method="wilson")
    assert estimate_share(apart).interval == pytest.approx(tuple(wilson))
    assert estimate_share(together)[:2] == estimate_share(apart)[:2]
    low, high = estimate_share(together).interval
    assert low < 2e-4
    assert high > 50e-4
    # for few texts: each bound is 1.96 of its standard deviations from the share
    few = np.array([[4, 50], [0, 50], [1, 50]])
    variance = few[:, 0].var(ddof=1) * 3 / 150**2
    share = 5 / 150
    trials = share * (1 - share) / variance
    for bound in estimate_share(few).interval:
        z = abs(share - bound) / (bound * (1 - bound) / trials) ** 0.5
        assert z == pytest.approx(1.95996, abs=1e-4)
    # texts without this kind of annotation are ignored
    with_none = np.concatenate([few, np.zeros((9, 2), dtype=int)])
    assert estimate_share(with_none) == estimate_share(few)
    assert estimate_share(np.zeros((0, 2), dtype=int)) == (0, 0, (0, 0))
    # more changes than old annotations
    assert estimate_share(np.array([[1, 0]])).interval == (0, 1)
    assert estimate_share(np.array([[3, 1]])).interval[1] == 1


# Kinds


@pytest.mark.parametrize(
    ("before", "after", "tokens", "entities"),
    [
        ([(0, 1, "PER")], [(0, 1, "ORG")], 1, (2, 1)),
        ([(0, 1, "PER")], [(0, 3, "PER")], 3, (2, 1)),
        ([(0, 3, "PER")], [], 3, (1, 1)),
        ([], [(4, 5, "LOC")], 1, (1, 0)),
    ],
)
@pytest.mark.parametrize("where", ["ents", "spans"])
def test_entities_and_spans_change(before, after, tokens, entities, where):
    changes = count([make_doc(**{where: before})], [make_doc(**{where: after})])
    assert changes.tokens == (tokens, 5)
    assert changes.kinds["entities"][:2] == entities
    changes.check(100)
    with pytest.raises(ValueError, match="of entities"):
        changes.check(9)


def test_a_token_counts_once():
    before, after = (make_doc(tags=list("abcde")) for _ in range(2))
    after[1].tag_ = after[2].tag_ = after[2].lemma_ = "x"
    changes = count([before, before], [after, before])
    assert changes.tokens == (2, 10)
    assert [changes.kinds[kind][:2] for kind in ("tags", "lemmas")] == [
        (2, 10),
        (1, 10),
    ]


def test_each_kind_has_its_limit():
    """The upper bound is 0.37 percent. The limit for entities is ten times as high."""
    share = estimate_share(np.array([[1, 5]] * 10 + [[0, 5]] * 990))
    changes = Changes(
        tokens=(20, 20_000), kinds={"lemmas": share, "tags": share}, f1=None
    )
    changes.check(0.4)
    with pytest.raises(ValueError, match=r"0\.2 percent.*of lemmas, .*of tags"):
        changes.check(0.3)
    entities = Changes(tokens=(0, 60_000), kinds={"entities": share}, f1=None)
    entities.check(0.1)
    assert "of entities" in entities.describe_excess(0.03)


@pytest.mark.parametrize(
    ("cats", "threshold", "is_changed"),
    [
        ({"A": 0.6, "B": 0.4}, 0.5, False),
        ({"A": 0.6, "B": 0.4}, 0.65, True),
        ({"A": 0.9, "B": 0.6}, 0.5, True),
        ({"A": 0.9, "B": 0.6}, None, False),
        ({"A": 0.4, "B": 0.3}, None, False),
        ({"A": 0.2, "B": 0.3}, None, True),
    ],
)
def test_categories_change(cats, threshold, is_changed):
    """Compare the best labels or, with a threshold, all labels that reach it."""
    nlp = spacy.blank("en")
    name = "textcat_multilabel" if threshold else "textcat"
    pipe = nlp.add_pipe(name, config={"threshold": threshold} if threshold else {})
    for label in "AB":
        pipe.add_label(label)
    before, after = make_doc(cats={"A": 0.7, "B": 0.3}), make_doc(cats=cats)
    changes = count([before], [after], nlp=nlp)
    assert changes.kinds["categories"][:2] == (int(is_changed), 1)
    assert ("of categories" in changes.describe_excess(1)) == is_changed


# F1

ANNA, NOBODY = make_doc([(0, 1, "PER")]), make_doc()
BOTH = make_doc([(0, 1, "PER"), (4, 5, "LOC")])
ANNA_ALONE = make_doc()
ANNA_ALONE.set_ents([Span(ANNA_ALONE, 0, 1, "PER")], default="missing")


@pytest.mark.parametrize(
    ("before", "after", "gold", "f1"),
    [
        (NOBODY, ANNA, ANNA, (0, 1)),
        (ANNA, BOTH, ANNA_ALONE, (1, 1)),  # other tokens have no gold annotation
        (ANNA, ANNA, BOTH, (2 / 3, 2 / 3)),
        (ANNA, ANNA, NOBODY, None),
    ],
)
def test_f1_needs_gold_entities(before, after, gold, f1):
    changes = count([before], [after], [gold])
    assert (changes.f1 and changes.f1[:2]) == (f1 and pytest.approx(f1))
    said = " ".join(text for _, text in changes.describe())
    assert ("F1 of entities" in said) == (f1 is not None)


def test_the_limit_applies_to_the_lower_bound_of_f1():
    # each Doc loses one of two entities
    alike = count([BOTH] * 20, [ANNA] * 20, [BOTH] * 20)
    assert alike.f1[:2] == pytest.approx((1, 2 / 3))
    assert alike.f1.interval == pytest.approx((-1 / 3, -1 / 3))
    with pytest.raises(ValueError, match=r"F1 by -33\.33 points"):
        alike.check(33)
    assert "F1" not in alike.describe_excess(34)
    rise = count([NOBODY] * 10 + [ANNA] * 10, [ANNA] * 20, [ANNA] * 20)
    assert rise.f1[:2] == pytest.approx((2 / 3, 1))
    assert "F1" not in rise.describe_excess(0)


def test_the_interval_of_f1_equals_a_bootstrap():
    rng = np.random.default_rng(0)
    before = rng.integers(0, 4, (400, 3))
    after = np.maximum(before + rng.integers(-1, 2, (400, 3)), 0)
    outcomes = np.stack([before, after], axis=1)
    found = compare_f1(outcomes)

    def score(sums):
        tp, fp, fn = np.moveaxis(sums, -1, 0)
        return 2 * tp / (2 * tp + fp + fn)

    assert found[:2] == pytest.approx(tuple(score(outcomes.sum(axis=0))))
    drawn = outcomes[rng.integers(0, 400, (4000, 400))].sum(axis=1)
    differences = score(drawn[:, 1]) - score(drawn[:, 0])
    assert found.interval == pytest.approx(
        tuple(np.quantile(differences, [0.025, 0.975])), abs=2e-3
    )
