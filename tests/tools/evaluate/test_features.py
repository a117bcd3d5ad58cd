"""Pipelines that read features are scored with those that gold Docs store."""

import pytest
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_hashembeds.tools.evaluate.evaluate import evaluate
from spacy_hashembeds.training.features import read_values

from ... import toy_ner
from ...toy_features import FEATURES, make_doc, make_nlp, register


@pytest.fixture(autouse=True)
def _extensions(monkeypatch):
    register(monkeypatch)


@Language.component("tests_marked_places")
def find_marked_places(doc: Doc) -> Doc:
    marks, names = (read_values(doc, attr) for attr in FEATURES)
    places = [i for i in range(len(doc)) if marks[i] and names[i]]
    doc.ents = [Span(doc, i, i + 1, "LOC") for i in places]
    return doc


def run(golds, keep=FEATURES, **options):
    nlp = make_nlp(keep)
    nlp.add_pipe("tests_marked_places")
    return evaluate(nlp, golds, samples=10, **options)


def test_scores_are_those_with_features_kept_by_the_config_or_of_examples():
    for golds, keep in (
        ([make_doc()], FEATURES),
        ([Example(make_doc(), make_doc())], []),
    ):
        assert run(golds, keep)["ents_per_type"]["LOC"]["f"] == 1


def test_features_that_do_not_reach_the_pipeline_are_named():
    with pytest.warns(UserWarning, match=r"reads _\.mark, of which"):
        run([make_doc()], ["spans.names"])
    # True: readers of other packages may mean another thing by it
    with pytest.raises(ValueError, match="spans 'names'"):
        run([make_doc()], True)


def test_entities_are_scored_by_features_of_the_first_token():
    golds = [make_doc(is_marked=i > 0) for i in range(8)]
    for i, doc in enumerate(golds):
        doc.user_data["._.", "mark", doc[0].idx, None] = f"size {min(i, 5)}"
    baseline = toy_ner.make_ruler({"Rome": "LOC", "Ann": "LOC"}, None)
    found = run(golds, against=baseline, train=golds)
    scores = found["ents_per_feature"]
    assert {x: (scores[x]["r"], scores[x]["support"]) for x in scores} == {
        "_.mark: others": (0, 3),  # sizes 2 to 4
        **{f"_.mark={x}": (0, 1) for x in ("None", "size 0", "size 1")},
        "_.mark=size 5": (0, 3),
        "_.mark=True": (1, 7),
        "spans.names=B-CITY": (1, 7),
        "spans.names=None": (0, 9),
    }
    compared = found["comparison"]["per_feature"]["spans.names=None"]
    assert compared["p"]["other"] == pytest.approx(1 / 9)
    for form in (found.to_html(), found.to_markdown()):
        assert form.count("spans.names=B-CITY") == 4  # all, seen, unseen, F1 compared
