"""Pipelines converted in memory."""

import sys
from functools import partial

import pytest
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_model
from thinc.api import Linear, NumpyOps, get_current_ops, set_current_ops

from spacy_hashembeds.acceleration import blas as blas_module
from spacy_hashembeds.acceleration import conversion
from spacy_hashembeds.acceleration.blas import NUMPY_BLAS_OPS
from spacy_hashembeds.acceleration.in_memory import accelerate
from spacy_hashembeds.training.annotation import walk_layers

from . import accelerate_pipelines as pipelines
from .accelerate_pipelines import TEXTS

convert = partial(accelerate, blas=False)


@pytest.fixture
def nlp(saved) -> Language:
    return load_model(saved("bare"))


def test_the_new_pipeline_has_our_layers_and_shares_only_the_vocab(nlp):
    nlp.meta["performance"] = {"tag_acc": 0.9}
    new, state = convert(nlp, TEXTS).nlp, nlp.to_bytes()
    embed = new.config["components"]["tok2vec"]["model"]
    assert embed["@architectures"] == conversion.OUR_EMBED
    assert embed != nlp.config["components"]["tok2vec"]["model"]
    assert new.vocab is nlp.vocab
    assert new.path is None
    assert new.meta == nlp.meta
    new.meta["performance"]["tag_acc"] = 0.8
    assert nlp.meta["performance"] == {"tag_acc": 0.9}
    examples = [pipelines.make_example(new, text) for text in pipelines.SENTENCES]
    assert new.update(examples, sgd=new.resume_training())["tagger"] > 0
    assert new.to_bytes() != nlp.to_bytes() == state


def test_progress_is_shown_in_a_terminal(nlp, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    convert(nlp, TEXTS)
    shown = capsys.readouterr().err
    assert "Comparing: " in shown
    assert f"/{len(TEXTS)} " in shown
    convert(nlp, TEXTS, show_progress=False)
    assert capsys.readouterr().err == ""


# State that is not saved


class Memory:
    """A component that can't be saved."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.ops = get_current_ops()

    def __call__(self, doc: Doc) -> Doc:
        doc.user_data["known"] = [t.text for t in doc if t.text in self.names]
        return doc


class Forgetful(Memory):
    """A component that saves nothing."""

    def to_disk(self, path, exclude=()):
        pass

    def from_disk(self, path, exclude=()):
        pass


Language.factory("tests_memory", func=lambda nlp, name: Memory())
Language.factory("tests_forgetful", func=lambda nlp, name: Forgetful())


def test_unsaved_settings_and_components_are_copied_or_shared(nlp):
    memory = nlp.add_pipe("tests_memory")
    memory.names = {"Anna"}
    nlp.add_pipe("sentencizer")
    nlp.disable_pipe("sentencizer")
    nlp.batch_size, nlp.max_length = 7, 1234
    nlp.default_error_handler = lambda *failed: None
    nlp.get_pipe("tagger").set_error_handler(nlp.default_error_handler)
    new = convert(nlp, TEXTS).nlp
    assert new.get_pipe("tests_memory") is memory
    assert new.disabled == ["sentencizer"]
    assert (new.batch_size, new.max_length) == (7, 1234)
    assert new.default_error_handler is nlp.default_error_handler
    tagger = new.get_pipe("tagger")
    assert tagger.get_error_handler() is nlp.default_error_handler


def test_components_without_weights_are_converted_unchecked_if_disabled(nlp):
    pipelines.add(nlp, ner=pipelines.tok2vec())
    with pytest.raises(ValueError, match="fix the pipeline first"):
        convert(nlp)
    nlp.disable_pipe("ner")
    n_strings = len(nlp.vocab.strings)
    done = convert(nlp)
    assert done.texts > 300  # generated
    assert len(nlp.vocab.strings) < n_strings + 50  # known words
    assert done.unchecked == ["ner"]
    new = done.nlp.config["components"]["ner"]["model"]["tok2vec"]["embed"]
    assert new["@architectures"] == conversion.OUR_EMBED


# Errors


def add_forgetful(nlp: Language) -> None:
    nlp.add_pipe("tests_forgetful").names = {"Anna"}


def add_layer(nlp: Language) -> None:
    """Add a layer that is not in the config."""
    nlp.get_pipe("tagger").model.layers.append(Linear())


@pytest.mark.parametrize(
    ("change", "texts", "match"),
    [
        (id, ["Anna lives", 3], "'texts'"),
        (add_forgetful, TEXTS, "differ: user_data of 'Anna lives in Paris"),
        (add_layer, TEXTS, r"'nlp' should be.*rebuild.*mismatched str"),
    ],
    ids=["texts", "forgetful", "layer"],
)
def test_errors_leave_the_pipeline_unchanged(nlp, change, texts, match):
    change(nlp)
    ops, state = get_current_ops(), nlp.to_bytes(exclude=["vocab"])
    with pytest.raises(ValueError, match=match):
        convert(nlp, texts)
    assert nlp.to_bytes(exclude=["vocab"]) == state
    assert get_current_ops() is ops


# Ops


def get_ops(nlp: Language) -> set:
    return {node.ops for _, node in walk_layers(nlp)}


def test_the_blas_is_chosen_only_for_the_new_pipeline(nlp, monkeypatch):
    monkeypatch.setattr(blas_module, "is_numpy_faster", lambda: True)
    ops = get_ops(nlp)
    new = accelerate(nlp, TEXTS).nlp
    assert get_ops(new) == {NUMPY_BLAS_OPS}
    assert get_ops(nlp) == ops == {get_current_ops()}
    callback = new.config["nlp"]["after_pipeline_creation"]
    assert callback == {"@callbacks": conversion.BLAS}
    # layers keep their BLAS
    for node in nlp.get_pipe("tagger").model.walk():
        node.ops = NUMPY_BLAS_OPS
    new = convert(nlp, TEXTS).nlp
    assert {n.ops for n in new.get_pipe("tagger").model.walk()} == {NUMPY_BLAS_OPS}
    assert {n.ops for n in new.get_pipe("tok2vec").model.walk()} == ops


def test_new_layers_are_on_the_device_of_the_old_ones(saved):
    """Some notebooks reset the thread's ops between cells."""
    ops, device = get_current_ops(), NumpyOps("gpu", use_blis=True)
    set_current_ops(device)
    nlp = load_model(saved("bare"))
    set_current_ops(ops)
    nlp.add_pipe("tests_forgetful")
    new = convert(nlp, TEXTS).nlp
    assert get_ops(new) == {device}
    found = [each.get_pipe("tests_forgetful").ops for each in (nlp, new)]
    assert found == [ops, device]
    assert get_current_ops() is ops
