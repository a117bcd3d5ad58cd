import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Corpus, Example

from spacy_hashembeds.tools.evaluate.sources import pair_examples, predict_examples

from ... import toy_ner


@pytest.fixture
def ruler():
    return toy_ner.make_ruler({"Oslo": "LOC"}, None)


def get_ents(doc: Doc) -> list[tuple[str, str]]:
    return [(ent.text, ent.label_) for ent in doc.ents]


def test_examples_equal_those_of_spacy_evaluate(ruler, tmp_path):
    path = toy_ner.write(tmp_path / "test.spacy", toy_ner.make_test_docs())
    expected = list(Corpus(path)(ruler))
    found = list(predict_examples(ruler, toy_ner.make_test_docs()))
    for example, other in zip(found, expected, strict=True):
        tokens = [[t.text_with_ws for t in x.predicted] for x in (example, other)]
        assert tokens[0] == tokens[1]
        assert get_ents(example.reference) == get_ents(other.reference)
        assert get_ents(example.predicted) == get_ents(ruler(other.predicted))


def test_only_the_tokens_of_an_example_are_used(ruler):
    gold = toy_ner.make_doc("Emil|PER in Oslo|LOC")
    words, spaces = ["Emil", "in", "Oslo"], [False, True, False]
    before = Doc(ruler.vocab, words, spaces, ents=["O", "O", "B-PER"])
    given = Example(before, gold)
    empty = Example(Doc(ruler.vocab), Doc(ruler.vocab))
    (example,) = predict_examples(ruler, iter([empty, given]))
    assert get_ents(example.predicted) == [("Oslo", "LOC")]
    assert example.predicted.text == before.text
    assert example.reference is gold
    assert given.predicted is before
    assert get_ents(before) == [("Oslo", "PER")]


@pytest.mark.parametrize(
    ("predicted", "places"),
    [
        (["one two", "three for"], ("1 of 2 differ", "document 1 ", "'for'", "'four'")),
        (["one two", "three"], ("document 1 ", "'four'")),
        (["one two three"], ("2 of 2 differ", "0 has ['three'], not []; document 1 ")),
        (["", "one two", "three four", "five"], ("document 2 ", "'five'")),
        (
            ["one two", "three four", *"abcdefghijk"],
            ("11 of 13 differ", "'j'], not []; …"),
        ),
    ],
)
def test_differences_in_words_are_listed(predicted, places):
    golds = [toy_ner.make_doc("one|PER two"), spacy.blank("en")("three four")]
    docs = [toy_ner.make_doc(text) for text in predicted]
    with pytest.raises(ValueError, match=r"'theirs' .*'ours'") as caught:
        list(pair_examples(docs, golds, name="theirs", gold="ours"))
    assert all(place in str(caught.value) for place in places)
