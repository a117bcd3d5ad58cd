"""The comparison of two pipelines, and the texts that are made up for it."""

import math
import unicodedata
from functools import partial
from itertools import count

import numpy
import pytest
import spacy
from spacy.language import Language
from thinc.api import Model

from spacy_hashembeds.acceleration import parity
from spacy_hashembeds.acceleration.parity import compare_pipelines, make_texts

NUMBERS = count()
TEXTS = ["Anna lives in Paris", "", "Rome"]


def make(annotate) -> Language:
    """A pipeline whose one component is a function of a Doc."""
    nlp = spacy.blank("en")
    name = f"annotate{next(NUMBERS)}"  # factories are for the whole process

    def component(doc):
        annotate(doc)
        return doc

    Language.component(name, func=component)
    nlp.add_pipe(name, name="annotate")
    return nlp


def compare(before, after, texts=TEXTS):
    return compare_pipelines(make(before), make(after), texts)


def set_span(doc, label="PER", score=0.5, **ids):
    span = spacy.tokens.Span(doc, 0, min(1, len(doc)), label=label, **ids)
    doc.spans["sc"] = [span]
    doc.spans["sc"].attrs["scores"] = numpy.asarray([score], dtype="f")


def set_span_twice(doc):
    set_span(doc)
    doc.spans["sc"].append(doc.spans["sc"][0])


def set_cats(doc, score=0.5):
    doc.cats = {"A": score}


def set_data(doc, value="x"):
    doc.user_data["mine"] = [value, {"nested": 1.5}]


def set_tensor(doc, shape=(1, 2), value=1.0):
    doc.tensor = numpy.full(shape, value, dtype="f")


def set_tag(doc, tag="N"):
    for token in doc:
        token.tag_ = tag


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (set_span, partial(set_span, score=0.50001)),
        (partial(set_cats, score=math.nan), partial(set_cats, score=math.nan)),
        # which has no equality
        (partial(set_data, value=object()), partial(set_data, value=object())),
    ],
)
def test_what_says_the_same_is_alike(before, after):
    nlp = spacy.blank("en")
    for texts in (TEXTS, [nlp(text) for text in TEXTS]):
        found, sample = compare(before, after, texts)
        assert (found.texts, found.tokens, len(sample)) == (3, 5, 3)


def set_second(attr, value):
    return lambda doc: len(doc) > 1 and setattr(doc[1], attr, value(doc))


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        (len, set_second("norm_", lambda doc: "x"), "NORM"),
        (len, set_second("lemma_", lambda doc: "x"), "LEMMA"),
        (len, set_second("head", lambda doc: doc[0]), "HEAD"),
        (len, set_second("is_sent_start", lambda doc: True), "SENT_START"),
        (len, set_second("ent_kb_id_", lambda doc: "x"), "ENT_KB_ID"),
        (len, lambda doc: doc.set_ents([], default="outside"), "ENT_IOB"),
        (set_tag, partial(set_tag, tag="V"), "TAG"),
        (len, set_span, "spans"),
        (set_span, partial(set_span, label="LOC"), "spans"),
        (set_span, partial(set_span, score=0.51), "spans"),
        (set_span, partial(set_span, kb_id="Q1"), "spans"),
        (set_span, partial(set_span, span_id="x"), "spans"),
        (set_span, set_span_twice, "spans"),
        (set_cats, partial(set_cats, score=0.5002), "cats"),
        (set_cats, partial(set_cats, score=math.nan), "cats"),
        (set_cats, lambda doc: setattr(doc, "cats", {"A": 0.5, "B": 0.0}), "cats"),
        (partial(set_data, value="1"), partial(set_data, value=1), "user_data"),
        # what numpy would spread over the rows
        (set_tensor, partial(set_tensor, shape=(3, 2)), "tensor"),
        (set_tensor, partial(set_tensor, value=2.0), "tensor"),
    ],
)
def test_each_difference_is_found_and_named(before, after, name):
    for pair in ((before, after), (after, before)):
        with pytest.raises(ValueError, match=f": {name} of 'Anna lives in Paris' is "):
            compare(*pair)


