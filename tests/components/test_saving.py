"""Saving and loading token_ner, and what is refused."""

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


@pytest.mark.parametrize(
    ("cfg", "message"),
    [
        ('{"labels": ["LO', r"(?s)token_ner.cfg' should hold .*, but is damaged or of"),
        ("[]", "it should be an object"),
        ('{"labels": ["LOC"]}', "1 labels, .* should have 5 outputs, but it has 9"),
        ('{"labels": []}', "has 0 labels, .* Are the labels and the weights of one"),
        (r'{"labels": ["LOC", "\ud800"]}', r"a text in UTF-8 .* but is '\\ud800'"),
        ('{"labels": null}', "'labels' should be a list of entity types, .* is None"),
        (None, r"model/token_ner' should hold.*has 0 labels"),
    ],
)
def test_damaged_and_missing_labels_are_refused(folder, cfg, message):
    path = folder / "token_ner" / "cfg"
    path.unlink() if cfg is None else path.write_text(cfg)
    with pytest.raises(ValueError, match=message):
        spacy.load(folder)


def test_labels_of_other_weights_are_refused(nlp):
    damaged = make_pipeline(listens=True).from_bytes(nlp.to_bytes())
    damaged.get_pipe("token_ner").cfg["labels"] = ["LOC"]
    data = damaged.get_pipe("token_ner").to_bytes()
    other = make_pipeline(listens=True).get_pipe("token_ner")
    with pytest.raises(ValueError, match=r"The data should hold .* has 1 labels"):
        other.from_bytes(data)


@pytest.mark.parametrize("damage", [b"", b"\xc1", b"\x80"])
def test_a_damaged_model_is_refused_by_its_folder(folder, damage):
    (folder / "token_ner" / "model").write_bytes(damage)
    with pytest.raises(ValueError, match=r"model/token_ner' should.*it was saved, but"):
        spacy.load(folder)


def test_a_missing_model_is_no_damage(folder):
    (folder / "token_ner" / "model").unlink()
    with pytest.raises(FileNotFoundError):
        spacy.load(folder)
