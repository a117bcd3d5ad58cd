"""The comparison of two pipelines, and the texts that are made up for it."""

import math
import unicodedata
from functools import partial
from itertools import count

import numpy
import pytest
import spacy
from spacy.language import Language
from thinc.api import Model, get_current_ops

from spacy_hashembeds.acceleration import conversion, parity
from spacy_hashembeds.acceleration.parity import (
    BATCH_SIZE,
    LoadedPipeline,
    compare_pipelines,
    make_texts,
)

NUMBERS = count()
TEXTS = ["Anna lives in Paris", "", "Rome"]


def make(annotate) -> LoadedPipeline:
    """A pipeline whose one component is a function of a Doc."""
    nlp = spacy.blank("en")
    name = f"annotate{next(NUMBERS)}"  # factories are for the whole process

    def component(doc):
        annotate(doc)
        return doc

    Language.component(name, func=component)
    nlp.add_pipe(name, name="annotate")
    return LoadedPipeline(nlp, get_current_ops())


def compare(before, after, texts=TEXTS):
    return compare_pipelines(make(before), make(after), texts)


def set_span(doc, label="PER", score=0.5, **ids):
    span = spacy.tokens.Span(doc, 0, min(1, len(doc)), label=label, **ids)
    doc.spans["sc"] = [span]
    doc.spans["sc"].attrs["scores"] = numpy.asarray([score], dtype="f")


def set_cats(doc, score=0.5):
    doc.cats = {"A": score}


def set_data(doc, value="x"):
    doc.user_data["mine"] = [value, {"nested": 1.5}]


def set_tag(doc, tag="N"):
    for token in doc:
        token.tag_ = tag


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (set_span, partial(set_span, score=0.50001)),
        (set_cats, partial(set_cats, score=0.50001)),
        (partial(set_cats, score=math.nan), partial(set_cats, score=math.nan)),
        # which has no equality
        (partial(set_data, value=object()), partial(set_data, value=object())),
    ],
)
def test_what_says_the_same_is_alike(before, after):
    found = compare(before, after)
    assert (found.texts, found.tokens) == (3, 5)
    nlp = spacy.blank("en")
    assert compare(before, after, [nlp(text) for text in TEXTS]).tokens == 5


@pytest.mark.parametrize(
    ("annotate", "name"),
    [
        (lambda token: setattr(token, "norm_", "x"), "NORM"),
        (lambda token: setattr(token, "lemma_", "x"), "LEMMA"),
        (lambda token: setattr(token, "tag_", "x"), "TAG"),
        (lambda token: setattr(token, "pos_", "VERB"), "POS"),
        (lambda token: token.set_morph("A=b"), "MORPH"),
        (lambda token: setattr(token, "head", token.doc[0]), "HEAD"),
        (lambda token: setattr(token, "dep_", "x"), "DEP"),
        (lambda token: setattr(token, "is_sent_start", True), "SENT_START"),
        (lambda token: token.doc.set_ents([], default="outside"), "ENT_IOB"),
        (lambda token: setattr(token, "ent_type_", "x"), "ENT_TYPE"),
        (lambda token: setattr(token, "ent_id_", "x"), "ENT_ID"),
        (lambda token: setattr(token, "ent_kb_id_", "x"), "ENT_KB_ID"),
    ],
)
def test_all_annotation_of_tokens_is_compared(annotate, name):
    def annotate_last(doc):
        if len(doc) > 1:
            annotate(doc[-1])

    assert compare(annotate_last, annotate_last).texts == 3
    for pair in ((annotate_last, len), (len, annotate_last)):
        with pytest.raises(ValueError, match=f": {name} of 'Anna lives in Paris' is "):
            compare(*pair)


def set_tensor(doc, shape=(1, 2)):
    doc.tensor = numpy.ones(shape, dtype="f")


def set_span_twice(doc):
    set_span(doc)
    doc.spans["sc"].append(doc.spans["sc"][0])


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        (set_span, partial(set_span, label="LOC"), "spans"),
        (set_span, partial(set_span, score=0.51), "spans"),
        (set_span, partial(set_span, kb_id="Q1"), "spans"),
        (set_span, partial(set_span, span_id="x"), "spans"),
        (set_cats, partial(set_cats, score=0.5002), "cats"),
        (set_data, partial(set_data, value="y"), "user_data"),
        (partial(set_data, value="1"), partial(set_data, value=1), "user_data"),
        (set_cats, lambda doc: setattr(doc, "cats", {"A": 0.5, "B": 0.0}), "cats"),
        (set_cats, len, "cats"),
        (set_span, set_span_twice, "spans"),
        (set_tensor, lambda doc: setattr(doc, "tensor", 2 * doc.tensor), "tensor"),
        # what numpy would spread over the rows
        (set_tensor, partial(set_tensor, shape=(3, 2)), "tensor"),
        (set_tensor, len, "tensor"),
        (set_cats, partial(set_cats, score=math.nan), "cats"),
    ],
)
def test_each_difference_is_found_and_named(before, after, name):
    for pair in ((before, after), (after, before)):
        with pytest.raises(ValueError, match=f": {name} of 'Anna lives in Paris' is "):
            compare(*pair)


def test_as_many_docs_are_kept_as_there_is_time_for(monkeypatch):
    monkeypatch.setattr(parity, "SAMPLE_SIZE", 5)
    texts = ["Anna lives", "", "in Paris", "Rome", "Oslo"] + ["x"] * BATCH_SIZE
    sample = compare(set_tag, set_tag, texts).sample
    assert [doc.text for doc in sample] == texts[:4]


