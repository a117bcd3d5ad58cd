"""Saving and loading token_ner, and what is refused."""

import json

import pytest
import spacy
from spacy.language import Language

from .toy_recognizers import make_examples, make_pipeline, train


@pytest.fixture(scope="module")
def nlp() -> Language:
    """A trained pipeline, to use only."""
    return train(make_pipeline(listens=True, spans_key="found"))


@pytest.fixture
def folder(nlp, tmp_path):
    nlp.to_disk(tmp_path / "model")
    return tmp_path / "model"


def test_what_was_never_trained_is_saved_and_loaded(tmp_path):
    make_pipeline().to_disk(tmp_path)
    nlp = train(spacy.load(tmp_path), steps=1)
    assert nlp.get_pipe("token_ner").labels == ("LOC", "PER")


def test_settings_are_those_of_the_config(folder):
    """So that they may be chosen anew for a trained pipeline."""
    settings = {"decoding": "greedy", "spans_key": None}
    nlp = spacy.load(folder, config={"components": {"token_ner": settings}})
    pipe = nlp.get_pipe("token_ner")
    assert (pipe.decoding, pipe.spans_key) == ("greedy", None)


def test_parts_may_be_left_out(nlp, tmp_path):
    pipe = nlp.get_pipe("token_ner")
    pipe.to_disk(tmp_path, exclude=["model", "vocab"])
    assert [path.name for path in tmp_path.iterdir()] == ["cfg"]
    other = make_pipeline().get_pipe("token_ner")
    other.from_disk(tmp_path, exclude=["model", "vocab"])
    assert other.labels == pipe.labels
    other.initialize(lambda: make_examples(nlp))
    assert other.model.get_dim("nO") == 9
    other = make_pipeline().get_pipe("token_ner")
    data = pipe.to_bytes(exclude=["model"])
    assert other.from_bytes(data, exclude=["model"]).labels == pipe.labels
    other = make_pipeline(listens=True).get_pipe("token_ner")
    assert other.from_bytes(pipe.to_bytes(), exclude=["cfg"]).labels == ()


def test_training_goes_on_with_what_was_saved(folder):
    nlp = spacy.load(folder)
    losses = [{}, {}]
    optimizer = nlp.resume_training()
    for found in losses:
        for _ in range(5):
            nlp.update(make_examples(nlp), sgd=optimizer, losses=found)
    assert 0 < losses[1]["token_ner"] < losses[0]["token_ner"]


def write(path, content) -> None:
    path.write_text(content if isinstance(content, str) else json.dumps(content))


@pytest.mark.parametrize(
    ("cfg", "message"),
    [
        ('{"labels": ["LO', r"(?s)token_ner.cfg' should hold .*, but is damaged or of"),
        ({"labels": ["LOC"]}, "has 1 labels, .* should have 5 outputs, but it has 9"),
        ({"labels": []}, "has 0 labels, .* Are the labels and the weights of one pipe"),
        ({"labels": ["LOC", "PER", "X"]}, "has 3 labels, .* 13 outputs, but it has 9"),
        ({"labels": ["LOC", "LOC"]}, "each entity type once, but has 'LOC' 2 times"),
        ({"labels": ["LOC", 5]}, "'label' should be the name .* but is 5"),
        ({"labels": ["LOC", "\ud800"]}, r"a text in UTF-8 .* but is '\\ud800'"),
        ({"labels": "LO"}, "'labels' should be a list of entity types, .* is 'LO'"),
        ({"labels": None}, "'labels' should be a list of entity types, .* is None"),
        ("[]", "it should be an object"),
    ],
    ids=str,
)
def test_damaged_labels_are_refused(folder, cfg, message):
    write(folder / "token_ner" / "cfg", cfg)
    with pytest.raises(ValueError, match=message):
        spacy.load(folder)


def test_missing_labels_are_refused(folder):
    (folder / "token_ner" / "cfg").unlink()
    with pytest.raises(ValueError, match=r"model/token_ner' should hold.*has 0 labels"):
        spacy.load(folder)


def test_labels_of_other_weights_are_refused(nlp):
    pipe = nlp.get_pipe("token_ner")
    data = spacy.util.from_bytes(pipe.to_bytes(), {}, ())
    data["cfg"] = json.dumps({"labels": ["LOC"]}).encode()
    damaged = spacy.util.to_bytes({key: lambda v=v: v for key, v in data.items()}, ())
    other = make_pipeline(listens=True).get_pipe("token_ner")
    with pytest.raises(ValueError, match=r"The data should hold .* has 1 labels"):
        other.from_bytes(damaged)


@pytest.mark.parametrize("damage", [b"", b"\xc1", b"\x80"])
def test_a_damaged_model_is_refused_by_its_folder(folder, damage):
    (folder / "token_ner" / "model").write_bytes(damage)
    with pytest.raises(ValueError, match=r"model/token_ner' should.*it was saved, but"):
        spacy.load(folder)


def test_a_missing_model_is_no_damage(folder):
    (folder / "token_ner" / "model").unlink()
    with pytest.raises(FileNotFoundError):
        spacy.load(folder)


def test_another_padding_is_refused(nlp):
    nlp = make_pipeline(listens=True).from_bytes(nlp.to_bytes())
    nlp.get_pipe("token_ner").model.layers[-1].attrs["pad"] = float("inf")
    with pytest.raises(ValueError, match=r"'pad' of layer .* should be 0 to 0, but is"):
        nlp("Anna")
