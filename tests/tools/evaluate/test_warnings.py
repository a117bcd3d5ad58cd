import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_hashembeds.tools.evaluate.evaluate import Evaluation, evaluate

from ... import toy_ner


def run(texts, train=("Anna|PER",)) -> Evaluation:
    nlp = toy_ner.make_ruler({"Anna": "PER", "Oslo": "LOC"}, None)
    golds = [toy_ner.make_doc(t) if isinstance(t, str) else t for t in texts]
    trains = [toy_ner.make_doc(text, spaces=False) for text in train]
    return evaluate(nlp, golds, train=trains, samples=10)


PLAIN = Doc(Vocab(), words=["Anna", "sings"])


@pytest.mark.parametrize(
    ("docs", "message"),
    [
        ([], "No document in 'examples' has entity annotation"),
        ([PLAIN] * 2, "No document in 'examples' has entity annotation"),
        (["Anna is here"], "no gold entity in 'examples'"),
        (["Dora|PER"], "'en_pipeline' predicts nothing"),
        (["Anna|person Oslo|location"], "LOC, PER, and 'examples' has location, p"),
        (["Anna|PER in Rome|LOC"], None),
        (["Anna in Rome|PER"], None),
    ],
)
def test_missing_scores_are_explained(docs, message):
    evaluation = run(docs)
    assert len(evaluation["warnings"]) == bool(message)
    for text in evaluation["warnings"]:
        assert message in text
        assert text in evaluation.to_html().replace("&#39;", "'")


# Documents of the training corpus, identified by tokens.

LONG = "Anna|PER and nobody else sings of love in Oslo today"
SHORT = "Anna|PER and nobody else sings of love in Oslo"
OTHERS = [f"{LONG} and {i}" for i in range(100)]


@pytest.mark.parametrize(
    ("texts", "n_shared"),
    [
        (["Dora|PER", LONG, f"{LONG} or tomorrow"], "1 of the 2"),
        ([SHORT, "Anna|PER sings"], None),  # may recur by chance
        # a warning needs 1% of the long documents
        ([LONG, *OTHERS[1:]], "1 of the 100"),
        ([LONG, *OTHERS], None),
    ],
)
def test_documents_of_the_training_corpus(texts, n_shared):
    found = run(texts, [LONG.replace("|PER", ""), SHORT, "Dora|PER"])["warnings"]
    start = f"{n_shared} documents of 10 tokens or more in 'examples' are"
    assert [text[: len(start)] for text in found] == [start] * bool(n_shared)
