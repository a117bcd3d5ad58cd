"""Features in `analyze`: those that a corpus stores, and those a pipeline needs."""

import numpy as np
import pytest
from spacy.tokens import Doc, Span
from spacy.tokens.underscore import Underscore
from spacy.util import load_config
from spacy.vocab import Vocab

from spacy_hashembeds.tools.analyze.analyze import analyze
from tests.configs import CONFIGS

ATTRS = ["NORM", "_.mark", "_.other", "spans.names"]


@pytest.fixture(autouse=True)
def _extensions(monkeypatch):
    monkeypatch.setattr(Underscore, "token_extensions", {})


def make_docs() -> list[Doc]:
    docs = []
    for i in range(60):
        doc = Doc(Vocab(), words=["a", f"b{i}", f"c{i}", f"d{i}"])
        doc.user_data["._.", "mark", doc[1].idx, None] = "yz"[i % 2] if i % 8 else "x"
        doc.user_data["._.", "cluster", doc[2].idx, None] = np.int64(i % 3)
        doc.user_data["._.", "size", 0, None] = 1.5
        doc.spans["names"] = [Span(doc, 1, 3, f"L{i % 2}")]
        docs.append(doc)
    return docs


def test_what_a_corpus_stores_is_described_and_suggested():
    docs = make_docs()
    before = [{**doc.user_data} for doc in docs]
    data = analyze(docs)
    assert [doc.user_data for doc in docs] == before
    assert not Underscore.token_extensions
    stored = data["stored"]
    assert stored["_.size"] == {"values": None, "share": None, "rows": None}
    found = {k: (v["values"], v["share"]) for k, v in stored.items() if v["rows"]}
    assert found == {
        "_.cluster": (3, 0.25),
        "_.mark": (3, 0.25),
        "spans.names": (4, 0.5),
    }
    assert 4 <= stored["_.mark"]["rows"] < 40
    text = " ".join(str(data).split())
    assert "_.mark (3 values, 25.0% of tokens): `config --feature _.cluster" in text
    assert data["needed"] == []


@pytest.mark.parametrize("name", ["multi_fewer_hash_embed", "multi_embed"])
def test_what_a_pipeline_needs_is_named_and_its_columns_are_measured(name):
    config = load_config(CONFIGS / f"{name}.cfg")
    embed = config["components"]["tok2vec"]["model"]["embed"]
    rows = {"rows": [50, 20, 20, 20]} if "rows" in embed else {}
    embed.update(attrs=ATTRS, **rows)
    docs = make_docs()
    data = analyze(docs, dev=docs[:3], config=config)
    assert data["needed"] == ATTRS[1:]
    assert "needs these features of each Doc: _.mark, _.other, spans.names" in str(data)
    assert "--feature _.cluster`" in " ".join(str(data).split())
    tables = {table["attr"]: table for table in data["embedders"][0]["tables"]}
    # one is that of tokens without a value
    assert [tables[attr]["values"] for attr in ATTRS[1:]] == [4, 1, 5]
    if name == "multi_embed":  # with min_freq = 10, each name but not each mark
        assert tables["_.mark"]["unknown_values"] == 1
        assert tables["_.mark"]["unknown_in_dev"] == 0.25 / 3
    (advice,) = data["advice"]
    # a component may set what the corpus does not store
    assert advice["attrs"] == ATTRS
    assert "Keep _.other" in " ".join(advice["reasons"])
