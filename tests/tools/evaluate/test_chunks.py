import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from spacy.tokens import Doc
from spacy.training import Example, iob_to_biluo
from spacy.vocab import Vocab

from spacy_hashembeds.tools.evaluate.entities import CHUNKS, EntityRun

VOCAB = Vocab()
#: What spaCy calls the tags.
BILUO = {"O": "O", "U": "S", "B": "B", "I": "I", "L": "E"}


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
    scores = EntityRun(examples, None).chunks
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


def test_a_prediction_on_none_of_the_tokens_is_on_no_token():
    gold = Doc(VOCAB, words=["Anna", "lives"], ents=["O", "O"])
    words, spaces = ["Anna", " ", "lives"], [True, False, True]
    predicted = Doc(VOCAB, words=words, spaces=spaces, ents=["O", "B-PER", "O"])
    found = EntityRun([Example(predicted, gold)], None).chunks["O"]
    assert found == {"support": 2, "recall": 1.0}


@pytest.mark.parametrize(
    ("ents", "chunk"),
    [
        (["B-X", "O"], "S"),  # the first prediction is right, the second is not
        (["B-Y", "I-Y"], "B"),  # the other way around
        (["B-Z", ""], "S"),  # the first is wrong, the second neither right nor wrong
    ],
)
def test_of_predictions_on_one_token_the_one_that_says_more_counts(ents, chunk):
    gold = Doc(VOCAB, words=["ab", "c"], spaces=[False] * 2, ents=ents)
    words = ["a", "b", "c"]
    predicted = Doc(VOCAB, words, spaces=[False] * 3, ents=["B-X", "B-Y", "I-Y"])
    found = EntityRun([Example(predicted, gold)], None).chunks[chunk]
    assert found == {"support": 1, "recall": 1.0}
