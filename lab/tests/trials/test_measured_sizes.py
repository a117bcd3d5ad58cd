"""Parameters of tables, counted by hand and beside those of the layers."""

import json

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from lab.trials.sizes import (
    count_embedding_parameters,
    count_mixing_parameters,
    measure_sizes,
)
from spacy_hashembeds import count_symbols
from spacy_hashembeds.layers.symboltaker import find_symbol_takers
from tests.analysis.test_code_measures import make as make_codes
from tests.analysis.test_embedders import CNN, ROWS, TWO, make

# Five norms and four shapes, two of each seen twice or more.
WORDS = "one two two Three three four Five".split()


@pytest.fixture
def train(tmp_path):
    path = tmp_path / "train.spacy"
    DocBin(docs=[Doc(spacy.blank("en").vocab, words=WORDS)]).to_disk(path)
    return path


def initialize(architecture, **settings):
    nlp = make(architecture, **settings)
    doc = Doc(nlp.vocab, words=WORDS)
    if find_symbol_takers(nlp.get_pipe("tok2vec").model):
        count_symbols(nlp, [doc], min_freq=2)
    nlp.initialize(lambda: [Example(doc, doc)])
    return nlp


@pytest.mark.parametrize(
    ("architecture", "settings", "expected"),
    [
        (
            "spacy-hashembeds.MultiEmbed.v1",
            TWO,
            [("lookup", 3, {"rows": 3 * 8}), ("lookup", 3, {"rows": 3 * 8})],
        ),
        (
            "spacy-hashembeds.MultiWeightedHashEmbed.v1",
            {**ROWS, "num_hashes": 3},
            [
                ("weighted", 50, {"components": 50 * 8, "weights": 3 * 3}),
                ("weighted", 20, {"components": 20 * 8, "weights": 3 * 3}),
            ],
        ),
    ],
)
def test_tables_are_counted(train, architecture, settings, expected):
    nlp = initialize(architecture, **settings)
    nlp.add_pipe("sentencizer")  # which has no model
    tables = measure_sizes(nlp, train)
    assert tables == json.loads(json.dumps(tables))
    assert [(t["kind"], t["rows"], t["parts"]) for t in tables] == expected
    assert [(t["component"], t["attr"]) for t in tables] == [
        ("tok2vec", "NORM"),
        ("tok2vec", "SHAPE"),
    ]
    assert [t["standard"]["vocabulary"] for t in tables] == [5 * 8, 4 * 8]
    layers = [n for n in nlp.get_pipe("tok2vec").model.walk() if "E" in n.param_names]
    for table, layer in zip(tables, layers, strict=True):
        held = [layer.get_param(name).size for name in layer.param_names]
        assert table["parameters"] == sum(table["parts"].values()) == sum(held)
        assert table["width"] == 8


def test_the_tables_of_all_components_are_counted(train):
    nlp = make("spacy.HashEmbedCNN.v2", **{**CNN, "subword_features": False})
    nlp.add_pipe("ner").add_label("A")
    doc = Doc(nlp.vocab, words=WORDS)
    nlp.initialize(lambda: [Example(doc, doc)])
    tables = measure_sizes(nlp, train)
    assert [table["component"] for table in tables] == ["tok2vec"] + ["ner"] * 4


@pytest.mark.parametrize(
    ("settings", "parts", "standard"),
    [
        (
            {"importance_rows": 90},
            {"components": 20 * 6, "weights": 90 * 2},
            {"importance_rows": 90 * 6},
        ),
        ({"importance_rows": 0, "num_hashes": 1}, {"rows": 20 * 6}, {}),
    ],
)
def test_the_tables_of_n_grams_are_counted(tmp_path, settings, parts, standard):
    settings = {"exclusive_classes": True, "ngram_size": 2, "rows": 20, **settings}
    name = "spacy-hashembeds.HashNgramTextCat.v1"
    model = {"@architectures": name, "width": 6, **settings}
    nlp = spacy.blank("en")
    nlp.add_pipe("textcat", config={"model": model})
    cats = [{"cats": {"A": i, "B": 1 - i}} for i in (0, 1)]
    nlp.initialize(lambda: [Example.from_dict(nlp.make_doc(f"a {c}"), c) for c in cats])
    (table,) = measure_sizes(nlp, tmp_path / "none.spacy")
    assert (table["component"], table["attr"]) == ("textcat", "n-grams")
    assert (table["parts"], table["standard"]) == (parts, standard)
    assert count_embedding_parameters(nlp) == table["parameters"] == sum(parts.values())


def test_whatever_is_in_an_embedder_counts():
    nlp = make_codes("letters", "proj")
    doc = Doc(nlp.vocab, words=WORDS)
    example = Example.from_dict(doc, {"tags": ["A"] * len(WORDS)})
    nlp.initialize(lambda: [example])
    mixer = 3 * 8 * (16 + 1) + 2 * 8
    assert count_embedding_parameters(nlp) == 2 * 128 * 8 + mixer
    assert count_mixing_parameters(nlp) == mixer
