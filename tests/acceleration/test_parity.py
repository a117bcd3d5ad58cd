"""Comparison of pipelines, and generated texts."""

import math
import unicodedata
from collections.abc import Callable
from itertools import count

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from thinc.api import Model

from spacy_hashembeds.acceleration import parity
from spacy_hashembeds.acceleration.changes import count_changes
from spacy_hashembeds.acceleration.parity import compare_pipelines, make_texts

NUMBERS = count()
TEXTS = ["Anna lives in Paris", "", "Rome"]


def make(annotate=len, names=("annotate",)) -> Language:
    """Create a pipeline whose components call a function on each Doc."""
    nlp = spacy.blank("en")
    for name in names:

        def component(doc):
            annotate(doc)
            return doc

        factory = f"annotate{next(NUMBERS)}"  # factories are global
        Language.component(factory, func=component)
        nlp.add_pipe(factory, name=name)
    return nlp


def compare(before, after, texts=TEXTS):
    return compare_pipelines(make(before), make(after), texts)


def annotated(
    *, labels=(), score=0.5, cats=None, data="x", tensor=(1, 2), fill=1.0, **of_second
) -> Callable[[Doc], None]:
    """Return a function that annotates a Doc and its second token.

    labels (Sequence[dict]): Arguments of Spans over the first token.
    """

    def annotate(doc):
        spans = [Span(doc, 0, min(1, len(doc)), **settings) for settings in labels]
        doc.spans["sc"] = spans
        doc.spans["sc"].attrs["scores"] = numpy.asarray([score], dtype="f")
        doc.cats = cats or {}
        doc.user_data["mine"] = [data, {"nested": 1.5}]
        doc.tensor = numpy.full(tensor, fill, dtype="f")
        for attr, value in of_second.items() if len(doc) > 1 else ():
            setattr(doc[1], attr, doc[0] if attr == "head" else value)

    return annotate


A, NAN = {"A": 0.5}, {"A": math.nan}
PER = {"label": "PER"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"score": 0.50001}),
        ({"cats": NAN}, {"cats": NAN}),
        # not comparable
        ({"data": object()}, {"data": object()}),
    ],
)
def test_equal_annotation_passes(before, after):
    nlp = spacy.blank("en")
    for texts in (TEXTS, [nlp(text) for text in TEXTS]):
        found, sample = compare(annotated(**before), annotated(**after), texts)
        assert (found.texts, found.tokens, len(sample)) == (3, 5, 3)


@pytest.mark.parametrize(
    ("before", "after", "name", "kinds"),
    [
        ({}, {"norm_": "x"}, "NORM", {"norms"}),
        ({}, {"lemma_": "x"}, "LEMMA", {"lemmas"}),
        ({}, {"tag_": "x"}, "TAG", {"tags"}),
        ({}, {"pos_": "X"}, "POS", {"parts of speech"}),
        ({}, {"dep_": "x"}, "DEP", {"dependencies"}),
        ({}, {"head": 0}, "HEAD", {"heads", "sentences"}),
        ({}, {"is_sent_start": True}, "SENT_START", {"sentences"}),
        ({}, {"ent_kb_id_": "x"}, "ENT_KB_ID", {"tokens of entities"}),
        ({}, {"labels": [PER]}, "spans", {"entities"}),
        ({"labels": [PER]}, {"labels": [{"label": "LOC"}]}, "spans", {"entities"}),
        ({"labels": [PER]}, {"labels": [{**PER, "kb_id": 1}]}, "spans", {"entities"}),
        ({"labels": [PER]}, {"labels": [{**PER, "span_id": 1}]}, "spans", {"entities"}),
        ({"labels": [PER]}, {"labels": [PER, PER]}, "spans", set()),
        ({}, {"score": 0.51}, "spans", set()),
        # not counted without a classifier
        ({"cats": A}, {"cats": {"A": 0.5002}}, "cats", set()),
        ({"cats": A}, {"cats": NAN}, "cats", set()),
        ({"cats": A}, {"cats": {**A, "B": 0.0}}, "cats", set()),
        ({"data": "1"}, {"data": 1}, "user_data", set()),
        # numpy would broadcast this shape
        ({}, {"tensor": (3, 2)}, "tensor", set()),
        ({}, {"fill": 2.0}, "tensor", set()),
    ],
)
def test_differences_are_errors_and_counted(before, after, name, kinds):
    pair = make(annotated(**before)), make(annotated(**after))
    for nlps in (pair, pair[::-1]):
        with pytest.raises(ValueError, match=f": {name} of 'Anna lives in Paris' is "):
            compare_pipelines(*nlps, TEXTS)
        shares = count_changes(nlps[0], TEXTS, *(nlp.pipe(TEXTS) for nlp in nlps)).kinds
        assert {kind for kind, share in shares.items() if share.changed} == kinds


