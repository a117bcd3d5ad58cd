"""What fewer bits change is counted, and refused beyond what may be."""

from functools import partial

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span

from spacy_hashembeds.acceleration.accelerate import accelerate_folder
from spacy_hashembeds.acceleration.changes import ChangeCounter
from spacy_hashembeds.acceleration.in_memory import accelerate
from spacy_hashembeds.acceleration.parity import LoadedPipeline, in_float32
from spacy_hashembeds.display import Sentence
from spacy_hashembeds.kernels.quantized import Packed
from spacy_hashembeds.layers import windowencoder

from ..precisions import fewer_bits, no_fewer_bits  # noqa: F401
from . import accelerate_pipelines as pipelines
from .accelerate_pipelines import NAMES, TEXTS

NLP = spacy.blank("en")

in_int8 = partial(accelerate_folder, precision="int8", blas=False, rounds=1)


def make_doc(ents=(), spans=(), cats=None, tags=()):
    doc = Doc(NLP.vocab, words="Anna met Carl in Rome".split(), tags=tags or None)
    doc.set_ents([Span(doc, *span) for span in ents], default="outside")
    doc.spans["sc"] = [Span(doc, *span) for span in spans]
    doc.cats = cats or {}
    return doc


def count(before, after, gold="Anna met Carl in Rome"):
    counter = ChangeCounter()
    counter.count([gold], [before], [after])
    return counter.summarize()


def test_nothing_changes():
    doc = make_doc([(0, 1, "PER")], [(2, 4, "X")], {"A": 1.0}, list("abcde"))
    changes = count(doc, doc)
    assert (changes.tokens, changes.entities) == ((0, 5), (0, 2))
    assert changes.texts == (0, 1)
    assert changes.percent == 0


@pytest.mark.parametrize(
    ("before", "after", "tokens", "entities"),
    [
        ([(0, 1, "PER")], [(0, 1, "ORG")], 1, (2, 1)),
        ([(0, 1, "PER")], [(0, 3, "PER")], 3, (2, 1)),
        ([(0, 3, "PER")], [], 3, (1, 1)),
        ([], [(4, 5, "LOC")], 1, (1, 0)),
    ],
)
@pytest.mark.parametrize("where", ["ents", "spans"])
def test_entities_and_spans_change(before, after, tokens, entities, where):
    changes = count(make_doc(**{where: before}), make_doc(**{where: after}))
    assert changes.tokens == (tokens, 5)
    assert changes.entities == entities
    assert changes.percent == 20 * tokens


def test_tags_change():
    changes = count(make_doc(tags=list("abcde")), make_doc(tags=list("abxye")))
    assert changes.tokens == (2, 5)
    assert changes.entities == (0, 0)


@pytest.mark.parametrize(
    ("cats", "is_changed"),
    [
        ({"A": 0.6, "B": 0.4}, False),
        ({"A": 0.45, "B": 0.55}, True),  # another is the best
        ({"A": 0.9, "B": 0.6}, True),  # another is more likely than not
    ],
)
def test_categories_change(cats, is_changed):
    changes = count(make_doc(cats={"A": 0.7, "B": 0.3}), make_doc(cats=cats))
    assert changes.texts == (int(is_changed), 1)
    assert changes.percent == 100 * is_changed


def test_f1_is_compared_where_docs_have_entities():
    counter = ChangeCounter()
    right, wrong = make_doc([(0, 1, "PER"), (2, 3, "PER")]), make_doc([(0, 1, "PER")])
    for _ in range(20):
        counter.count([right], [right], [wrong])
        counter.count(["Anna met Carl in Rome"], [right], [wrong])
    changes = counter.summarize()
    # 20 of 40 are not found: F1 is 2/3
    assert changes.f1 == pytest.approx((1, 2 / 3))
    assert changes.f1_difference.difference == pytest.approx(-1 / 3)
    said = [part.text for part in changes.get_parts() if isinstance(part, Sentence)]
    assert any("100.00 before, 66.67 after (-33.33" in text for text in said)


def test_without_gold_entities_there_is_no_f1():
    changes = count(make_doc(), make_doc())
    assert changes.f1 is None
    assert len(list(changes.get_parts())) == 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pipelines") / "inside"
    pipelines.MAKERS["inside"][0]().to_disk(folder)
    return folder


def get_encoders(nlp):
    return [
        node.attrs["weights"]
        for pipe in nlp.pipeline
        for node in pipe[1].model.walk()
        if "convolutions" in node.attrs
    ]


