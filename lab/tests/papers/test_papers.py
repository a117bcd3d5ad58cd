"""Printed figures of papers, read by eye."""

import pytest

from lab.papers.page import PAPERS
from lab.papers.tables import read_paper

# Table, row, column, and the mean, or mean and deviation.
PRINTED = {
    "multi-hash-embeddings": [
        ("1", "conll2002_es", "rows20", [0.78, 0.02]),
        ("2", "orth", "seen", 1.6),
        ("4", "ontonotes", "NORM", 49397),
        ("17", "anem", "spacy_p", [0.83, 0.1]),
    ],
    "hash-embeddings": [
        ("1", "amazon_polarity", "train", 3600000),
        ("2", "yelp_polarity", "ensemble", 0.957),
        ("3", "char-CNN (Zhang et al. 2015)", "amazon_full", 0.595),
    ],
    "why-attention": [
        ("1", "BiLSTM-CNN (Chiu and Nichols 2016)", "ontonotes_r", 0.8653),
        ("1", "baseline", "wnut17_f", [0.4068, 0.0178]),
        ("2", "train", "ontonotes_tokens", 1088.5),
        ("5", "E", "other", -0.0038),
    ],
    "hashformers": [
        ("1", "canine_c", "average", [0.704, 0.013]),
        ("2", "lsh_proj", "embedding", 0.0991),
        ("3", "pool", "best_times", 2.3),
    ],
}


@pytest.mark.parametrize("paper", PAPERS)
def test_what_is_printed(paper):
    about = read_paper(paper)
    for table, row, column, value in PRINTED[paper]:
        printed = about.get_printed(table, row, column)
        deviation = None if printed.n is None else printed.deviation
        assert value in (printed.mean, [printed.mean, deviation]), (table, row, column)
        assert isinstance(value, list) == (printed.n == about.seeds)
