"""Real corpora, prepared by the lab and read by the package."""

from collections import Counter

import pytest
import spacy
from spacy.training import Corpus

from spacy_hashembeds.analysis.features import collect_vocabulary
from spacy_hashembeds.corpora.docbin import read_docs
from spacy_hashembeds.symbols import count_values, cut_symbols
from tests.analysis.tables import make_hash_table
from tests.analysis.test_measures import measure


@pytest.mark.parametrize(
    ("dataset", "lang", "sizes"),
    [
        (
            "conll2002_es",
            "es",
            {"NORM": 2635, "PREFIX": 80, "SUFFIX": 1147, "SHAPE": 88},
        ),
        ("wnut17", "en", {"NORM": 687, "PREFIX": 85, "SUFFIX": 743, "SHAPE": 128}),
        ("anem", "en", {"NORM": 759, "PREFIX": 82, "SUFFIX": 600, "SHAPE": 74}),
    ],
)
def test_table_sizes_of_real_corpora(prepare_real, dataset, lang, sizes):
    """The report's tables, as counted with its own code (min_freq 10)."""
    corpus = Corpus(prepare_real(dataset) / "train.spacy")
    docs = (example.predicted for example in corpus(spacy.blank(lang)))
    tables = cut_symbols(count_values(docs, list(sizes)), min_freq=10, lang=lang)
    assert {k: len(t.frequent) for k, t in tables.tables.items()} == sizes
    assert all(
        Counter(t.counts >= 10) == {True: len(t.counts)} for t in tables.tables.values()
    )


def test_spanish_norms_in_few_rows(prepare_real):
    vocab = spacy.blank("es").vocab
    docs = read_docs(prepare_real("conll2002_es") / "train.spacy", vocab)
    norms, _ = collect_vocabulary(docs, ["NORM"]).count_values("NORM")
    assert len(norms) == 23_710
    measures = measure(make_hash_table(rows=263, seed=8), norms)
    assert measures["sharing_code"] == 721
    assert measures["with_sound_seed"]["sharing_code"] == 0
    assert measures["expected_sharing_code"] == pytest.approx(2.79, abs=0.01)
