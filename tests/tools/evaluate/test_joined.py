"""Texts of many sentences: who knows sentences alone is found out."""

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_hashembeds.tools.evaluate.evaluate import evaluate
from spacy_hashembeds.tools.evaluate.joined import stack_together

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


def make_gold(*words: str, names: str = "Anna") -> Doc:
    ents = ["B-PER" if word == names else "O" for word in words]
    starts = [i == 0 for i in range(len(words))]
    return Doc(Vocab(), words=list(words), ents=ents, sent_starts=starts)


@pytest.fixture
def golds():
    vocab = Vocab()
    gold = make_gold("Then", "Anna", "sang").to_bytes()
    return [Doc(vocab).from_bytes(gold) for _ in range(N_SENTENCES)]


def test_single_sentences_are_joined_by_ten(nlp, golds):
    evaluation = evaluate(nlp, golds, samples=100, train=golds)
    joined = evaluation["joined"]
    assert evaluation["ents_f"] == 1
    assert (joined["sentences"], joined["documents"]) == (10, N_TEXTS)
    # of each text, all first words but the first are wrong
    assert joined["ents_p"] == N_SENTENCES / (2 * N_SENTENCES - N_TEXTS)
    assert joined["ents_r"] == joined["ents_seen_r"] == 1
    assert joined["ents_unseen_r"] == 0
    (warning,) = (text for text in evaluation["warnings"] if "In texts of 10" in text)
    assert "JoinedCorpus" in warning
    for form in (evaluation.to_html(), evaluation.to_markdown()):
        assert "In texts of 10" in form
    rows = evaluation.get_parts(full=False)[0].rows
    assert rows[-1][:4] == ("In texts of 10", "52.74", "100.00", "69.06")
    assert evaluate(nlp, [*golds, Doc(nlp.vocab)], samples=9)["joined"] is not None


@pytest.mark.parametrize(("n_missed", "is_warned"), [(3, False), (6, True)])
def test_what_may_be_chance_is_not_warned_of(nlp, n_missed, is_warned):
    """One entity in so many texts of 13 is found in texts alone: p is 1/4, or 1/32."""
    words = [["then", "Anna", "sang"] for _ in range(N_SENTENCES)]
    for text in range(n_missed):
        words[10 * text + 5] = ["Anna", "sang", "then"]
    evaluation = evaluate(nlp, [make_gold(*each) for each in words], samples=1000)
    assert evaluation["joined"] is None  # of several vocabs
    vocab = nlp.vocab
    golds = [Doc(vocab).from_bytes(make_gold(*each).to_bytes()) for each in words]
    evaluation = evaluate(nlp, golds, samples=1000)
    assert evaluation["joined"]["ents_f"] == 1
    assert 0.97 < evaluation["ents_f"] < 0.99
    assert len(evaluation["warnings"]) == is_warned


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
    texts = [Doc.from_docs(golds[:20]), Doc.from_docs(golds[20:25])]
    queries = [Doc(nlp.vocab, words=["a"], ents=["O"]) for _ in range(20)]
    whole = Doc(golds[0].vocab, words=["a", "b"], ents=["O", "O"])
    mixed = [*golds[:20], whole]
    for corpus, n in ((golds, 25), (texts, 5), (queries, 4), (mixed, 5)):
        evaluation = evaluate(nlp, corpus, samples=10, join=5)
        assert evaluation["joined"]["documents"] == n


def test_what_is_not_joined_unless_somebody_asks(nlp, golds):
    texts = [Doc.from_docs(golds[:2]), *golds]
    unknown = [Doc(nlp.vocab, words=["a", "b"], ents=["B-PER", "O"])] * 3
    queries = [Doc(nlp.vocab, words=["a"], ents=["B-PER"])] * 20
    examples = [Example(gold, gold) for gold in golds]
    for corpus in (texts, unknown, queries, golds[:1], examples):
        assert evaluate(nlp, corpus, samples=10)["joined"] is None
    assert evaluate(golds, golds, samples=10)["joined"] is None


def test_what_cannot_be_joined(nlp, golds):
    examples = [Example(gold, gold) for gold in golds]
    whole = [Doc(nlp.vocab, words=["a", "b"], ents=["B-PER", "O"])] * 3
    for predictions, corpus in ((golds, golds), (nlp, examples), (nlp, whole)):
        with pytest.raises(ValueError, match="'join' is 3, but needs gold Docs, not"):
            evaluate(predictions, corpus, join=3)
    with pytest.raises(ValueError, match="'join' is 3, but needs gold Docs"):
        evaluate(nlp, golds, join=3, task="textcat")
    with pytest.raises(ValueError, match="'join' should be 0 or more, but is -1"):
        evaluate(nlp, golds, join=-1)
