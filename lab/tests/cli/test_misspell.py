from collections.abc import Iterable
from functools import partial

import pytest
from spacy.tokens import Doc

from lab.corpora.misspellings import misspell
from tests import toy_ner

from ..calling import succeed

run = partial(succeed, "misspell")


def list_words(docs: Iterable[Doc]) -> list[list[str]]:
    return [[token.text for token in doc] for doc in docs]


@pytest.mark.parametrize(("options", "seed"), [([], 0), (["--seed", 3], 3)])
def test_a_copy_is_written(options, seed, tmp_path):
    docs = [toy_ner.make_doc(text) for text in toy_ner.TEST]
    test = toy_ner.write(tmp_path / "test.spacy", docs)
    output = tmp_path / "misspelt.spacy"
    result = run(test, "-o", output, *options)
    printed = " ".join(result.output.split())
    assert f"Misspelt 14 of 14 entities in 8 documents, seed {seed}" in printed
    assert f"Saved the copy to {output}" in printed
    expected = misspell(docs, seed=seed)
    assert list_words(toy_ner.read(output)) == list_words(expected)
