"""Evaluation of pipelines that read features of gold Docs."""

import pytest
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_hashembeds.tools.evaluate.evaluate import evaluate
from spacy_hashembeds.training.features import read_values

from ...toy_features import FEATURES, make_doc, make_nlp


@Language.component("tests_marked_places")
def find_marked_places(doc: Doc) -> Doc:
    pairs = zip(*(read_values(doc, attr) for attr in FEATURES), strict=True)
    doc.ents = [Span(doc, i, i + 1, "LOC") for i, pair in enumerate(pairs) if all(pair)]
    return doc


def run(monkeypatch, golds, keep=FEATURES):
    nlp = make_nlp(monkeypatch, keep)
    nlp.add_pipe("tests_marked_places")
    return evaluate(nlp, golds, samples=10)


def test_features_are_read_by_config_or_from_examples(monkeypatch):
    assert run(monkeypatch, [make_doc()])["ents_r"] == 0.5
    assert run(monkeypatch, [Example(make_doc(), make_doc())], [])["ents_r"] == 0.5
    with pytest.warns(UserWarning, match=r"reads _\.mark"):
        run(monkeypatch, [make_doc()], ["spans.names"])
    # True: `keep` of another package's reader
    with pytest.raises(ValueError, match="'names'"):
        run(monkeypatch, [make_doc()], True)


def test_gold_entities_are_grouped_by_features_of_the_first_token(monkeypatch):
    golds = [make_doc(is_marked=i > 0) for i in range(12)]
    for i, doc in enumerate(golds):
        for name, value in {"mark": i or "p", "vector": [0.5], "of_others": i}.items():
            doc.user_data["._.", name, doc[0].idx, None] = value
    found = run(monkeypatch, golds, [*FEATURES, "_.vector"])
    mark, vector, names = (
        {x["group"]: (x["recall"], x["support"]) for x in groups}
        for groups in found["groups"].values()
    )
    numbers = {str(i or "p"): (0, 1) for i in range(8)}  # the ten most frequent values
    assert mark == {"True": (1, 11), "None": (0, 1), **numbers}
    assert vector.keys() == {"None"}
    assert names == {"B-CITY": (1, 11), "None": (0, 13)}
    rows = found.to_markdown()
    assert "| Spans.names | B-CITY | 100.00 | 11 |" in rows
    assert "| p | 0.00 | 1 |" in rows
