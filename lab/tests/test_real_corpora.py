"""Real corpora, prepared by the lab and read by the package."""

import re
from collections import Counter

import numpy as np
import pytest
import spacy
from spacy.attrs import ORTH
from spacy.training import Corpus
from spacy.vocab import Vocab

from spacy_hashembeds.analysis.analyze import analyze
from spacy_hashembeds.analysis.features import collect_vocabulary
from spacy_hashembeds.corpora.docbin import read_docs
from spacy_hashembeds.corpora.splits import SPLITS
from spacy_hashembeds.kernels.corruption import RANDOM
from spacy_hashembeds.symbols import count_values, cut_symbols
from tests.analysis.tables import make_hash_table
from tests.analysis.test_measures import measure
from tests.architectures.pretraining.test_pretrain_shuffle_random import corrupt
from tests.cli.test_analyze import run
from tests.configs import CONFIGS

# Tables 4, 5 and 6 of the report, but for its slips: Spanish norms
# (it prints the number of words), and its ways of rounding.
REPORT = {
    "conll2002_es": (
        (23_710, 84, 4369, 314),
        (8323, 264_715, 4, 26_099),
        {"dev": (2300, 2052), "test": (2214, 1345)},
    ),
    "wnut17": (
        (12_837, 92, 5867, 2103),
        (3394, 62_730, 6, 14_878),
        {"dev": (0, 836), "test": (0, 1079)},
    ),
    "anem": (
        (7924, 91, 2359, 184),
        (2252, 57_894, 11, 8711),
        {"dev": (290, 110), "test": (548, 708)},
    ),
}


MEANS = {
    "conll2002_es": (2.259, 31.81, 1.74),
    "wnut17": (0.582, 18.48, 1.60),
    "anem": (0.657, 25.71, 1.49),
}


LANGS = {"conll2002_es": "es", "wnut17": "en", "anem": "en"}


@pytest.mark.parametrize("name", REPORT)
def test_the_tables_of_the_report_come_out(prepare_real, name):
    folder = prepare_real(name)
    paths = {split: folder / f"{split}.spacy" for split in ("train", "dev", "test")}
    data = analyze(**paths, overrides={"nlp.lang": LANGS[name]})
    values, counts, entities = REPORT[name]
    features = data["features"]
    assert list(features) == ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
    assert tuple(feature["values"] for feature in features.values()) == values
    train = data["splits"]["train"]
    keys = ("documents", "tokens", "classes", "vocabulary")
    assert tuple(train[key] for key in keys) == counts
    keys = ("entities_per_document", "document_length", "entity_length")
    assert [train[key] for key in keys] == pytest.approx(MEANS[name], abs=0.005)
    for split, expected in entities.items():
        found = data["entities"][split]
        assert (found["seen"], found["unseen"]) == expected
        types = found["per_type"].values()
        assert sum(count["seen"] for count in types) == found["seen"]
        assert sum(count["unseen"] for count in types) == found["unseen"]
        assert found["seen"] + found["unseen"] == data["splits"][split]["entities"]


def test_symbol_tables_have_the_sizes_of_the_report(prepare_real):
    train = prepare_real("wnut17") / "train.spacy"
    data = analyze(train, config=CONFIGS / "multi_embed.cfg")
    (embedder,) = data["embedders"]
    assert [table["rows"] - 1 for table in embedder["tables"]] == [687, 85, 743, 128]
    assert [f["at_least_10"] for f in data["features"].values()] == [687, 85, 743, 128]


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


def test_shares_of_real_sentences(prepare_real):
    docs = list(read_docs(prepare_real("wnut17") / "train.spacy", Vocab()))
    made, labels = corrupt(docs, 0.1, 0.1)
    shares = np.bincount(labels, minlength=3) / len(labels)
    # some words stand in their own place again
    np.testing.assert_allclose(shares, [0.81, 0.1, 0.09], atol=0.005)
    # random words are as frequent as words are
    flat = np.concatenate([doc.to_array(ORTH) for doc in docs])
    new = np.concatenate([doc.to_array(ORTH) for doc in made])[labels == RANDOM]
    (word, count), *_ = Counter(flat.tolist()).most_common(1)
    assert np.mean(new == word) == pytest.approx(count / len(flat), rel=0.2)


@pytest.mark.parametrize(
    "config",
    [
        *("multi_fewer_hash_embed", "multi_embed", "multi_weighted_hash_embed"),
        "hash_former_embed",
    ],
)
def test_a_screen_of_80_columns_is_wide_enough(prepare_real, config):
    paths = {s: prepare_real("wnut17") / f"{s}.spacy" for s in SPLITS}
    train, dev, test = paths.values()
    options = ["--dev", dev, "--test", test, "-c", CONFIGS / f"{config}.cfg"]
    result = run(train, *options)
    assert result.exit_code == 0, result.output
    lines = re.sub(r"\x1b\[[\d;]*m", "", result.output).splitlines()
    assert max(map(len, lines)) <= 80


def test_spanish_norms_in_few_rows(prepare_real):
    vocab = spacy.blank("es").vocab
    docs = read_docs(prepare_real("conll2002_es") / "train.spacy", vocab)
    norms, _ = collect_vocabulary(docs, ["NORM"]).count_values("NORM")
    assert len(norms) == 23_710
    measures = measure(make_hash_table(rows=263, seed=8), norms)
    assert measures["sharing_code"] == 721
    assert measures["with_sound_seed"]["sharing_code"] == 0
    assert measures["expected_sharing_code"] == pytest.approx(2.79, abs=0.01)
