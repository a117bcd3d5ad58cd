import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from spacy.tokens import Doc
from spacy.training import Example, iob_to_biluo
from spacy.vocab import Vocab

from spacy_hashembeds.evaluation.chunks import CHUNKS, count_chunks, summarize_chunks
from spacy_hashembeds.evaluation.counts import add_counts
from spacy_hashembeds.evaluation.scorer import ALL, match_entities

from .. import toy_ner

VOCAB = Vocab()
#: What spaCy calls the tags.
BILUO = {"O": "O", "U": "S", "B": "B", "I": "I", "L": "E"}


def score_chunks(examples):
    matched = ((example, match_entities(example, ())) for example in examples)
    counts = (count_chunks(eg, found[ALL]) for eg, found in matched if found)
    return summarize_chunks(add_counts(counts))


def tag(doc: Doc) -> list[str]:
    """Tags by spaCy's own conversion; "-" is missing."""
    iob = [f"{t.ent_iob_ or 'O'}-{t.ent_type_}".rstrip("-") for t in doc]
    biluo = zip(doc, iob_to_biluo(iob), strict=True)
    return [BILUO[tag[0]] if token.ent_iob else "-" for token, tag in biluo]


@st.composite
def docs(draw, n_words: int, *, is_gold: bool) -> Doc:
    outside = ["O", ""] if is_gold else ["O"]  # "": annotation is missing
    tags: list[str] = []
    for length in draw(st.lists(st.integers(1, 5), max_size=n_words)):
        kind = draw(st.sampled_from([*outside, "X", "Y"]))
        inside = [kind if kind in outside else f"I-{kind}"] * (length - 1)
        tags += [kind if kind in outside else f"B-{kind}", *inside]
    tags = (tags + ["O"] * n_words)[:n_words]
    return Doc(VOCAB, words=["a"] * n_words, ents=tags)


@st.composite
def pairs(draw) -> Example:
    n_words = draw(st.integers(0, 12))
    predicted, gold = (docs(n_words, is_gold=is_gold) for is_gold in (False, True))
    return Example(draw(predicted), draw(gold))


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


@pytest.mark.parametrize(
    "ents",
    [
        ["B-X", "O"],  # the first prediction is right, the second is not
        ["B-Y", "I-Y"],  # the other way around
        ["B-Z", ""],  # the first is wrong, and the second neither right nor wrong
    ],
)
def test_of_predictions_on_one_token_the_one_that_says_more_counts(ents):
    gold = Doc(VOCAB, words=["ab", "c"], spaces=[False] * 2, ents=ents)
    words = ["a", "b", "c"]
    predicted = Doc(VOCAB, words, spaces=[False] * 3, ents=["B-X", "B-Y", "I-Y"])
    chunk = "B" if ents[1] == "I-Y" else "S"
    found = score_chunks([Example(predicted, gold)])[chunk]
    assert found == {"support": 1, "recall": 1.0}


@pytest.mark.parametrize("examples", [[], [Example(Doc(VOCAB), Doc(VOCAB))]])
def test_nothing_has_no_recall(examples):
    expected = {"support": 0, "recall": None}
    assert score_chunks(examples) == dict.fromkeys(CHUNKS, expected)
