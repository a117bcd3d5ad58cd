"""Texts of many sentences: who knows sentences alone is found out."""

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_hashembeds.evaluation.evaluate import evaluate
from spacy_hashembeds.evaluation.joined import stack_together

N_SENTENCES, N_TEXTS = 125, 13


@Language.component("capitals")
def find_capitals(doc: Doc) -> Doc:
    """A capital is a name, but where a Doc begins."""
    doc.ents = [Span(doc, t.i, t.i + 1, "PER") for t in doc[1:] if t.is_title]
    return doc


@pytest.fixture
def nlp():
    nlp = spacy.blank("xx")
    nlp.add_pipe("capitals")
    return nlp


@pytest.fixture
def golds(nlp):
    words, tags = ["Then", "Anna", "sang"], ["O", "B-PER", "O"]
    starts = [True, False, False]
    return [
        Doc(nlp.vocab, words=words, ents=tags, sent_starts=starts)
        for _ in range(N_SENTENCES)
    ]


def test_single_sentences_are_joined_by_ten(nlp, golds):
    evaluation = evaluate(nlp, golds, samples=10, train=golds)
    joined = evaluation["joined"]
    assert evaluation["ents_f"] == 1
    assert (joined["sentences"], joined["documents"]) == (10, N_TEXTS)
    # of each text, all first words but the first are wrong
    assert joined["ents_p"] == N_SENTENCES / (2 * N_SENTENCES - N_TEXTS)
    assert joined["ents_r"] == joined["ents_seen_r"] == 1
    assert joined["ents_unseen_r"] == 0


def test_it_is_on_the_first_screen_and_warned_of(nlp, golds):
    evaluation = evaluate(nlp, golds, samples=100)
    (row,) = (row for row in evaluation.get_parts(full=False)[0].rows if "10" in row[0])
    assert row[0] == "In texts of 10"
    assert row[1:4] == ("52.74", "100.00", "69.06")
    (warning,) = evaluation["warnings"]
    assert "In texts of 10 sentences F1 is 69.1%, and 100.0% as the co" in warning
    assert "JoinedCorpus" in warning
    assert "In texts of 10" in evaluation.to_html()
    assert "| In texts of 10 | 52.74 |" in evaluation.to_markdown()


def test_what_is_no_worse_is_not_warned_of(golds):
    nlp = spacy.blank("xx", vocab=golds[0].vocab)
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "PER", "pattern": "Anna"}])
    evaluation = evaluate(nlp, golds, samples=10)
    assert evaluation["joined"]["ents_f"] == 1
    assert evaluation["warnings"] == []


def test_what_may_be_chance_is_not_warned_of(nlp):
    # one text of three is predicted otherwise
    words = [["then", "anna"], ["then", "anna"], ["Then", "Anna"]]
    words += [["then", "anna"]] * (N_SENTENCES - 3)
    golds = [
        Doc(
            nlp.vocab,
            words=pair,
            ents=["O", "B-PER" if pair[1] == "Anna" else "O"],
            sent_starts=[True, False],
        )
        for pair in words
    ]
    evaluation = evaluate(nlp, golds, samples=100)
    assert evaluation["joined"]["ents_f"] == pytest.approx(2 / 3)
    assert evaluation["joined"]["difference"]["p_value"] > 0.05
    assert evaluation["warnings"] == []


@pytest.mark.parametrize(
    ("train", "is_told"),
    [
        ({"@readers": "spacy-hashembeds.JoinedCorpus.v1"}, False),
        ("${corpora.mine}", True),  # which says nothing of training
    ],
)
def test_who_was_trained_on_texts_is_not_told_to_be(nlp, golds, train, is_told):
    nlp.config["corpora"] = {"train": train, "mine": {}}
    (warning,) = evaluate(nlp, golds, samples=100)["warnings"]
    assert warning.startswith("In texts of 10 sentences F1 is 69.1%")
    assert ("JoinedCorpus" in warning) is is_told


def test_the_difference_is_tested_over_texts_that_both_have_whole(nlp, golds):
    counts = np.arange(12).reshape(4, 1, 3)
    golds = [*golds[:2], Doc(nlp.vocab), *golds[2:4]]
    texts = [Doc.from_docs(golds[:2]), Doc.from_docs(golds[3:])]
    ours, theirs = stack_together(
        [(counts, [0, 1, 2, 3], golds), (counts[:1], [1], texts)]
    )
    assert ours.tolist() == [[[3, 5, 7]], [[15, 17, 19]]]
    assert theirs.tolist() == [[[0, 0, 0]], [[0, 1, 2]]]


def test_any_number_and_none(nlp, golds):
    assert evaluate(nlp, golds, samples=10, join=0)["joined"] is None
    evaluation = evaluate(nlp, golds, samples=10, join=5)
    assert evaluation["joined"]["documents"] == N_SENTENCES / 5
    texts = [Doc.from_docs(golds[:20]), Doc.from_docs(golds[20:25])]
    evaluation = evaluate(nlp, texts, samples=10, join=5)
    assert evaluation["joined"]["documents"] == 5


def test_what_is_not_joined_unless_somebody_asks(nlp, golds):
    texts = [Doc.from_docs(golds[:2]), *golds]
    unknown = [Doc(nlp.vocab, words=["a", "b"], ents=["B-PER", "O"])] * 3
    queries = [Doc(nlp.vocab, words=["a"], ents=["B-PER"])] * 20
    apart = [Doc(Vocab(), words=["a", "b"], sent_starts=[1, -1]) for _ in range(3)]
    for corpus in (texts, unknown, queries, apart, golds[:1]):
        assert evaluate(nlp, corpus, samples=10)["joined"] is None
    examples = [Example(gold, gold) for gold in golds]
    assert evaluate(nlp, examples, samples=10)["joined"] is None
    assert evaluate(golds, golds, samples=10)["joined"] is None


def test_empty_docs_do_not_count(nlp, golds):
    golds = [*golds, Doc(nlp.vocab)]
    assert evaluate(nlp, golds, samples=10)["joined"]["documents"] == N_TEXTS
    assert evaluate(nlp, golds, samples=10, join=0)["joined"] is None


@pytest.mark.parametrize("ents", [["O", "O"], None])
def test_where_there_is_nothing_to_find(nlp, ents):
    words, starts = ["a", "b"], [True, False]
    golds = [
        Doc(nlp.vocab, words=words, ents=ents, sent_starts=starts) for _ in range(4)
    ]
    evaluation = evaluate(nlp, golds, samples=10)
    assert evaluation["joined"]["ents_f"] is None
    assert evaluation["joined"]["difference"] is None
    assert len(evaluation["warnings"]) == 1
    assert evaluation.to_html()


def test_what_cannot_be_joined(nlp, golds):
    examples = [Example(gold, gold) for gold in golds]
    for predictions, corpus in ((golds, golds), (nlp, examples)):
        with pytest.raises(ValueError, match="'join' is 3, but needs gold Docs, not"):
            evaluate(predictions, corpus, join=3)
    with pytest.raises(ValueError, match="'join' should be 0 or more, but is -1"):
        evaluate(nlp, golds, join=-1)
