from typing import Any

import numpy as np
import pytest
from spacy.language import Language
from spacy.strings import hash_string
from spacy.tokens import Doc
from thinc.api import Model, NumpyOps

from lab.importance.importance import list_importance
from lab.importance.tables import WordNgrams
from spacy_hashembeds.layers.symboltaker import (
    Symbols,
    find_symbol_takers,
    give_symbols,
)
from tests import toy_classifiers
from tests.toy_embedders import get_nodes


def make_classifier(**options: Any) -> Language:
    """Make a classifier, with the n-grams of "good film" in any dictionary."""
    nlp = toy_classifiers.make_pipeline(toy_classifiers.make_config(**options))
    reader = WordNgrams("LOWER", 2, include_punctuation=False)
    for layer in find_symbol_takers(nlp.get_pipe("textcat").model):
        give_symbols(layer, Symbols(np.sort(reader.read(nlp.make_doc("Good film")))))
    nlp.initialize(lambda: toy_classifiers.make_examples(nlp))
    return nlp


def get_layers(nlp: Language) -> list[Model]:
    return get_nodes(nlp.get_pipe("textcat").model, "weightedhashembed")


def list_names(table: dict[str, Any]) -> list[str | None]:
    rows = [*table["largest"], *table["smallest"]]
    return [value["name"] for row in rows for value in row["values"]]


def list_of(nlp: Language, *texts: str, **options: Any) -> list[dict[str, Any]]:
    return list_importance(nlp, map(nlp.make_doc, texts), **options)["tables"]


@pytest.mark.parametrize(
    ("size", "names"),
    [
        (1, ["a", "b", "c"]),
        (2, ["a", "a b", "b", "b c", "c"]),
        (9, ["a", "a b", "a b c", "b", "b c", "c"]),
    ],
)
def test_ngrams_are_spelt_in_the_order_of_their_keys(size, names):
    nlp = toy_classifiers.make_pipeline(toy_classifiers.make_config())
    doc = Doc(nlp.vocab, words=["A", "!", "b", " ", "C"])
    reader = WordNgrams("LOWER", size, include_punctuation=False)
    assert reader.spell(doc) == names
    keys = reader.read(doc).tolist()
    for name, key in zip(names, keys, strict=True):
        words = np.array([hash_string(word) for word in name.split()], "uint64")
        is_word = len(words) == 1
        expected = words if is_word else NumpyOps().ngrams(len(words), words)
        assert [key] == expected.tolist()
    everything = WordNgrams("ORTH", 1, include_punctuation=True)
    assert everything.spell(doc) == ["A", "!", "b", " ", "C"]


def test_hashed_ngrams_are_those_of_the_texts():
    nlp = make_classifier()
    (layer,) = get_layers(nlp)
    layer.set_param("P", np.ones_like(layer.get_param("P")))
    (table,) = list_of(nlp, "A good film!", "good")
    assert (table["attr"], table["ngram_size"], table["rows"]) == ("LOWER", 2, 500)
    # all weights are equal: the most frequent first
    assert list_names(table)[0] == "good"
    assert set(list_names(table)) == {"a", "a good", "good", "good film", "film"}


def test_ngrams_that_a_dictionary_lacks_are_left_out():
    nlp = make_classifier(importance_rows=None)
    (table,) = list_of(nlp, "a good film", "film")
    assert set(list_names(table)) == {"good", "good film", "film"}
    assert (table["rows"], table["values"], table["unknown"]) == (4, 3, None)
    # without texts, words have names and sequences have none
    (table,) = list_importance(nlp)["tables"]
    assert set(list_names(table)) == {"good", "film", None}


def test_each_member_of_an_ensemble_has_a_table():
    nlp = make_classifier(num_models=3)
    tables = list_of(nlp, "a good film")
    assert [table["number"] for table in tables] == [1, 2, 3]
    assert len({str(table["largest"]) for table in tables}) == 3