def test_differences_are_found_in_later_batches_too():
    def set_last(doc):
        set_tag(doc, "V" if doc.text == "Berta" else "N")

    texts = ["Anna"] * (BATCH_SIZE + 3)
    assert compare(set_tag, set_last, texts).tokens == len(texts)
    with pytest.raises(ValueError, match="TAG of 'Berta'"):
        compare(set_tag, set_last, [*texts, "Berta"])


def make_layer(number: float) -> Model:
    """A layer that gives this number for each token."""

    def forward(model, docs, is_train):
        return [numpy.full((len(doc), 2), number, dtype="f") for doc in docs], None

    return Model("numbers", forward)


def compare_layers(old: float, new: float) -> float:
    docs = [spacy.blank("en")(text) for text in TEXTS]
    return parity._compare_outputs("ner", make_layer(old), make_layer(new), docs, docs)


def give_ones(model, docs, is_train):
    return [numpy.ones((len(doc), 1)) for doc in docs], None


def give_changed(model, docs, is_train):
    """Stands for a layer of ours."""
    change = model.attrs["change"]
    return [numpy.full((len(doc), 1), 1 + change(doc)) for doc in docs], None


def make_with_layers(forward=give_changed, **changes) -> LoadedPipeline:
    """A pipeline of components that do nothing, with layers that give 1 and a change.

    changes (Callable[[Doc], float]): That of each component, by its name.
    """
    nlp = spacy.blank("en")
    for name, change in changes.items():
        factory = f"annotate{next(NUMBERS)}"
        Language.component(factory, func=partial(lambda doc: doc))
        nlp.add_pipe(factory, name=name).model = Model(
            "numbers", forward, attrs={"change": change}
        )
    return LoadedPipeline(nlp, get_current_ops())


@pytest.fixture
def ours(monkeypatch) -> None:
    """Have layers of these tests for ours."""
    functions = (give_changed, conversion.encode_windows)
    monkeypatch.setattr(conversion, "FORWARDS", functions)


@pytest.mark.usefixtures("ours")
def test_the_largest_difference_may_be_in_any_batch():
    before = make_with_layers(give_ones, a=None)
    after = make_with_layers(a=lambda doc: 5e-6 if doc.text == "Berta" else 1e-6)
    texts = ["Anna"] * BATCH_SIZE
    for batches in ([*texts, "Berta"], ["Berta", *texts]):
        found = compare_pipelines(before, after, batches).max_relative_diff
        assert found == pytest.approx(5e-6)


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("name", ["a", "b"])
def test_the_layers_of_all_components_are_compared(name):
    before = make_with_layers(give_ones, a=None, b=None)
    changes = {"a": lambda doc: 0, "b": lambda doc: 0, name: lambda doc: 1e-4}
    after = make_with_layers(**changes)
    with pytest.raises(ValueError, match=f"'numbers' in component '{name}' differ"):
        compare_pipelines(before, after, TEXTS)


def test_vectors_are_compared_by_the_share_of_the_largest_number():
    assert compare_layers(1000.0, 1000.005) == pytest.approx(5e-6, rel=0.1)
    assert compare_layers(-1000.0, -1000.005) == pytest.approx(5e-6, rel=0.1)
    assert compare_layers(0.001, 0.001005) == pytest.approx(5e-6, rel=0.1)
    for old, new in ((1000.0, 1000.02), (0.001, 0.00102)):
        with pytest.raises(ValueError, match="'numbers' in component 'ner' differ"):
            compare_layers(old, new)


@pytest.mark.parametrize(("old", "new"), [(1.0, math.nan), (math.nan, 1.0)])
def test_vectors_that_are_no_numbers_differ(old, new):
    with pytest.raises(ValueError, match="'ner' differ"):
        compare_layers(old, new)


def fail_on_some(doc):
    if doc.text != TEXTS[0]:
        raise IndexError("no token")


def fail(doc):
    raise IndexError("no token")


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        (fail, set_tag, "as it is"),
        (set_tag, fail, "as converted"),
        (fail_on_some, set_tag, "as it is"),
    ],
)
def test_a_pipeline_that_fails_is_named_with_the_error(before, after, name):
    with pytest.raises(ValueError, match=f"{name} fails.*no token"):
        compare(before, after)


def test_texts_without_a_token_are_refused():
    with pytest.raises(ValueError, match="'texts' should have tokens"):
        compare(set_tag, set_tag, ["", ""])


def test_made_up_texts_are_the_same_each_time_and_hold_all_that_is_odd():
    def take_no_empty_doc(doc):
        doc[0].tag_ = "N"

    pipelines = make(set_tag), make(take_no_empty_doc), make(set_tag)
    for pipeline in pipelines:
        for word in ("Zebra", "apple"):
            pipeline.nlp.vocab.strings.add(word)
    texts, filled, again = map(make_texts, pipelines)
    assert again == texts
    assert "" in texts
    assert any(text and not text.strip() for text in texts)
    joined = " ".join(texts)
    assert all(word in joined for word in ("Zebra", "apple"))
    names = {unicodedata.name(char, "").split()[0] for char in joined if char.isalpha()}
    assert names >= {"LATIN", "GREEK", "CYRILLIC", "HEBREW", "ARABIC", "DEVANAGARI"}
    assert names >= {"CJK", "HIRAGANA", "HANGUL"}
    joined.encode("utf8")  # no half of a surrogate pair
    # some layers take no empty text
    assert "" not in filled
    assert compare_pipelines(pipelines[1], pipelines[1], filled).texts == len(filled)
    known = {
        word for string in pipelines[0].nlp.vocab.strings for word in string.split()
    }
    words = {
        w for text in make_texts(pipelines[0], only_known=True) for w in text.split()
    }
    assert words <= known | {"...", "a"}
