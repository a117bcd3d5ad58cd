import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from spacy.tokens import Doc
from spacy.training import Example, iob_to_biluo
from spacy.vocab import Vocab

from spacy_hashembeds.evaluation.chunks import CHUNKS, score_chunks

from .. import toy_ner

VOCAB = Vocab()
#: What spaCy calls the tags.
BILUO = {"O": "O", "U": "S", "B": "B", "I": "I", "L": "E"}


def tag(doc: Doc) -> list[str]:
    """Tags by spaCy's own conversion; "-" is missing."""
    iob = [
        "-" if not token.ent_iob else f"{token.ent_iob_}-{token.ent_type_}".rstrip("-")
        for token in doc
    ]
    return ["-" if tag == "-" else BILUO[tag[0]] for tag in iob_to_biluo(iob)]


@st.composite
def docs(draw, n_words: int) -> Doc:
    ends = draw(st.lists(st.integers(1, 5), max_size=n_words))
    tags: list[str] = []
    for length in ends:
        label = draw(st.sampled_from(["O", "X", "Y"]))
        inside = [] if label == "O" else [f"I-{label}"] * (length - 1)
        tags += ["O"] * length if label == "O" else [f"B-{label}", *inside]
    tags = (tags + ["O"] * n_words)[:n_words]
    return Doc(VOCAB, words=["a"] * n_words, ents=tags)


@st.composite
def pairs(draw) -> Example:
    n_words = draw(st.integers(0, 12))
    return Example(draw(docs(n_words)), draw(docs(n_words)))


@given(st.lists(pairs(), max_size=3))
@settings(deadline=None)
def test_tags_are_those_of_spacy(examples):
    scores = score_chunks(examples)
    assert list(scores) == list(CHUNKS)
    both = [
        found
        for example in examples
        for found in zip(tag(example.reference), tag(example.predicted), strict=True)
    ]
    for chunk, score in scores.items():
        predicted = [theirs for ours, theirs in both if ours == chunk]
        assert score["support"] == len(predicted)
        expected = predicted.count(chunk) / len(predicted) if predicted else None
        assert score["recall"] == expected


def test_types_do_not_count():
    predicted, gold = (
        toy_ner.make_doc(text, vocab=VOCAB)
        for text in ("New+York|PER is in Rome|PER", "New+York|LOC is in Rome|LOC")
    )
    assert {s["recall"] for s in score_chunks([Example(predicted, gold)]).values()} == {
        1.0,
        None,
    }


def test_tokens_without_annotation_do_not_count():
    gold = toy_ner.make_doc("Anna|PER met Carl+Brown|PER", vocab=VOCAB)
    predicted = Doc(VOCAB, words=[token.text for token in gold])
    gold.set_ents([gold.ents[1]], missing=[gold[0:1]], default="outside")
    scores = score_chunks([Example(predicted, gold)])
    assert {chunk: s["support"] for chunk, s in scores.items()} == {
        **dict.fromkeys("OBE", 1),
        **dict.fromkeys("SI", 0),
    }


def test_a_prediction_on_none_of_the_tokens_is_on_no_token():
    gold = Doc(VOCAB, words=["Anna", "lives"], ents=["O", "O"])
    spaces = [True, False, True]
    words = ["Anna", " ", "lives"]
    predicted = Doc(VOCAB, words=words, spaces=spaces, ents=["O", "B-PER", "O"])
    found = score_chunks([Example(predicted, gold)])["O"]
    assert found == {"support": 2, "recall": 1.0}


@pytest.mark.parametrize("examples", [[], [Example(Doc(VOCAB), Doc(VOCAB))]])
def test_nothing_has_no_recall(examples):
    expected = {"support": 0, "recall": None}
    assert score_chunks(examples) == dict.fromkeys(CHUNKS, expected)
