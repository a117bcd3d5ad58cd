import shutil
from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.vectors import Vectors
from thinc.api import NumpyOps, get_current_ops, set_current_ops

from lab.trials import pipelines
from lab.trials.pipelines import choose_score, compare_pipelines, name_models
from lab.trials.scores import evaluate_pipeline
from lab.trials.sizes import (
    count_embedding_parameters,
    count_mixing_parameters,
    count_pipeline_parameters,
)
from spacy_hashembeds.acceleration.timing import Speed
from spacy_hashembeds.files import bytes_on_disk
from tests.conftest import make_trial

#: An organisation of the demo corpus, in its test set.
NAME = "Ovelmardyne"


@pytest.fixture
def model(trained_root) -> str:
    return str(make_trial(trained_root).output / "model-best")


@pytest.fixture
def ruler(tmp_path) -> str:
    """A pipeline that has no parameters, but finds an entity."""
    nlp = spacy.blank("en")
    ruler: Any = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "ORG", "pattern": NAME}])
    nlp.to_disk(tmp_path / "ruler")
    return str(tmp_path / "ruler")


@pytest.fixture
def corpus(trained_root) -> Path:
    return trained_root / "corpus/demo/test.spacy"


def test_parameters_and_sizes_need_no_corpus(model, ruler):
    comparison = compare_pipelines([model, ruler])
    rows = comparison.pop("rows")
    assert comparison == {"score": None, "machine": None, "disturbances": None}
    nlp = spacy.load(model)
    total, embedding = count_pipeline_parameters(nlp), count_embedding_parameters(nlp)
    assert rows[0] == {
        "name": rows[0]["name"],
        "model": model,
        "score": None,
        "pipeline_parameters": total,
        "embedding_parameters": embedding,
        "mixing_parameters": count_mixing_parameters(nlp),
        "vector_values": 0,
        "bytes_on_disk": bytes_on_disk(model),
        "prr": None,
        "pcr_all": 0,
        "pcr_emb": 0,
        "pcr_tables": 0,
        "poep": embedding / total,
    }
    assert rows[1]["pipeline_parameters"] == 0
    assert rows[1]["pcr_all"] == 1
    # no embedding is no embedding of size 0
    for key in ("embedding_parameters", "mixing_parameters", "pcr_emb", "poep"):
        assert rows[1][key] is None


def test_on_a_corpus_they_are_scored_and_timed(
    model, ruler, trained_root, corpus, monkeypatch
):
    timed = []

    def measure(models, docs, progress):
        timed.append((models, len(docs)))
        return [Speed(100.0, (99, 101)), Speed(250.0, (99, 300))]

    monkeypatch.setattr(pipelines, "measure_models", measure)
    comparison = compare_pipelines([model, ruler], corpus)
    assert comparison["score"] == "ents_f"
    rows = comparison["rows"]
    train = corpus.with_name("train.spacy")
    for row in rows:
        f = evaluate_pipeline(row["model"], corpus, train)["ents_f"]
        assert row["score"] == pytest.approx(f)
    assert all(0 < row["score"] < 1 for row in rows)
    assert [row["prr"] for row in rows] == [1, rows[1]["score"] / rows[0]["score"]]
    assert timed == [([model, ruler], 40)]
    assert [row["words_per_second"] for row in rows] == [100, 250]
    assert [row["times_as_fast"] for row in rows] == [1, 2.5]
    assert rows[1]["words_per_second_quartiles"] == [99, 300]
    assert comparison["machine"]["cores"] > 0
    assert isinstance(comparison["disturbances"], list)


def test_real_timings(model, corpus):
    rows = compare_pipelines([model, model], corpus)["rows"]
    assert all(row["words_per_second"] > 0 for row in rows)
    assert [row["prr"] for row in rows] == [1, 1]


def test_a_score_can_be_named(model, corpus, monkeypatch):
    monkeypatch.setattr(
        pipelines, "measure_models", lambda *args: [Speed(1.0, (1, 1))] * 2
    )
    comparison = compare_pipelines([model, model], corpus, score="ents_r")
    expected = spacy.load(model).evaluate(
        list(pipelines.read_examples(corpus, spacy.load(model)))
    )
    assert comparison["score"] == "ents_r"
    assert comparison["rows"][0]["score"] == expected["ents_r"] != expected["ents_f"]


@pytest.mark.parametrize("name", ["dep_las", "ents_per_type"])
def test_a_score_that_is_none_is_refused(name, model, corpus):
    message = rf"'score' is '{name}', but the pipeline .*, only .*ents_f"
    with pytest.raises(ValueError, match=message):
        compare_pipelines([model, model], corpus, score=name)


