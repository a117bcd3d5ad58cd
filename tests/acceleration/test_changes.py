"""What fewer bits change is counted, and refused beyond what may be."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import spacy
from scipy.stats import binomtest
from spacy.tokens import Doc, Span

from spacy_hashembeds.acceleration import conversion
from spacy_hashembeds.acceleration.accelerate import Settings, accelerate_folder
from spacy_hashembeds.acceleration.changes import KINDS, ChangeCounter, estimate_share
from spacy_hashembeds.acceleration.in_memory import accelerate
from spacy_hashembeds.acceleration.parity import in_float32, walk_encoders
from spacy_hashembeds.display import Sentence
from spacy_hashembeds.evaluation.tasks import Classes
from spacy_hashembeds.kernels.convolution import Packed
from spacy_hashembeds.loading import load_config

from ..layers.plans import get_kept
from . import accelerate_pipelines as pipelines
from .accelerate_pipelines import SENTENCES, TEXTS, find_precisions

NLP = spacy.blank("en")

in_int8 = partial(accelerate_folder, precision="int8", blas=False, rounds=1)


def make_doc(ents=(), spans=(), cats=None, tags=()):
    doc = Doc(NLP.vocab, words="Anna met Carl in Rome".split(), tags=tags or None)
    doc.set_ents([Span(doc, *span) for span in ents], default="outside")
    doc.spans["sc"] = [Span(doc, *span) for span in spans]
    doc.cats = cats or {}
    return doc


BOTH = Classes(labels=("A", "B"), exclusive=False, threshold=0.5)


def count(before, after, gold="Anna met Carl in Rome", classes=BOTH):
    counter = ChangeCounter([classes])
    counter.count([gold], [before], [after])
    return counter.summarize()


def test_nothing_changes():
    doc = make_doc([(0, 1, "PER")], [(2, 4, "X")], {"A": 1.0}, list("abcde"))
    changes = count(doc, doc)
    assert changes.tokens == (0, 5)
    assert {kind: share[:2] for kind, share in changes.kinds.items()} == {
        **dict.fromkeys(KINDS, (0, 5)),
        "entities": (0, 2),
        "categories": (0, 1),
    }
    changes.check(0)


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
    assert changes.kinds["entities"][:2] == entities
    changes.check(100)
    with pytest.raises(ValueError, match=r"percent \(.* of entities.*, where up to 9 "):
        changes.check(9)


def test_tags_change():
    changes = count(make_doc(tags=list("abcde")), make_doc(tags=list("abxye")))
    assert changes.tokens == (2, 5)
    changed = {kind for kind, share in changes.kinds.items() if share.changed}
    assert changed == {"tags"}
    assert changes.kinds["tags"][:2] == (2, 5)


def test_each_kind_is_limited_by_itself():
    before = [make_doc(tags=list("abcde")) for _ in range(1000)]
    afters = [make_doc(tags=list("abcde")) for _ in range(1000)]
    for i in range(10):
        afters[i][i % 5].tag_ = "x"
        afters[-1 - i][i % 5].lemma_ = "x"
    counter = ChangeCounter([])
    counter.count([doc.text for doc in before], before, afters)
    changes = counter.summarize()
    assert changes.tokens == (20, 5000)
    assert {k: s.changed for k, s in changes.kinds.items() if s.changed} == {
        "tags": 10,
        "lemmas": 10,
    }
    changes.check(0.4)  # 0.2 percent of each, surely below 0.37
    with pytest.raises(ValueError, match=r"0\.2 percent.*of lemmas, .*Give more texts"):
        changes.check(0.3)
    with pytest.raises(ValueError, match=r"of tags, where up to 0\.1 .* F1\. Choose"):
        changes.check(0.1)


def test_an_interval_is_wilsons_and_wider_where_changes_come_together():
    apart = np.array([[1, 100]] * 10 + [[0, 100]] * 90)
    together = np.array([[10, 100]] + [[0, 100]] * 99)
    wilson = binomtest(10, 10_000).proportion_ci(method="wilson")
    assert estimate_share(apart).interval == pytest.approx(tuple(wilson))
    assert estimate_share(together)[:2] == estimate_share(apart)[:2]
    low, high = estimate_share(together).interval
    assert low < 2e-4
    assert high > 50e-4
    # nothing of 100 is up to 3.7 percent, of a single text as of many
    assert estimate_share(np.array([[0, 100]])).interval == pytest.approx(
        (0, 0.037), abs=1e-4
    )
    assert estimate_share(np.zeros((0, 2), dtype=int)) == (0, 0, (0, 0))
    # what is new may be more than there was, or all
    assert estimate_share(np.array([[1, 0]])).interval == (0, 1)
    assert estimate_share(np.array([[3, 1]])).interval[1] == 1


@pytest.mark.parametrize(
    ("cats", "exclusive", "threshold", "is_changed"),
    [
        ({"A": 0.6, "B": 0.4}, False, 0.5, False),
        ({"A": 0.6, "B": 0.4}, False, 0.65, True),
        ({"A": 0.9, "B": 0.6}, False, 0.5, True),
        ({"A": 0.9, "B": 0.6}, True, 0.5, False),
        ({"A": 0.4, "B": 0.3}, True, 0.5, False),
        ({"A": 0.2, "B": 0.3}, True, 0.5, True),
    ],
)
def test_categories_change(cats, exclusive, threshold, is_changed):
    classes = replace(BOTH, exclusive=exclusive, threshold=threshold)
    before, after = make_doc(cats={"A": 0.7, "B": 0.3}), make_doc(cats=cats)
    changes = count(before, after, classes=classes)
    assert changes.kinds["categories"][:2] == (int(is_changed), 1)
    differences = (abs(cats["A"] - 0.7), abs(cats["B"] - 0.3))
    assert changes.max_score_diff == pytest.approx(max(differences))
    changes.check(100 * is_changed)


def test_the_largest_difference_of_scores_may_be_in_any_text():
    counter, before = ChangeCounter([BOTH]), make_doc(cats={"A": 0.7})
    for score in (0.7, 0.9, 0.6):
        counter.count(["a text"], [before], [make_doc(cats={"A": score})])
    assert counter.summarize().max_score_diff == pytest.approx(0.2)


ANNA = make_doc([(0, 1, "PER")])
ANNA_ALONE = make_doc()
ANNA_ALONE.set_ents([Span(ANNA_ALONE, 0, 1, "PER")], default="missing")


@pytest.mark.parametrize(
    ("before", "after", "gold", "f1"),
    [
        (make_doc(), ANNA, ANNA, (0, 1)),
        # elsewhere it has no annotation
        (ANNA, make_doc([(0, 1, "PER"), (4, 5, "LOC")]), ANNA_ALONE, (1, 1)),
        (make_doc(), make_doc(), "Anna met Carl in Rome", None),
    ],
)
def test_f1_is_that_of_gold_entities_if_there_are_any(before, after, gold, f1):
    changes = count(before, after, gold)
    assert changes.f1 == f1
    changes.check(100)
    said = [part.text for part in changes.get_parts() if isinstance(part, Sentence)]
    assert any(text.startswith("F1 of entities") for text in said) == (f1 is not None)
    assert said[0].startswith("Changed: ")


def test_f1_is_compared_where_docs_have_entities():
    counter = ChangeCounter([])
    right, wrong = make_doc([(0, 1, "PER"), (2, 3, "PER")]), make_doc([(0, 1, "PER")])
    for _ in range(20):
        counter.count([right], [right], [wrong])
        counter.count(["Anna met Carl in Rome"], [right], [wrong])
    changes = counter.summarize()
    # 20 of 40 are not found: F1 is 2/3
    assert changes.f1 == pytest.approx((1, 2 / 3))
    assert changes.f1_difference.difference == pytest.approx(-1 / 3)
    with pytest.raises(ValueError, match=r"F1 by -33\.3 points"):
        changes.check(33)
    said = [part.text for part in changes.get_parts() if isinstance(part, Sentence)]
    assert any("100.00 before, 66.67 after (-33.33" in text for text in said)


@pytest.fixture
def folder(saved) -> Path:
    """An ner and a tagger, each with an encoder of its own."""
    return saved("inside")


@pytest.mark.usefixtures("instructions")
def test_a_pipeline_in_int8(folder, tmp_path):
    done = in_int8(folder, tmp_path / "out", TEXTS, max_changed=100)
    assert done.changes.tokens[1] == done.tokens > 0
    assert done.kept_precisions == []
    assert "Changed: " in str(done)
    assert "tokens), in float32" in str(done)
    nlp = spacy.load(tmp_path / "out")
    assert find_precisions(nlp) == {"ner": "int8", "tagger": "int8"}
    list(nlp.pipe(TEXTS))
    for _, weights in walk_encoders(nlp):
        assert isinstance(get_kept(weights)[0], Packed)
    again = tmp_path / "again"
    done = in_int8(tmp_path / "out", again, TEXTS, precision="float32", max_changed=100)
    # against the pipeline as it was given, which float32 may differ from too
    assert done.changes.tokens[1] == done.tokens
    assert set(find_precisions(spacy.load(again)).values()) == {"float32"}


def test_a_precision_stays_unless_another_is_asked_for(saved, tmp_path, spoil):
    """And what is counted is against the pipeline as it was given."""
    spoil("int8", "bfloat16")
    config = load_config(saved("shared") / "config.cfg")
    place = config["components"]["tok2vec"]["model"]["encode"]
    place |= {"@architectures": conversion.OUR_ENCODER, "precision": "int8"}
    mixed = spacy.util.load_model_from_config(config)
    mixed.from_disk(saved("shared")).to_disk(tmp_path / "mixed")
    done = in_int8(tmp_path / "mixed", tmp_path / "out", TEXTS, precision=None)
    assert "components.tok2vec.model.encode" not in done.converted
    assert done.kept_precisions == ["int8"]
    assert done.changes.tokens == (0, done.tokens)
    precisions = find_precisions(spacy.load(tmp_path / "out"))
    assert precisions == {"tok2vec": "int8", "morphologizer": "float32"}


@pytest.mark.usefixtures("instructions")
def test_in_memory_with_gold_entities(folder):
    nlp = spacy.load(folder)
    docs = [pipelines.make_example(nlp, text).reference for text in SENTENCES] * 3
    done = accelerate(nlp, docs, precision="int8", max_changed=100, rounds=1)
    assert done.changes.f1 is not None
    assert "F1 of entities" in str(done)
    assert set(find_precisions(done.nlp).values()) == {"int8"}


def test_more_than_may_be_changed_is_refused(folder, tmp_path, spoil):
    spoil("int8")
    with pytest.raises(
        ValueError,
        match=r"changes .* of (tags|heads|entities).* 0\.5 .* Choose another",
    ):
        in_int8(folder, tmp_path / "out", TEXTS)
    assert not (tmp_path / "out").exists()
    done = in_int8(folder, tmp_path / "out", TEXTS, max_changed=100)
    assert done.changes.tokens[0] > 0


@pytest.mark.usefixtures("instructions")
def test_few_texts_tell_nothing(folder, tmp_path):
    with pytest.raises(
        ValueError, match=r"2 tokens are too few .* 0\.5 percent\. Give"
    ):
        in_int8(folder, tmp_path / "out", ["Anna lives"])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("settings", "error", "match"),
    [
        ({"max_changed": -1}, ValueError, "'max_changed' should be a percentage"),
        ({"max_changed": 101}, ValueError, "'max_changed' should be a percentage"),
        ({"max_changed": float("nan")}, ValueError, "a percentage, 0 to 100, but is n"),
        ({"max_changed": "1"}, TypeError, "'max_changed' should be a percentage"),
        ({"max_changed": True}, TypeError, "'max_changed' should be a percentage"),
        ({"precision": "int4"}, ValueError, "'precision' should be 'float32' or"),
        ({"precision": 8}, TypeError, r"'precision' should be 'float32' or .* is 8"),
    ],
)
def test_wrong_settings_are_refused(settings, error, match):
    with pytest.raises(error, match=match):
        Settings(**settings)


@pytest.mark.usefixtures("instructions")
def test_to_compare_one_thread_computes_in_float32_and_others_as_ever(folder, tmp_path):
    in_int8(folder, tmp_path / "out", TEXTS, max_changed=100)
    models = [
        spacy.load(path).get_pipe("ner").model.get_ref("tok2vec")
        for path in (folder, tmp_path / "out")
    ]
    docs = [spacy.load(folder).make_doc(text) for text in TEXTS]
    exact, fewer = (np.concatenate(model.predict(docs)) for model in models)
    predict = models[1].predict
    with in_float32(), ThreadPoolExecutor() as threads:
        np.testing.assert_allclose(np.concatenate(predict(docs)), exact, atol=1e-4)
        others = np.concatenate(threads.submit(predict, docs).result())
    np.testing.assert_array_equal(others, fewer)
    assert abs(fewer - exact).max() > 1e-4
