"""Pipelines accelerated in memory, against what the command makes of them."""

import sys
from collections.abc import Callable

import pytest
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_model
from thinc.api import Linear, NumpyOps, get_current_ops, set_current_ops

from spacy_hashembeds.acceleration import blas as blas_module
from spacy_hashembeds.acceleration import conversion
from spacy_hashembeds.acceleration.accelerate import accelerate_folder
from spacy_hashembeds.acceleration.blas import NUMPY_BLAS_OPS
from spacy_hashembeds.acceleration.in_memory import Accelerated, accelerate
from spacy_hashembeds.training.annotation import walk_layers

from . import accelerate_pipelines as pipelines
from .accelerate_pipelines import TEXTS, read_files

#: The layers of the pipeline "shared".
LAYERS = ("tok2vec.model", "morphologizer.model.tok2vec")


@pytest.fixture
def make(saved) -> Callable[..., Language]:
    """Makes a pipeline that knows the words of the texts, as after training on them."""

    def make(name: str = "bare") -> Language:
        nlp = load_model(saved(name))
        list(nlp.pipe(TEXTS))
        return nlp

    return make


def convert(nlp: Language, texts=TEXTS, *, blas: bool = False) -> Accelerated:
    return accelerate(nlp, texts, blas=blas, rounds=1)


def test_what_is_saved_is_what_the_command_writes(make, tmp_path):
    nlp = make("shared")
    nlp.to_disk(tmp_path / "in")
    state = nlp.to_bytes()
    done = convert(nlp)
    assert nlp.to_bytes() == state
    layers = [f"{name}.{part}" for name in LAYERS for part in ("embed", "encode")]
    components = [*layers, "attribute_ruler", "lemmatizer"]
    places = [*(f"components.{place}" for place in components), "nlp.tokenizer"]
    assert sorted(done.converted) == sorted(places)
    assert 0 < done.max_relative_diff < 1e-5
    assert (done.texts, done.left, done.unchecked) == (len(TEXTS), {}, [])

    done.nlp.to_disk(tmp_path / "new")
    accelerate_folder(tmp_path / "in", tmp_path / "out", TEXTS, blas=False, rounds=1)
    load_model(tmp_path / "out").to_disk(tmp_path / "again")
    assert read_files(tmp_path / "new") == read_files(tmp_path / "again")
    for text in TEXTS:
        old, new = nlp(text).to_json(), done.nlp(text).to_json()
        assert new.pop("cats", {}) == pytest.approx(old.pop("cats", {}), abs=1e-5)
        assert new == old


def test_the_new_pipeline_is_of_our_layers_and_shares_the_vocab_alone(make):
    nlp = make()
    nlp.meta["performance"] = {"tag_acc": 0.9}
    done = convert(nlp)
    embed = done.nlp.config["components"]["tok2vec"]["model"]
    assert embed["@architectures"] == conversion.OUR_EMBED
    assert embed != nlp.config["components"]["tok2vec"]["model"]
    assert done.nlp.vocab is nlp.vocab
    assert done.nlp.path is None
    assert done.nlp.meta == nlp.meta
    done.nlp.meta["performance"]["tag_acc"] = 0.8
    assert nlp.meta["performance"] == {"tag_acc": 0.9}
    new, state = done.nlp, nlp.to_bytes()
    examples = [pipelines.make_example(new, text) for text in pipelines.SENTENCES]
    assert new.update(examples, sgd=new.resume_training())["tagger"] > 0
    assert new.to_bytes() != nlp.to_bytes() == state


def test_texts_that_are_none_are_named(make):
    with pytest.raises(ValueError, match="'texts'"):
        accelerate(make(), ["Anna lives", 3], rounds=1)


def test_progress_is_shown_on_a_terminal_unless_it_is_not_to_be(
    make, capsys, monkeypatch
):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    accelerate(make(), TEXTS, rounds=1)
    shown = capsys.readouterr().err
    assert "Comparing: " in shown
    assert f"/{len(TEXTS)} " in shown
    accelerate(make(), TEXTS, rounds=1, show_progress=False)
    assert capsys.readouterr().err == ""


# What only memory knows


