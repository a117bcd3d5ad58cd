"""Annotation by components ahead of another, before symbols are counted."""

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_hashembeds.training.annotation import Annotation, annotate, find_annotation

LEMMAS = ("lemmatizer", frozenset({"LEMMA"}))
TAGS = ("tagger", frozenset({"TAG"}))
ANY = ("ruler", frozenset[str]())


@pytest.mark.parametrize(
    ("components", "attrs", "needed"),
    [
        # what sets none of them is not run: it may not be ready, or take long
        ((LEMMAS,), ("NORM", "PREFIX"), ()),
        ((LEMMAS, ANY), ("PREFIX",), ()),
        # what declares nothing may set any, by what stands ahead of it
        ((TAGS, ANY, LEMMAS), ("NORM",), (TAGS, ANY)),
        ((TAGS, LEMMAS), ("TAG", "PREFIX"), (TAGS,)),
    ],
)
def test_what_sets_no_counted_attribute_is_left_out(components, attrs, needed):
    annotation = Annotation(components, ("POS",))
    assert annotation.restrict(attrs) == Annotation(needed, ())
    assert annotation.restrict(["POS"]).gold == ("POS",)


def make_pipeline(*names: str) -> spacy.Language:
    nlp = spacy.blank("en")
    for name in (*names, "ner"):
        nlp.add_pipe(name)
    nlp.config["training"]["annotating_components"] = list(names)
    return nlp


def test_enabled_components_have_yet_to_learn_whatever_weights_they_have():
    nlp = make_pipeline("tagger")
    nlp.get_pipe("tagger").add_label("A")
    nlp.initialize()
    assert find_annotation(nlp, "ner") == Annotation((), ("TAG",))
    nlp.disable_pipe("tagger")
    assert find_annotation(nlp, "ner") == Annotation((TAGS,), ())


def test_starts_of_sentences_count_and_attributes_of_extensions_do_not(monkeypatch):
    nlp = make_pipeline("senter", "tagger")
    monkeypatch.setattr(nlp.get_pipe_meta("tagger"), "assigns", ["doc._.tag", "token"])
    annotation = find_annotation(nlp, "ner")
    assert annotation.gold == ("SENT_START",)
    doc = Doc(nlp.vocab, words=["a", "b"], sent_starts=[True, False])
    example = Example(nlp.make_doc("a b"), doc)
    (annotated,) = annotate(nlp, [example], annotation)
    starts = annotated.to_array("SENT_START").tolist()
    assert starts == doc.to_array("SENT_START").tolist() == [1, 2**64 - 1]
