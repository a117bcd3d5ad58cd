"""Real corpora, prepared by the lab and read by the package."""

import pytest
import spacy
from spacy.training import Corpus

from lab.corpora.datasets import DATASETS
from lab.tests.trials.test_grid import SYMBOLS
from spacy_hashembeds.analysis.features import collect_vocabulary
from spacy_hashembeds.corpora.docbin import read_docs
from spacy_hashembeds.symbols import count_values, cut_symbols
from tests.analysis.tables import make_hash_table
from tests.analysis.test_measures import measure


@pytest.mark.parametrize(("dataset", "sizes"), SYMBOLS.items())
def test_table_sizes_of_real_corpora(prepare_real, dataset, sizes):
    """The report's tables, as counted with its own code (min_freq 10)."""
    lang = DATASETS[dataset].lang
    corpus = Corpus(prepare_real(dataset) / "train.spacy")
    docs = (example.predicted for example in corpus(spacy.blank(lang)))
    values = count_values(docs, ["NORM", "PREFIX", "SUFFIX", "SHAPE"])
    tables = cut_symbols(values, min_freq=10, lang=lang).tables.values()
    assert [len(table.frequent) for table in tables] == sizes
    assert all(table.counts.min() >= 10 for table in tables)


def test_spanish_norms_in_few_rows(prepare_real):
    vocab = spacy.blank("es").vocab
    docs = read_docs(prepare_real("conll2002_es") / "train.spacy", vocab)
    norms, _ = collect_vocabulary(docs, ["NORM"]).count_values("NORM")
    assert len(norms) == 23_710
    measures = measure(make_hash_table(rows=263, seed=8), norms)
    assert measures["sharing_code"] == 721
    assert measures["with_sound_seed"]["sharing_code"] == 0
    assert measures["expected_sharing_code"] == pytest.approx(2.79, abs=0.01)
