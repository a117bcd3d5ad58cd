import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example

from spacy_hashembeds.evaluation.sources import (
    LAYOUT,
    load_source,
    pair_examples,
    predict_examples,
)

from .. import toy_ner

# Predictions.


@pytest.mark.parametrize("name", ["config.cfg", "model.tar.gz", "en_x.whl"])
def test_files_of_pipelines_are_no_predictions(tmp_path, name):
    path = tmp_path / name
    path.write_text("Anna B-PER\n")
    with pytest.raises(ValueError, match=rf"'{path}' should.*predictions, but ends in"):
        load_source(path, LAYOUT)
    path = path.rename(tmp_path / "predicted.iob")
    assert not load_source(path, LAYOUT).is_pipeline


def test_a_pipeline_with_a_corpus_in_its_folder_is_a_pipeline(ruler, tmp_path):
    ruler.to_disk(tmp_path)
    toy_ner.write(tmp_path / "dev.spacy", [])
    assert load_source(tmp_path, LAYOUT).is_pipeline


@pytest.fixture
def ruler():
    return toy_ner.make_ruler({"Oslo": "LOC"}, None)


def get_ents(doc: Doc) -> list[tuple[str, str]]:
    return [(ent.text, ent.label_) for ent in doc.ents]


def test_examples_are_those_of_spacy_evaluate(ruler, tmp_path):
    path = toy_ner.write(tmp_path / "test.spacy", toy_ner.make_test_docs())
    expected = list(Corpus(path)(ruler))
    found = list(predict_examples(ruler, toy_ner.make_test_docs()))
    assert len(found) == len(expected)
    for example, other in zip(found, expected, strict=True):
        tokens = [[t.text_with_ws for t in x.predicted] for x in (example, other)]
        assert tokens[0] == tokens[1]
        assert get_ents(example.reference) == get_ents(other.reference)
        assert get_ents(example.predicted) == get_ents(ruler(other.predicted))


def test_an_example_gives_its_tokens_and_nothing_else(ruler):
    gold = toy_ner.make_doc("Emil|PER in Oslo|LOC")
    words, spaces = ["Emil", "in", "Oslo"], [False, True, False]
    before = Doc(ruler.vocab, words, spaces, ents=["O", "O", "B-PER"])
    given = Example(before, gold)
    (example,) = predict_examples(ruler, iter([given]))
    assert get_ents(example.predicted) == [("Oslo", "LOC")]
    assert example.predicted.text == before.text
    assert example.reference is gold
    assert given.predicted is before
    assert get_ents(before) == [("Oslo", "PER")]


def test_a_component_may_give_another_doc(ruler):
    Language.component("copy_doc", func=Doc.copy)
    ruler.add_pipe("copy_doc", first=True)
    (example,) = predict_examples(ruler, [toy_ner.make_doc("Emil|PER in Oslo|LOC")])
    assert get_ents(example.predicted) == [("Oslo", "LOC")]


def test_docs_without_tokens_are_left_out(ruler):
    empty = Doc(ruler.vocab)
    golds = [empty, toy_ner.make_doc("Oslo|LOC"), Example(Doc(ruler.vocab), empty)]
    assert len(list(predict_examples(ruler, golds))) == 1
    predicted = [toy_ner.make_doc("Oslo"), empty]
    (example,) = pair_examples(predicted, golds, name="theirs", gold="ours")
    assert example.predicted is predicted[0]
    assert example.reference is golds[1]


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        (["one two", "three for"], "differ in document 1 from word 1 on: 'for' inst"),
        (["one two", "three"], "in document.*from word 1 on: its end instead of 'four"),
        (["one two three"], "differ in document.*from word 2 on: 'three' instead of i"),
        (["one two"], r"end before its document 1 \('three four'\)"),
        (["one two", "three four", "five"], r"go on where it ends, .* 2 \('five'\)"),
        ([], r"end before its document 0 \('one two'\)"),
    ],
)
def test_the_first_difference_in_words_is_named(predicted, message):
    golds = [toy_ner.make_doc("one|PER two"), spacy.blank("en")("three four")]
    docs = [toy_ner.make_doc(text) for text in predicted]
    with pytest.raises(ValueError, match=f"'theirs' should have .*'ours'.*{message}"):
        list(pair_examples(docs, golds, name="theirs", gold="ours"))