def test_where_there_is_nothing_to_score_no_score_is_kept(model, tmp_path, monkeypatch):
    doc = spacy.tokens.Doc(spacy.blank("en").vocab, words=["no", "annotation"])
    DocBin(docs=[doc]).to_disk(tmp_path / "plain.spacy")
    monkeypatch.setattr(
        pipelines, "measure_models", lambda *args: [Speed(1.0, (1, 1))] * 2
    )
    rows = compare_pipelines([model, model], tmp_path / "plain.spacy")["rows"]
    assert [(row["score"], row["prr"]) for row in rows] == [(None, None)] * 2


@pytest.mark.parametrize(
    ("components", "found"),
    [(("ner", "tagger"), "by ents_f, tag_acc in"), ((), "by no score in")],
)
def test_several_scores_or_none_have_to_be_named(
    components, found, model, corpus, tmp_path
):
    nlp = spacy.blank("en")
    for name in components:
        nlp.add_pipe(name)
    with pytest.raises(ValueError, match=rf"named \(--score\), since .* {found}"):
        choose_score(nlp)
    assert choose_score(spacy.load(model)) == "ents_f"


def test_the_baseline_chooses_the_score(model, corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(
        pipelines, "measure_models", lambda *args: [Speed(1.0, (1, 1))] * 2
    )
    nlp = spacy.load(model)
    nlp.add_pipe("sentencizer")  # which has a score of its own
    nlp.to_disk(tmp_path / "more")
    models = [model, str(tmp_path / "more")]
    assert compare_pipelines(models, corpus)["score"] == "ents_f"
    with pytest.raises(ValueError, match="by ents_f, sents_f in training"):
        compare_pipelines(models[::-1], corpus)


def test_word_vectors_are_not_counted_but_said(model, tmp_path):
    nlp = spacy.load(model)
    nlp.vocab.vectors = Vectors(data=numpy.ones((3, 5), "f"), keys=["a", "b", "c"])
    nlp.to_disk(tmp_path / "vectors")
    rows = compare_pipelines([model, str(tmp_path / "vectors")])["rows"]
    assert [row["vector_values"] for row in rows] == [0, 15]
    assert rows[0]["pipeline_parameters"] == rows[1]["pipeline_parameters"]


@pytest.mark.parametrize("models", [[], ["one"]])
def test_one_pipeline_has_nothing_beside_it(models):
    with pytest.raises(ValueError, match="others to set beside it, but there is"):
        compare_pipelines(models)


def test_a_score_needs_a_corpus(model):
    with pytest.raises(ValueError, match=r"'score' is 'ents_f', but there is no cor"):
        compare_pipelines([model, model], score="ents_f")


def test_what_can_not_be_read_is_named(model, corpus, tmp_path):
    with pytest.raises(OSError, match="gone"):
        compare_pipelines([model, str(tmp_path / "gone")])
    with pytest.raises(FileNotFoundError, match=r"'.*gone\.spacy'"):
        compare_pipelines([model, model], tmp_path / "gone.spacy")
    DocBin(docs=[]).to_disk(tmp_path / "empty.spacy")
    with pytest.raises(ValueError, match="should have tokens"):
        compare_pipelines([model, model], tmp_path / "empty.spacy")
    damaged = shutil.copytree(model, tmp_path / "damaged")
    (damaged / "ner/model").write_bytes(b"")
    with pytest.raises(ValueError, match=r"pipeline '.*damaged' can't be loaded"):
        compare_pipelines([model, str(damaged)])


def test_no_pipeline_changes_the_ops_of_the_next(model, monkeypatch):
    before = get_current_ops()

    def load(name: str) -> Language:
        assert get_current_ops() is before
        set_current_ops(NumpyOps())
        return spacy.load(name)

    monkeypatch.setattr(pipelines, "load_trained", load)
    compare_pipelines([model, model])
    assert get_current_ops() is before


@pytest.mark.parametrize(
    ("models", "names"),
    [
        (["en_small", "x/y/model-best"], ["en_small", "x/y/model-best"]),
        (["x/a/s/model-best", "x/b/s/model-best"], ["a", "b"]),
        (["/x/a/1/m", "/x/b/2/m"], ["a/1", "b/2"]),
        (["x/a", "x/b"], ["a", "b"]),
        (["x/a", "x/a"], ["x/a", "x/a"]),
        (["x/a", "x/a/b"], ["x/a", "x/a/b"]),
        (["x/m", "y/n"], ["x/m", "y/n"]),
        (["x/m/m", "x/m"], ["x/m/m", "x/m"]),
    ],
)
def test_names_are_what_tells_apart(models, names):
    assert name_models(models) == names