class Memory:
    """A component that can't be saved."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.ops = get_current_ops()

    def __call__(self, doc: Doc) -> Doc:
        doc.user_data["known"] = [t.text for t in doc if t.text in self.names]
        return doc


class Forgetful(Memory):
    """A component that says it is saved."""

    def to_disk(self, path, exclude=()):
        pass

    def from_disk(self, path, exclude=()):
        pass


Language.factory("tests_memory", func=lambda nlp, name: Memory())
Language.factory("tests_forgetful", func=lambda nlp, name: Forgetful())


def test_settings_and_components_that_can_not_be_saved_are_taken_over(make):
    nlp = make()
    memory = nlp.add_pipe("tests_memory")
    memory.names = {"Anna"}
    nlp.add_pipe("sentencizer")
    nlp.disable_pipe("sentencizer")
    nlp.batch_size, nlp.max_length = 7, 1234
    nlp.default_error_handler = lambda *failed: None
    nlp.get_pipe("tagger").set_error_handler(nlp.default_error_handler)
    new = convert(nlp).nlp
    assert new.get_pipe("tests_memory") is memory
    assert new.disabled == ["sentencizer"]
    assert (new.batch_size, new.max_length) == (7, 1234)
    assert new.default_error_handler is nlp.default_error_handler
    tagger = new.get_pipe("tagger")
    assert tagger.get_error_handler() is nlp.default_error_handler


def test_what_components_do_not_save_is_missed(make):
    nlp = make()
    nlp.add_pipe("tests_forgetful").names = {"Anna"}
    state, ops, config = nlp.to_bytes(), get_current_ops(), nlp.config.to_str()
    with pytest.raises(ValueError, match=r"differ: user_data of 'Anna lives in Paris"):
        convert(nlp)
    assert (nlp.to_bytes(), nlp.config.to_str()) == (state, config)
    assert get_current_ops() is ops


# What is refused


def test_models_that_no_config_tells_of_are_refused(make):
    nlp = make()
    nlp.get_pipe("tagger").model.layers.append(Linear())
    with pytest.raises(ValueError, match=r"'nlp' should be.*make anew.*mismatched str"):
        convert(nlp)


def test_components_without_weights_are_refused_unless_they_are_disabled(make):
    nlp = make()
    pipelines.add(nlp, "ner", pipelines.tok2vec())
    with pytest.raises(ValueError, match="mend it first"):
        convert(nlp)
    nlp.disable_pipe("ner")
    n_strings = len(nlp.vocab.strings)
    done = convert(nlp, None)
    assert done.texts > 300  # made up
    assert len(nlp.vocab.strings) < n_strings + 50  # of known words
    assert done.unchecked == ["ner"]
    new = done.nlp.config["components"]["ner"]["model"]["tok2vec"]["embed"]
    assert new["@architectures"] == conversion.OUR_EMBED


def test_a_memory_zone_is_refused(make):
    nlp = make()
    message = ""
    with nlp.memory_zone():
        try:
            convert(nlp)
        except ValueError as error:  # spaCy's zone does not end if one passes it
            message = str(error)
    assert "Call this outside of `nlp.memory_zone()`" in message


# Ops


def get_ops(nlp: Language) -> set:
    return {node.ops for _, node in walk_layers(nlp)}


def test_the_blas_is_chosen_for_the_new_pipeline_alone(make, monkeypatch):
    monkeypatch.setattr(blas_module, "is_numpy_faster", lambda: True)
    nlp = make()
    ops = get_ops(nlp)
    new = convert(nlp, blas=True).nlp
    assert get_ops(new) == {NUMPY_BLAS_OPS}
    assert get_ops(nlp) == ops == {get_current_ops()}
    callback = new.config["nlp"]["after_pipeline_creation"]
    assert callback == {"@callbacks": conversion.BLAS}
    # layers stay on the BLAS that they were put on
    for node in nlp.get_pipe("tagger").model.walk():
        node.ops = NUMPY_BLAS_OPS
    new = convert(nlp).nlp
    assert {n.ops for n in new.get_pipe("tagger").model.walk()} == {NUMPY_BLAS_OPS}
    assert {n.ops for n in new.get_pipe("tok2vec").model.walk()} == ops


def test_layers_are_made_on_the_device_of_the_old_ones(make, monkeypatch):
    """Some notebooks forget between cells that a GPU was asked for."""
    ops, device = get_current_ops(), NumpyOps("gpu", use_blis=True)
    set_current_ops(device)
    try:
        nlp = make()
    finally:
        set_current_ops(ops)
    nlp.add_pipe("tests_forgetful")
    new = convert(nlp).nlp
    assert get_ops(new) == {device}
    made_with = [each.get_pipe("tests_forgetful").ops for each in (nlp, new)]
    assert made_with == [ops, device]
    assert get_current_ops() is ops
