"""The text classifier that replaces a bag of words."""

import re
from pathlib import Path

import pytest
from spacy.util import load_config

from spacy_hashembeds.tools.config.configure import configure

from ...conftest import ROOT
from . import toy_configs as toys

OURS = "spacy-hashembeds.HashNgramTextCat.v1"
TRANSFORMER = """[components]

[components.other]
factory = "curated_transformer"

[components.other.model]
@architectures = "spacy-curated-transformers.BertTransformer.v1"
"""
ANOTHERS = '[components]\n\n[components.other]\nsource = "en_core_web_sm"\n'
FREEZE, HEAD = "frozen_components = []", "[components]\n"


@pytest.fixture
def base(tmp_path) -> Path:
    return toys.write_base(tmp_path / "base.cfg", "textcat")


@pytest.mark.parametrize("name", ["textcat", "textcat_multilabel"])
def test_bag_of_words_is_replaced(base, name):
    made = configure(toys.write_base(base, name))
    model = dict(made.config["components"][name]["model"])
    assert model["@architectures"] == OURS
    assert model.pop("exclusive_classes") is (name == "textcat")
    assert made.warnings == []
    assert toys.build(made).get_pipe(name).model.name != "textcat_bow"
    measured = load_config(ROOT / "configs" / "hash_ngram_textcat.cfg")
    assert model.items() <= measured["components"]["textcat"]["model"].items()
    training, expected = made.config["training"], measured["training"]
    assert training["batcher"] == expected["batcher"]
    assert training["dropout"] == expected["dropout"]
    for key in ("@optimizers", "L2", "grad_clip", "learn_rate", "use_averages"):
        assert training["optimizer"][key] == expected["optimizer"][key]
    # idempotent: refused
    toys.write_made(base, made)
    with pytest.raises(ValueError, match=re.escape(OURS)):
        configure(base)


@pytest.mark.parametrize(
    ("edit", "options"),
    [
        *((("", ""), {name: name}) for name in ("raw", "vectors")),
        (("", ""), {"embedder": "multi_embed"}),
        ((FREEZE, 'frozen_components = ["textcat"]'), {}),
        # another component is trained
        *(((HEAD, other), {}) for other in (TRANSFORMER, ANOTHERS)),
    ],
)
def test_unsupported_configs_are_refused(base, edit, options):
    with pytest.raises(ValueError, match=r"TextCatBOW|no model"):
        configure(toys.edit_base(base, edit), **options)


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([('"Adam.v1"', '"SGD.v1"')], {"@optimizers": "SGD.v1", "L2": 0.01}),
        # another component is frozen
        (
            [(HEAD, ANOTHERS), (FREEZE, 'frozen_components = ["other"]')],
            {"@optimizers": toys.ADAM, "L2": 0.0},
        ),
        # older versions
        ([('TextCatBOW.v3"', 'TextCatBOW.v1"'), ("length = 262144\n", "")], {}),
    ],
)
def test_training_settings_by_config(base, edits, expected):
    config = configure(toys.edit_base(base, *edits)).config
    assert config["components"]["textcat"]["model"]["@architectures"] == OURS
    assert expected.items() <= config["training"]["optimizer"].items()


def test_bag_of_words_beside_an_embedder_is_kept(base):
    made = configure(toys.write_base(base, "ner", "textcat"))
    model = made.config["components"]["textcat"]["model"]
    assert model["@architectures"] == "spacy.TextCatBOW.v3"
    assert made.config["components"]["ner"]["factory"] == "token_ner"


def test_missing_training_corpora_raise(base):
    with pytest.raises(FileNotFoundError, match="gone"):
        configure(base, train="gone.spacy")
