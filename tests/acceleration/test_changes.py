"""What fewer bits change is counted, and refused beyond what may be."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import spacy
from scipy.stats import binomtest
from spacy.tokens import Doc, Span

from spacy_hashembeds.acceleration import conversion
from spacy_hashembeds.acceleration.accelerate import accelerate_folder
from spacy_hashembeds.acceleration.blas import walk_layers
from spacy_hashembeds.acceleration.changes import KINDS, ChangeCounter, estimate_share
from spacy_hashembeds.acceleration.conversion import check_convertible, convert_config
from spacy_hashembeds.acceleration.in_memory import accelerate
from spacy_hashembeds.acceleration.parity import in_float32
from spacy_hashembeds.display import Sentence
from spacy_hashembeds.evaluation.tasks import Classes
from spacy_hashembeds.kernels.convolution import Packed, find_instructions
from spacy_hashembeds.layers import windowencoder
from spacy_hashembeds.loading import load_config

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


def test_entities_on_tokens_without_annotation_are_not_counted():
    gold, after = make_doc(), make_doc([(0, 1, "PER"), (4, 5, "LOC")])
    gold.set_ents([Span(gold, 0, 1, "PER")], default="missing")
    assert count(make_doc([(0, 1, "PER")]), after, gold).f1 == (1, 1)


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


def test_f1_may_rise():
    after = make_doc([(0, 1, "PER")])
    changes = count(make_doc(), after, after)
    assert changes.f1 == (0, 1)
    changes.check(100)


def test_without_gold_entities_there_is_no_f1():
    changes = count(make_doc(), make_doc())
    assert changes.f1 is None
    sentences = [p.text for p in changes.get_parts() if isinstance(p, Sentence)]
    assert sentences == ["Changed: 0 of 5 tokens (0 percent)"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pipelines") / "inside"
    pipelines.MAKERS["inside"][0]().to_disk(folder)
    return folder


def get_encoders(nlp):
    nodes = (node for _, node in walk_layers(nlp))
    return [node.attrs["weights"] for node in nodes if "weights" in node.attrs]


@pytest.mark.usefixtures("instructions")
def test_a_pipeline_in_int8(folder, tmp_path):
    done = in_int8(folder, tmp_path / "out", TEXTS, max_changed=100)
    assert done.changes.tokens[1] == done.tokens > 0
    assert done.kept_precisions == []
    assert "Changed: " in str(done)
    assert "tokens), in float32" in str(done)
    nlp = spacy.load(tmp_path / "out")
    list(nlp.pipe(TEXTS))
    assert [weights.precision for weights in get_encoders(nlp)] == ["int8"] * 2
    assert all(isinstance(weights.cached[0], Packed) for weights in get_encoders(nlp))

    for precision in ("bfloat16", "float32"):
        again = tmp_path / precision
        done = in_int8(
            tmp_path / "out", again, TEXTS, precision=precision, max_changed=100
        )
        # against the pipeline as it was given, which float32 may differ from too
        assert done.changes.tokens[1] == done.tokens
        encoders = get_encoders(spacy.load(again))
        assert [weights.precision for weights in encoders] == [precision] * 2


@pytest.mark.usefixtures("instructions")
@pytest.mark.parametrize("precision", ["int8", None])
def test_what_has_the_precision_already(folder, tmp_path, precision):
    in_int8(folder, tmp_path / "out", TEXTS, max_changed=100)
    with pytest.raises(ValueError, match=r"already, with.*It should (?!.*--precision)"):
        in_int8(tmp_path / "out", tmp_path / "again", TEXTS, precision=precision)


@pytest.mark.usefixtures("instructions")
@pytest.mark.parametrize("precision", ["float32", None])
def test_what_has_our_layers_already_can_have_fewer_bits(folder, precision):
    config = convert_config(load_config(folder / "config.cfg"))
    with pytest.raises(ValueError, match=r"already. It should.*'precision' in P"):
        check_convertible(config, folder, precision)


@pytest.mark.usefixtures("no_instructions")
def test_none_are_named_that_the_processor_has_no_instructions_for(folder):
    config = convert_config(load_config(folder / "config.cfg"))
    with pytest.raises(ValueError, match=r"already\. It should (?!.*--precision)"):
        check_convertible(config, folder, None)


@pytest.fixture
def noise(instructions, monkeypatch) -> None:
    """Have products of fewer bits change whatever comes of them."""

    add = windowencoder.add_convolved

    def add_noise(packed, X, rows, Y):
        add(packed, X, rows, Y)
        if packed.instructions != find_instructions("float32"):
            Y += np.random.default_rng(0).normal(size=Y.shape) * 50

    monkeypatch.setattr(windowencoder, "add_convolved", add_noise)


@pytest.mark.usefixtures("noise")
def test_a_precision_stays_unless_another_is_asked_for(tmp_path):
    """And what is counted is against the pipeline as it was given."""
    nlp = pipelines.MAKERS["shared"][0]()
    config = nlp.config.copy()
    place = config["components"]["tok2vec"]["model"]["encode"]
    place |= {"@architectures": conversion.OUR_ENCODER, "precision": "int8"}
    mixed = spacy.util.load_model_from_config(config)
    nlp.to_disk(tmp_path / "in")
    mixed.from_disk(tmp_path / "in").to_disk(tmp_path / "mixed")
    done = in_int8(tmp_path / "mixed", tmp_path / "out", TEXTS, precision=None)
    assert "components.tok2vec.model.encode" not in done.converted
    assert done.kept_precisions == ["int8"]
    assert done.changes.tokens == (0, done.tokens)
    precisions = [kept.precision for kept in get_encoders(spacy.load(tmp_path / "out"))]
    assert sorted(precisions) == ["float32", "int8"]


@pytest.mark.usefixtures("instructions")
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


@pytest.mark.usefixtures("noise")
def test_more_than_may_be_changed_is_refused(folder, tmp_path):
    with pytest.raises(
        ValueError,
        match=r"changes .* of (tags|heads|entities).* 0\.5 .* Choose another",
    ):
        in_int8(folder, tmp_path / "out", TEXTS)
    assert not (tmp_path / "out").exists()
    done = in_int8(folder, tmp_path / "out", TEXTS, max_changed=100)
    assert done.changes.tokens[0] > 0


@pytest.mark.usefixtures("no_instructions")
def test_a_processor_without_instructions_can_not_check_it(folder, tmp_path):
    with pytest.raises(ValueError, match=r"'precision' should be 'float32'.*for int8"):
        in_int8(folder, tmp_path / "out", TEXTS)


@pytest.mark.usefixtures("instructions")
def test_a_pipeline_without_such_an_encoder(tmp_path):
    nlp = spacy.blank("en")
    layer = pipelines.without_our_encoder(pipelines.tok2vec())
    pipelines.add(nlp, "ner", layer)
    pipelines.train(nlp).to_disk(tmp_path / "in")
    with pytest.raises(ValueError, match="it has no window encoder"):
        in_int8(tmp_path / "in", tmp_path / "out", TEXTS)


@pytest.mark.parametrize("max_changed", [-1, 101, "1", True, False, float("nan")])
def test_what_may_be_changed_is_a_percentage(folder, tmp_path, max_changed):
    error = ValueError if type(max_changed) in (int, float) else TypeError
    with pytest.raises(error, match="'max_changed' should be a percentage"):
        in_int8(folder, tmp_path / "out", TEXTS, max_changed=max_changed)


def test_a_precision_that_is_not_known(folder, tmp_path):
    with pytest.raises(ValueError, match="'precision' should be 'float32' or"):
        in_int8(folder, tmp_path / "out", TEXTS, precision="int4")
    with pytest.raises(TypeError, match=r"'precision' should be 'float32' or .* is 8"):
        in_int8(folder, tmp_path / "out", TEXTS, precision=8)


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
