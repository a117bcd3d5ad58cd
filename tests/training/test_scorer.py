import pickle
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
import spacy
from hypothesis import example, given, settings
from spacy.scorer import PRFScore, Scorer
from spacy.tokens import Doc, DocBin
from spacy.training import Corpus, Example
from spacy.vocab import Vocab

from spacy_hashembeds.training.scorer import (
    make_seen_unseen_ner_scorer,
    score_counts,
    score_seen_unseen,
)

from .. import toy_ner
from ..components.toy_recognizers import cut, draw_entities

VOCAB = Vocab()


@pytest.fixture
def train(tmp_path: Path) -> Path:
    return toy_ner.write_train(tmp_path / "train.spacy")


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    return toy_ner.write(tmp_path / "dev.spacy", toy_ner.make_test_docs())


# Equality with spaCy.


def draw_doc(draw, text: str, *, is_gold: bool) -> Doc:
    """Split a text into tokens, and tokens into spans of any kind."""
    words = [text[start:end] for start, end in cut(draw, len(text), 3)]
    if not is_gold and draw(st.booleans()):
        # unaligned with the gold doc, which may be empty
        words.insert(draw(st.integers(0, len(words))), " ")
    doc = Doc(VOCAB, words=words, spaces=[False] * len(words))
    kinds = ["outside", "blocked"] + ["missing"] * 3 * is_gold
    draw_entities(draw, doc, ["X", "Y", "Z"], kinds)
    return doc


@st.composite
def doc_pairs(draw) -> tuple[Doc, Doc]:
    text = draw(st.text("ab", max_size=8))
    return draw_doc(draw, text, is_gold=False), draw_doc(draw, text, is_gold=True)


NLP = spacy.blank("en")
NLP.add_pipe("ner")


def score_with_spacy(pairs: list[tuple[Doc, Doc]]) -> dict:
    """Score against gold docs serialized to .spacy."""
    written = DocBin(docs=[gold for _, gold in pairs]).to_bytes()
    golds = DocBin().from_bytes(written).get_docs(VOCAB)
    both = zip(pairs, golds, strict=True)
    examples = [Example(predicted, gold) for (predicted, _), gold in both]
    scores = Scorer(NLP).score(examples)
    return {key: value for key, value in scores.items() if key.startswith("ents_")}


@given(
    pairs=st.lists(doc_pairs(), max_size=4),
    train_texts=st.sets(st.text("ab", min_size=1, max_size=3), max_size=8),
)
@example(pairs=[], train_texts=set())
@settings(max_examples=100)
def test_scores_equal_those_of_spacy_on_the_two_copies(pairs, train_texts):
    scores = score_seen_unseen(
        (Example(predicted, gold) for predicted, gold in pairs), train_texts
    )
    copies = {
        "ents": pairs,
        "ents_seen": [(p, toy_ner.hide(g, train_texts, seen=False)) for p, g in pairs],
        "ents_unseen": [(p, toy_ner.hide(g, train_texts, seen=True)) for p, g in pairs],
    }
    for prefix, copy in copies.items():
        assert toy_ner.without_support(scores, prefix) == score_with_spacy(copy)
        golds = [ent for _, gold in copy for ent in gold.ents]
        assert scores[f"{prefix}_support"] == len(golds)
        for label, score in (scores[f"{prefix}_per_type"] or {}).items():
            assert score["support"] == sum(ent.label_ == label for ent in golds)
        for length, score in (scores[f"{prefix}_per_length"] or {}).items():
            lengths = [str(len(ent)) if len(ent) < 4 else "4+" for ent in golds]
            assert score["support"] == lengths.count(length)


def test_predictions_are_grouped_by_their_length():
    predicted, gold = (
        toy_ner.make_doc(text, vocab=VOCAB)
        for text in ("Anna|PER f+g+h|X i+j+k+l|X", "Anna|PER f+g+h|Y i j k l")
    )
    scores = score_seen_unseen([Example(predicted, gold)], {"Anna"})
    found = scores["ents_per_length"]
    assert [found[n]["p"] for n in ("1", "2", "3", "4+")] == [1, None, 0, 0]
    assert [found[n]["support"] for n in ("1", "2", "3", "4+")] == [1, 0, 1, 0]


def test_gold_docs_without_entity_annotation_are_skipped():
    # as in spaCy, even if texts can't be aligned
    gold = Doc(VOCAB, words=["something", "else"])
    predicted = toy_ner.make_doc("Anna|PER sings")
    assert score_seen_unseen([Example(predicted, gold)], {"Anna"})["ents_p"] is None


# Reading the training set.


def test_the_training_set_is_read_once_at_the_first_scoring(tmp_path):
    path = tmp_path / "train.spacy"
    scorer = make_seen_unseen_ner_scorer(train=path)
    gold = toy_ner.make_doc("Anna|PER saw Oslo|LOC")
    examples = [Example(gold.copy(), gold)]
    toy_ner.write_train(path)
    expected = scorer(examples)
    path.unlink()
    for each in (scorer, pickle.loads(pickle.dumps(scorer))):
        assert each(examples) == expected


@pytest.mark.parametrize(
    ("train", "error"),
    [
        (None, ValueError),
        ("empty", FileNotFoundError),
        ("gone.spacy", FileNotFoundError),
        ("damaged.spacy", ValueError),
    ],
)
def test_scoring_without_a_training_set_is_refused(train, error, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "damaged.spacy").write_bytes(b"\0")
    path = None if train is None else tmp_path / train
    scorer = make_seen_unseen_ner_scorer(train=path)
    with pytest.raises(error, match=f"{train}.*spacy.load"):
        scorer([])


# Inside pipelines.


def test_pipelines_load_without_the_training_set(tmp_path, train, dev):
    toy_ner.make_ruler({"Oslo": "LOC"}, train).to_disk(tmp_path / "model")
    moved = train.rename(tmp_path / "moved.spacy")
    assert spacy.load(tmp_path / "model")("Oslo sings").ents
    # as the error suggests
    config = {"components": {"entity_ruler": {"scorer": {"train": str(moved)}}}}
    nlp = spacy.load(tmp_path / "model", config=config)
    scores = nlp.evaluate(list(Corpus(dev)(nlp)))
    assert scores["ents_unseen_r"] > 0
    nlp.to_disk(tmp_path / "again")
    again = spacy.load(tmp_path / "again").evaluate(list(Corpus(dev)(nlp)))
    assert again["ents_unseen_per_type"] == scores["ents_unseen_per_type"]


# Counts.


@example([(0, 0, 0), (50, 0, 0), (0, 50, 0), (0, 0, 50), (50, 50, 50)])
@given(st.lists(st.tuples(*[st.integers(0, 50)] * 3), min_size=1))
def test_scores_are_bitwise_equal_to_spacys(rows):
    scores = score_counts(np.array(rows))
    for (tp, fp, fn), values in zip(rows, scores, strict=True):
        score = PRFScore(tp=tp, fp=fp, fn=fn)
        if len(score):
            expected = [score.precision, score.recall, score.fscore]
            assert values.tolist() == expected
        else:
            assert np.isnan(values).all()
