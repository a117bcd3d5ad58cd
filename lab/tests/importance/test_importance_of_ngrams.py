import numpy as np
import pytest
from spacy.language import Language
from spacy.strings import hash_string
from spacy.tokens import Doc
from thinc.api import Model, NumpyOps

from lab.importance.tables import WordNgrams
from tests import toy_classifiers
from tests.toy_embedders import get_nodes


def get_layers(nlp: Language) -> list[Model]:
    return get_nodes(nlp.get_pipe("textcat").model, "weightedhashembed")


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
