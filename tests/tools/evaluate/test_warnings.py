import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_hashembeds.tools.evaluate.evaluate import Evaluation, evaluate

from ... import toy_ner


def run(texts, train=("Anna|PER",), **options) -> Evaluation:
    nlp = toy_ner.make_ruler({"Anna": "PER", "Oslo": "LOC"}, None)
    golds = [toy_ner.make_doc(t) if isinstance(t, str) else t for t in texts]
    trains = [toy_ner.make_doc(text, spaces=False) for text in train]
    return evaluate(nlp, golds, train=trains, samples=10, **options)


@pytest.mark.parametrize("text", ["Anna|PER in Rome|LOC", "Anna in Rome|PER"])
def test_what_can_be_scored_needs_no_warning(text):
    assert run([text])["warnings"] == []


PLAIN = Doc(Vocab(), words=["Anna", "sings"])
OTHER = {"against": toy_ner.make_ruler({"Anna": "person"}, None)}


@pytest.mark.parametrize(
    ("docs", "options", "message"),
    [
        ([], {}, "No document in 'examples' has entity annotation"),
        ([PLAIN] * 2, {}, "No document in 'examples' has entity annotation"),
        (["Anna is here"], OTHER, "not one gold entity in 'examples'"),
        (["Dora|PER"], {}, "'en_pipeline' predicts nothing"),
        (["Anna|person Oslo|location"], {}, "LOC, PER, and 'examples' has location, p"),
        (["Anna|PER"], {"train": ["nobody"]}, "'train' has no entities"),
        (["Anna|PER sings"], OTHER, "'en_pipeline' finds not one gold entity"),
    ],
)
def test_what_cannot_be_scored_is_told(docs, options, message):
    evaluation = run(docs, **options)
    (text,) = evaluation["warnings"]
    assert message in text
    assert text in evaluation.to_html().replace("&#39;", "'")


# Documents of the training corpus: spaces and entities don't matter, only tokens.

LONG = "Anna|PER and nobody else sings of love in Oslo today"
SHORT = "Anna|PER and nobody else sings of love in Oslo"


@pytest.mark.parametrize(
    ("texts", "train", "warning"),
    [
        (
            [LONG, LONG + " or tomorrow", "Dora|PER", "Anna|PER sings"],
            [LONG.replace("|PER", ""), "Dora|PER"],
            "1 of the 2 documents of 10 tokens or more in 'examples' (50.0%) stand",
        ),
        # short ones may repeat up to a half
        ([SHORT, "Dora|PER", "Anna|PER sings"], [SHORT, "nobody|PER"], None),
        ([SHORT, "Dora|PER"], [SHORT, "Ben|PER"], "1 of the 2 documents in 'examples'"),
        # and of longer ones less than a hundredth
        (
            [LONG, *(f"{LONG} and {i}" for i in range(99))],
            [LONG],
            "1 of the 100 documents of 10 tokens or more in 'examples'",
        ),
        ([LONG, *(f"{LONG} and {i}" for i in range(100))], [LONG], None),
    ],
)
def test_documents_of_the_training_corpus(texts, train, warning):
    found = run(texts, train)["warnings"]
    assert [text[: len(warning or "")] for text in found] == [warning] * bool(warning)