def test_all_texts_are_compared_and_as_many_kept_as_there_is_time_for(monkeypatch):
    def set_last(doc):
        set_tag(doc, "V" if doc.text == "Berta" else "N")

    monkeypatch.setattr(parity, "SAMPLE_SIZE", 5)
    texts = ["Anna lives", "", "in Paris", "Rome", "Oslo", *["x"] * parity._BATCH_SIZE]
    found, sample = compare(set_tag, set_last, iter(texts))
    assert (found.texts, found.tokens) == (len(texts), len(texts) + 1)
    assert [doc.text for doc in sample] == texts[:4]
    with pytest.raises(ValueError, match="TAG of 'Berta'"):
        compare(set_tag, set_last, [*texts, "Berta"])


def give_ones(model, docs, is_train):
    return [numpy.full((len(doc), 1), model.attrs["number"]) for doc in docs], None


def give_changed(model, docs, is_train):
    """Stands for a layer of ours."""
    number, change = model.attrs["number"], model.attrs["change"]
    return [numpy.full((len(d), 1), number * (1 + change(d))) for d in docs], None


def make_with_layers(forward=give_changed, *, number=1.0, **changes) -> Language:
    """A pipeline of components that do nothing, with layers that give a number and a
    change of it.

    changes (Callable[[Doc], float]): That of each component, by its name.
    """
    nlp = spacy.blank("en")
    for name, change in changes.items():
        factory = f"annotate{next(NUMBERS)}"
        Language.component(factory, func=partial(lambda doc: doc))
        attrs = {"change": change, "number": number}
        nlp.add_pipe(factory, name=name).model = Model("layer", forward, attrs=attrs)
    return nlp


@pytest.mark.parametrize("name", ["a", "b"])
@pytest.mark.parametrize("number", [1.0, -1000.0])
@pytest.mark.parametrize("change", [2e-5, math.nan])
def test_the_layers_of_all_components_are_compared(name, number, change, monkeypatch):
    """By the share of the largest number."""
    monkeypatch.setattr(parity, "OURS", (give_changed,))
    before = make_with_layers(give_ones, number=number, a=None, b=None)
    changes = {"a": lambda doc: 5e-6 * (doc.text == "Rome"), "b": lambda doc: 0}
    found, _ = compare_pipelines(
        before, make_with_layers(number=number, **changes), TEXTS
    )
    assert found.max_relative_diff == pytest.approx(5e-6)
    after = make_with_layers(number=number, **changes | {name: lambda doc: change})
    with pytest.raises(ValueError, match=f"'layer' in component '{name}' differ"):
        compare_pipelines(before, after, TEXTS)


def fail_on_some(doc):
    if doc.text != TEXTS[0]:
        raise IndexError("no token")


@pytest.mark.parametrize(
    ("before", "after", "texts", "match"),
    [
        (fail_on_some, set_tag, TEXTS, "as it is fails.*no token"),
        (set_tag, fail_on_some, TEXTS, "as converted fails.*no token"),
        (set_tag, set_tag, ["", ""], "'texts' should have tokens"),
    ],
)
def test_texts_that_nothing_can_be_compared_on_are_refused(before, after, texts, match):
    with pytest.raises(ValueError, match=match):
        compare(before, after, texts)


def test_made_up_texts_are_the_same_each_time_and_hold_all_that_is_odd():
    def take_no_empty_doc(doc):
        doc[0].tag_ = "N"

    nlps = make(set_tag), make(take_no_empty_doc), make(set_tag)
    for nlp in nlps:
        nlp.vocab.strings.add("Zebra")
    texts, filled, again = map(make_texts, nlps)
    assert again == texts
    assert any(text and not text.strip() for text in texts)
    joined = " ".join(texts)
    assert "Zebra" in joined
    names = {unicodedata.name(char, "").split()[0] for char in joined if char.isalpha()}
    assert names >= {"LATIN", "GREEK", "ARABIC", "DEVANAGARI", "CJK", "HANGUL"}
    # some layers take no empty text
    assert ("" in texts, "" in filled) == (True, False)
    known = {word for string in nlps[0].vocab.strings for word in string.split()}
    words = {w for text in make_texts(nlps[0], only_known=True) for w in text.split()}
    assert words <= known | {"...", "a"}
