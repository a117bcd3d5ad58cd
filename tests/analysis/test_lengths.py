from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_hashembeds.analysis.analyze import analyze
from spacy_hashembeds.analysis.lengths import compare_lengths, tell_lengths

from .. import toy_ner


@given(
    st.lists(st.integers(1, 50), min_size=1), st.lists(st.integers(1, 50), min_size=1)
)
def test_quartiles_are_numpys(train, text):
    found = compare_lengths(Counter(train), Counter(text))
    for key, lengths in {"train": train, "text": text}.items():
        lower, median, upper = np.quantile(
            lengths, [0.25, 0.5, 0.75], method="inverted_cdf"
        )
        quartiles = {"lower": lower, "median": median, "upper": upper}
        assert found[key] == {"documents": len(lengths), **quartiles}
    usual = np.quantile(train, 0.95, method="inverted_cdf")
    assert found["longer"] == np.mean(np.array(text) > usual)


def test_what_follows_is_said():
    sentences, texts = Counter({20: 100}), Counter({20: 5, 200: 5})
    said = tell_lengths(compare_lengths(sentences, texts))
    assert "have 20 (20 to 200) tokens (median and quartiles), Docs of training" in said
    assert "50% of the texts are longer" in said
    assert "JoinedCorpus" in said
    assert "JoinedCorpus" not in tell_lengths(compare_lengths(texts, sentences))


def test_texts_are_compared_with_the_training_corpus(tmp_path):
    train = [toy_ner.make_doc(text) for text in toy_ner.TRAIN]
    path = tmp_path / "texts.txt"
    path.write_text("Anna lives in Paris\n\nRome\n" + "we met Anna today " * 5)
    analysis = analyze(train, text=path)
    text = {"documents": 3, "lower": 1, "median": 4, "upper": 20}
    assert analysis["lengths"]["text"] == text
    assert "33% of the texts are longer" in str(analysis)
    assert analyze(train)["lengths"] is None


def test_a_file_without_texts_is_refused(tmp_path):
    train = [toy_ner.make_doc(text) for text in toy_ner.TRAIN]
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(ValueError, match="'text' should name a file with texts, but"):
        analyze(train, text=tmp_path / "empty.txt")