def test_all_texts_are_compared_and_a_sample_kept(monkeypatch):
    def set_last(doc):
        for token in doc:
            token.tag_ = "V" if doc.text == "Berta" else ""

    monkeypatch.setattr(parity, "SAMPLE_SIZE", 5)
    texts = ["Anna lives", "", "in Paris", "Rome", "Oslo", *["x"] * parity._BATCH_SIZE]
    found, sample = compare(len, set_last, iter(texts))
    assert (found.texts, found.tokens) == (len(texts), len(texts) + 1)
    assert [doc.text for doc in sample] == texts[:4]
    with pytest.raises(ValueError, match="TAG of 'Berta'"):
        compare(len, set_last, [*texts, "Berta"])


def give_numbers(model, docs, is_train):
    give = model.attrs["give"]
    return [numpy.full((len(doc), 1), give(doc)) for doc in docs], None


def give_changed(model, docs, is_train):
    """Fake of our layers."""
    return give_numbers(model, docs, is_train)


def make_with_layers(forward=give_changed, **layers) -> Language:
    """Create a pipeline of components with a layer that outputs a number per Doc."""
    nlp = make(names=layers)
    for name, pipe in nlp.components:
        pipe.model = Model("layer", forward, attrs={"give": layers[name]})
    return nlp


@pytest.mark.parametrize("name", ["a", "b"])
@pytest.mark.parametrize("number", [1.0, -1000.0])
@pytest.mark.parametrize("change", [2e-5, math.nan])
def test_the_layers_of_all_components_are_compared(name, number, change, monkeypatch):
    """The difference is a share of the largest value."""

    def give_much(doc):
        return number * (1 + change)

    def give_little(doc):
        return number * (1 + 5e-6 * (doc.text == "Rome"))

    monkeypatch.setattr(parity, "OURS", (give_changed,))
    same = dict.fromkeys("ab", lambda doc: number)
    before = make_with_layers(give_numbers, **same)
    after = make_with_layers(**same | {"a": give_little})
    found, _ = compare_pipelines(before, after, TEXTS)
    assert found.max_relative_diff == pytest.approx(5e-6)
    after = make_with_layers(**same | {name: give_much})
    with pytest.raises(ValueError, match=f"'layer' in component '{name}' differ"):
        compare_pipelines(before, after, TEXTS)


def fail_on_some(doc):
    if doc.text != TEXTS[0]:
        raise IndexError("no token")


@pytest.mark.parametrize(
    ("before", "after", "texts", "match"),
    [
        (fail_on_some, len, TEXTS, "original pipeline fails.*no token"),
        (len, fail_on_some, TEXTS, "converted pipeline fails.*no token"),
        (len, len, ["", ""], "'texts' should have tokens"),
    ],
)
def test_texts_without_tokens_or_with_errors_are_refused(before, after, texts, match):
    with pytest.raises(ValueError, match=match):
        compare(before, after, texts)


def test_generated_texts_are_reproducible_and_varied():
    def take_no_empty_doc(doc):
        doc[0].tag_ = "N"

    nlps = make(), make(take_no_empty_doc), make()
    for nlp in nlps:
        nlp.vocab.strings.add("Zebra")
    texts, filled, again = map(make_texts, nlps)
    assert again == texts
    assert any(text and not text.strip() for text in texts)
    joined = " ".join(texts)
    assert "Zebra" in joined
    names = {unicodedata.name(char, "").split()[0] for char in joined if char.isalpha()}
    assert names >= {"LATIN", "GREEK", "ARABIC", "DEVANAGARI", "CJK", "HANGUL"}
    # some layers fail on empty texts
    assert ("" in texts, "" in filled) == (True, False)
    known = {word for string in nlps[0].vocab.strings for word in string.split()}
    words = {w for text in make_texts(nlps[0], only_known=True) for w in text.split()}
    assert words <= known | {"...", "a"}
