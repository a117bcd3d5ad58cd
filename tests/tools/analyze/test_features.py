"""Features stored in a corpus, and needed by a pipeline, in `analyze`."""

import pytest
from spacy.tokens import Token
from spacy.tokens.underscore import Underscore
from spacy.util import load_config

from spacy_hashembeds.tools.analyze.analyze import analyze
from tests.configs import CONFIGS
from tests.toy_features import make_docs

ATTRS = ["NORM", "_.mark", "_.other", "spans.names"]


def test_stored_features_are_counted():
    data = analyze(make_docs())
    counts = {k: (v["values"], v["share"]) for k, v in data["stored"].items()}
    stored = {"_.cluster": (3, 0.25), "_.mark": (1, 0.25), "spans.names": (50, 0.25)}
    assert counts == stored  # without floats
    assert 2 <= data["stored"]["_.mark"]["rows"] < 50
    # span groups are not suggested
    said = "`spacy hashembeds config --feature _.cluster --feature _.mark`"
    assert said in " ".join(str(data).split())


def test_needed_features_are_named_and_measured(monkeypatch):
    monkeypatch.setattr(Underscore, "token_extensions", {})
    config = load_config(CONFIGS / "multi_embed.cfg")
    config["components"]["tok2vec"]["model"]["embed"]["attrs"] = ATTRS
    docs = make_docs()
    with pytest.raises(ValueError, match=r"_\.other"):
        analyze(docs, config=config)  # not registered
    Token.set_extension("other", default=None)
    data = analyze(docs, dev=docs[:3], config=config)
    assert not Token.has_extension("mark")  # removed after use
    assert "needs these features of each Doc: _.mark, _.other, spans.names" in str(data)
    tables = {table["attr"]: table for table in data["embedders"][0]["tables"]}
    # including the value of tokens without one
    assert [tables[attr]["values"] for attr in ATTRS[1:]] == [2, 1, 51]
    assert tables["spans.names"]["unknown_in_dev"] == 0.25  # with min_freq = 10
    # components may set features
    assert data["advice"][0]["attrs"] == ATTRS