@pytest.mark.usefixtures("fewer_bits")
def test_a_pipeline_in_int8(folder, tmp_path):
    done = in_int8(folder, tmp_path / "out", TEXTS, max_changed=100)
    assert done.changes.tokens[1] == done.tokens > 0
    assert "Changed: " in str(done)
    assert "tokens), in float32" in str(done)
    nlp = spacy.load(tmp_path / "out")
    list(nlp.pipe(TEXTS))
    assert [weights.precision for weights in get_encoders(nlp)] == ["int8"] * 2
    assert all(isinstance(weights.cached[0], Packed) for weights in get_encoders(nlp))

    for precision in ("bfloat16", "float32"):
        again = tmp_path / precision
        in_int8(tmp_path / "out", again, TEXTS, precision=precision, max_changed=100)
        encoders = get_encoders(spacy.load(again))
        assert [weights.precision for weights in encoders] == [precision] * 2


@pytest.mark.usefixtures("fewer_bits")
def test_what_has_the_precision_already(folder, tmp_path):
    in_int8(folder, tmp_path / "out", TEXTS, max_changed=100)
    with pytest.raises(ValueError, match=r"has our layers already\. It should have"):
        in_int8(tmp_path / "out", tmp_path / "again", TEXTS)


@pytest.mark.usefixtures("fewer_bits")
def test_in_memory_with_gold_entities(folder):
    nlp = spacy.load(folder)
    docs = []
    for _ in range(3):
        for text in pipelines.SENTENCES:
            doc = nlp.make_doc(text)
            ents = [
                Span(doc, token.i, token.i + 1, NAMES[token.text])
                for token in doc
                if token.text in NAMES
            ]
            doc.set_ents(ents)
            docs.append(doc)
    done = accelerate(
        nlp, docs, precision="int8", max_changed=100, blas=False, rounds=1
    )
    assert done.changes.f1 is not None
    assert "F1 of entities" in str(done)
    assert {weights.precision for weights in get_encoders(done.nlp)} == {"int8"}


@pytest.mark.usefixtures("fewer_bits")
def test_more_than_may_be_changed_is_refused(folder, tmp_path, monkeypatch):
    def add_noise(packed, X, rows, Y):
        Y += np.random.default_rng(0).normal(size=Y.shape) * 50

    monkeypatch.setattr(windowencoder, "add_convolved", add_noise)
    with pytest.raises(
        ValueError, match=r"int8 change \d.* percent .* 0\.5 may be\. Choose another"
    ):
        in_int8(folder, tmp_path / "out", TEXTS)
    assert not (tmp_path / "out").exists()
    done = in_int8(folder, tmp_path / "out", TEXTS, max_changed=100)
    assert done.changes.percent > 0.5


@pytest.mark.usefixtures("no_fewer_bits")
def test_a_processor_without_instructions_can_not_check_it(folder, tmp_path):
    with pytest.raises(
        ValueError, match=r"'precision' should be 'float32' here: .* for int8"
    ):
        in_int8(folder, tmp_path / "out", TEXTS)


@pytest.mark.usefixtures("fewer_bits")
def test_a_pipeline_without_such_an_encoder(tmp_path):
    nlp = spacy.blank("en")
    layer = pipelines.without_our_encoder(pipelines.tok2vec())
    pipelines.add(nlp, "ner", layer)
    pipelines.train(nlp).to_disk(tmp_path / "in")
    with pytest.raises(ValueError, match="it has no window encoder"):
        in_int8(tmp_path / "in", tmp_path / "out", TEXTS)


@pytest.mark.parametrize("max_changed", [-1, 101, "1", True, float("nan")])
def test_what_may_be_changed_is_a_percentage(folder, tmp_path, max_changed):
    with pytest.raises(ValueError, match="'max_changed' should be a percentage"):
        in_int8(folder, tmp_path / "out", TEXTS, max_changed=max_changed)


def test_a_precision_that_is_not_known(folder, tmp_path):
    with pytest.raises(ValueError, match="'precision' should be 'float32' or"):
        in_int8(folder, tmp_path / "out", TEXTS, precision="int4")


@pytest.mark.usefixtures("fewer_bits")
def test_a_precision_comes_back(folder, tmp_path):
    in_int8(folder, tmp_path / "out", TEXTS, max_changed=100)
    nlp = spacy.load(tmp_path / "out")
    loaded = LoadedPipeline(nlp, nlp.get_pipe("ner").model.ops)
    with in_float32(loaded):
        assert {weights.precision for weights in get_encoders(nlp)} == {"float32"}
    assert {weights.precision for weights in get_encoders(nlp)} == {"int8"}
