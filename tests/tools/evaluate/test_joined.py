"""Evaluation on joined sentences."""

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_hashembeds.tools.evaluate.evaluate import evaluate

N_SENTENCES, N_TEXTS = 125, 13


@Language.component("capitals")
def find_capitals(doc: Doc) -> Doc:
    """Set capitalized tokens as entities, except at the start of a Doc."""
    doc.ents = [Span(doc, t.i, t.i + 1, "PER") for t in doc[1:] if t.is_title]
    return doc


@pytest.fixture
def nlp():
    nlp = spacy.blank("xx")
    nlp.add_pipe("capitals")
    return nlp


def make_golds(*sentences: str) -> list[Doc]:
    vocab, golds = Vocab(), []
    for words in map(str.split, sentences):
        ents = ["B-PER" if word == "Anna" else "O" for word in words]
        starts = [i == 0 for i in range(len(words))]
        golds.append(Doc(vocab, words=words, ents=ents, sent_starts=starts))
    return golds


GOLDS = make_golds(*["Then Anna sang"] * N_SENTENCES)
TEXTS = [Doc.from_docs(GOLDS[:2]), *GOLDS]
UNKNOWN = [Doc(Vocab(), words=["a", "b"], ents=["B-PER", "O"])] * 3
EXAMPLES = [Example(gold, gold) for gold in GOLDS]


def test_single_sentences_are_joined_by_ten(nlp):
    golds = [*GOLDS, Doc(nlp.vocab)]
    evaluation = evaluate(nlp, golds, samples=100, train=golds)
    joined = evaluation["joined"]
    assert evaluation["ents_f"] == 1
    assert (joined["sentences"], joined["documents"]) == (10, N_TEXTS)
    # first words of sentences are wrong, except at the start of texts
    assert joined["ents_p"] == N_SENTENCES / (2 * N_SENTENCES - N_TEXTS)
    assert joined["ents_r"] == joined["ents_seen_r"] == 1
    assert joined["ents_unseen_r"] == 0
    assert joined["difference"]["difference"] == pytest.approx(joined["ents_f"] - 1)


@pytest.mark.parametrize(("n_missed", "p_value"), [(3, 1 / 4), (6, 1 / 32)])
def test_warnings_need_significance(nlp, n_missed, p_value):
    """`n_missed` of 13 texts have an entity found only in joined sentences."""
    sentences = ["then Anna sang"] * N_SENTENCES
    for text in range(n_missed):
        sentences[10 * text + 5] = "Anna sang then"
    evaluation = evaluate(nlp, make_golds(*sentences), samples=5000)
    assert evaluation["joined"]["ents_f"] == 1
    assert 0.97 < evaluation["ents_f"] < 0.99
    tested = evaluation["joined"]["difference"]
    assert tested["p_value"] == pytest.approx(p_value, abs=0.02)
    assert bool(evaluation["warnings"]) is (p_value < 0.05)


def test_pipelines_trained_on_joined_sentences_get_no_advice(nlp):
    mine, reader = "${corpora.mine}", "spacy-hashembeds.JoinedCorpus.v1"
    # a reference to another section is not resolved
    for train, has_advice in ((mine, True), ({"@readers": reader}, False)):
        nlp.config["corpora"] = {"train": train, "mine": {}}
        (warning,) = evaluate(nlp, GOLDS, samples=100)["warnings"]
        assert ("JoinedCorpus" in warning) is has_advice


def test_the_number_of_sentences_can_be_set(nlp):
    assert evaluate(nlp, GOLDS, samples=10, join=0)["joined"] is None
    texts = [Doc.from_docs(GOLDS[:20]), Doc.from_docs(GOLDS[20:25])]
    plain = Doc(nlp.vocab, words=["a", "b"], sent_starts=[True, False])
    some = [*GOLDS[:5], plain, *GOLDS[5:20], Doc(nlp.vocab)]
    for corpus, n in ((GOLDS, 25), (texts, 5), (some, 5)):
        evaluation = evaluate(nlp, corpus, samples=10, join=5)
        joined = evaluation["joined"]
        assert joined["documents"] == n
        difference = joined["ents_f"] - evaluation["ents_f"]
        assert joined["difference"]["difference"] == pytest.approx(difference)


def test_other_corpora_are_not_joined_by_default(nlp):
    for corpus in (TEXTS, UNKNOWN, GOLDS[:1], EXAMPLES):
        assert evaluate(nlp, corpus, samples=10)["joined"] is None
    assert evaluate(GOLDS, GOLDS, samples=10)["joined"] is None


def test_invalid_joins_are_refused(nlp):
    for predictions, corpus, options in (
        (GOLDS, GOLDS, {}),
        (nlp, EXAMPLES, {}),
        (nlp, UNKNOWN, {}),
        (nlp, GOLDS, {"task": "textcat"}),
    ):
        with pytest.raises(ValueError, match="'join' is 3"):
            evaluate(predictions, corpus, join=3, **options)
    with pytest.raises(ValueError, match="'join' should be 0 or more"):
        evaluate(nlp, GOLDS, join=-1)
