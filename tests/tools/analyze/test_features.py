"""Features in `analyze`: those that a corpus stores, and those a pipeline needs."""

import pytest
from spacy.tokens import Token
from spacy.tokens.underscore import Underscore
from spacy.util import load_config

from spacy_hashembeds.tools.analyze.analyze import analyze
from tests.configs import CONFIGS
from tests.toy_features import make_docs

ATTRS = ["NORM", "_.mark", "_.other", "spans.names"]


def test_what_a_corpus_stores_is_counted_and_can_be_embedded():
    data = analyze(make_docs())
    counts = {k: (v["values"], v["share"]) for k, v in data["stored"].items()}
    stored = {"_.cluster": (3, 0.25), "_.mark": (1, 0.25), "spans.names": (50, 0.25)}
    assert counts == stored  # without numbers that are no categories
    assert 2 <= data["stored"]["_.mark"]["rows"] < 50
    # not the spans, which components may learn
    said = "`spacy hashembeds config --feature _.cluster --feature _.mark`"
    assert said in " ".join(str(data).split())


def test_what_a_pipeline_needs_is_named_and_its_columns_are_measured(monkeypatch):
    monkeypatch.setattr(Underscore, "token_extensions", {})
    config = load_config(CONFIGS / "multi_embed.cfg")
    config["components"]["tok2vec"]["model"]["embed"]["attrs"] = ATTRS
    docs = make_docs()
    with pytest.raises(ValueError, match=r"_\.other"):
        analyze(docs, config=config)  # as if its code was not given
    Token.set_extension("other", default=None)
    data = analyze(docs, dev=docs[:3], config=config)
    assert not Token.has_extension("mark")  # callers can register it themselves
    assert "needs these features of each Doc: _.mark, _.other, spans.names" in str(data)
    tables = {table["attr"]: table for table in data["embedders"][0]["tables"]}
    # one is that of tokens without a value
    assert [tables[attr]["values"] for attr in ATTRS[1:]] == [2, 1, 51]
    assert tables["spans.names"]["unknown_in_dev"] == 0.25  # with min_freq = 10
    # a component may set what the corpus does not store
    assert data["advice"][0]["attrs"] == ATTRS
