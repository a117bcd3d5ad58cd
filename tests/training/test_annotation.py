"""Annotation by preceding components, before symbols are counted."""

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
        # components that set none of the attributes are not run
        ((LEMMAS,), ("NORM", "PREFIX"), ()),
        ((LEMMAS, ANY), ("PREFIX",), ()),
        # undeclared components may set any, and need those before
        ((TAGS, ANY, LEMMAS), ("NORM",), (TAGS, ANY)),
        ((TAGS, LEMMAS), ("TAG", "PREFIX"), (TAGS,)),
        ((TAGS, LEMMAS), ("TAG", "LEMMA"), (TAGS, LEMMAS)),
    ],
)
def test_components_that_set_no_counted_attribute_are_skipped(
    components, attrs, needed
):
    annotation = Annotation(components, ("POS",))
    assert annotation.restrict(attrs) == Annotation(needed, ())
    assert annotation.restrict(["POS"]).gold == ("POS",)


def test_enabled_components_are_untrained_even_with_weights(monkeypatch):
    nlp = spacy.blank("en")
    for name in ("senter", "tagger", "ner"):
        nlp.add_pipe(name)
    nlp.config["training"]["annotating_components"] = ["senter", "tagger"]
    nlp.get_pipe("tagger").add_label("A")
    nlp.initialize()
    assert find_annotation(nlp, "ner") == Annotation((), ("TAG", "SENT_START"))
    nlp.disable_pipe("tagger")
    assert find_annotation(nlp, "ner") == Annotation((TAGS,), ("SENT_START",))
    # extensions and tokens are ignored
    monkeypatch.setattr(nlp.get_pipe_meta("tagger"), "assigns", ["doc._.tag", "token"])
    nlp.enable_pipe("tagger")
    annotation = find_annotation(nlp, "ner")
    assert annotation.gold == ("SENT_START",)
    doc = Doc(nlp.vocab, words=["a", "b"], sent_starts=[True, False])
    (annotated,) = annotate(nlp, [Example(nlp.make_doc("a b"), doc)], annotation)
    assert annotated.to_array("SENT_START").tolist() == [1, 2**64 - 1]
