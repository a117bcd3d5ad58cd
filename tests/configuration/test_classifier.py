"""The classifier of texts that `config` puts in the place of a bag of words."""

import re
from pathlib import Path

import pytest
from spacy.tokens import DocBin
from spacy.util import load_config

from spacy_hashembeds.configuration.configure import configure

from ..conftest import ROOT
from . import toy_configs as toys

OURS = "spacy-hashembeds.HashNgramTextCat.v1"
ADAM = "spacy-hashembeds.Adam.v1"


@pytest.fixture
def base(tmp_path) -> Path:
    return toys.write_base(tmp_path / "base.cfg", ["textcat"], "efficiency")


def get_model(made) -> dict:
    return made.config["components"]["textcat"]["model"]


@pytest.mark.parametrize("name", ["textcat", "textcat_multilabel"])
def test_ours_takes_the_place_of_a_bag_of_words(base, name):
    toys.write_base(base, [name], "efficiency")
    made = configure(base)
    model = made.config["components"][name]["model"]
    assert model["@architectures"] == OURS
    assert model["exclusive_classes"] is (name == "textcat")
    assert made.config["training"]["optimizer"]["@optimizers"] == ADAM
    assert "88.4 percent right" in made.text
    assert made.warnings == []
    assert toys.build(made).get_pipe(name).model.name != "textcat_bow"


def test_it_is_as_in_the_config_that_was_measured(base):
    made = configure(base)
    measured = load_config(ROOT / "configs" / "hash_ngram_textcat.cfg")
    model = dict(get_model(made))
    model.pop("exclusive_classes")
    assert model.items() <= measured["components"]["textcat"]["model"].items()
    training, expected = made.config["training"], measured["training"]
    assert training["batcher"] == expected["batcher"]
    assert training["dropout"] == expected["dropout"]
    for key in ("L2", "grad_clip", "learn_rate", "use_averages"):
        assert training["optimizer"][key] == expected["optimizer"][key]


@pytest.mark.parametrize("version", ["spacy.TextCatBOW.v1", "spacy.TextCatBOW.v2"])
def test_older_ones_are_replaced_too(base, version):
    toys.edit_base(base, ('"spacy.TextCatBOW.v3"', f'"{version}"'))
    base.write_text(re.sub("(?m)^length = .*\n", "", base.read_text()))
    assert get_model(configure(base))["@architectures"] == OURS


@pytest.mark.parametrize(
    "asked", [{"embedder": "multi_embed"}, {"raw": "raw.txt"}, {"vectors": "vectors"}]
)
def test_what_it_has_not_is_refused_with_the_remedy(base, asked):
    with pytest.raises(ValueError, match="replaced without --embedder, --raw and --ve"):
        configure(base, **asked)


TRANSFORMER = """
[components.other]
factory = "curated_transformer"

[components.other.model]
@architectures = "spacy-curated-transformers.BertTransformer.v1"
"""
ANOTHERS = """
[components.other]
source = "en_core_web_sm"
"""
FREEZE = "frozen_components = []"


@pytest.mark.parametrize(
    "edits",
    [
        {FREEZE: 'frozen_components = ["textcat"]'},
        # beside what else learns [training] stays, and so does all
        {"[components]\n": f"[components]\n{TRANSFORMER}"},
        {"[components]\n": f"[components]\n{ANOTHERS}"},
        # a variable for another section
        {
            "[components.textcat": "[other",
            "[components]\n": "[components]\ntextcat = ${other}\n",
        },
    ],
    ids=["frozen", "transformer", "another's", "variable"],
)
def test_what_is_not_replaced(base, edits):
    with pytest.raises(ValueError, match="has none"):
        configure(toys.edit_base(base, *edits.items()))


def test_there_is_nothing_to_change_twice(base):
    toys.write_made(base, configure(base))
    with pytest.raises(ValueError, match=f"has none.*{re.escape(OURS)}"):
        configure(base)


def test_beside_what_is_frozen_training_is_changed(base):
    frozen = 'frozen_components = ["other"]'
    toys.edit_base(
        base, ("[components]\n", f"[components]\n{ANOTHERS}"), (FREEZE, frozen)
    )
    assert OURS in configure(base).text


def test_beside_an_embedder_it_stays(base):
    made = configure(toys.write_base(base, ["ner", "textcat"], "efficiency"))
    assert get_model(made)["@architectures"] == "spacy.TextCatBOW.v3"
    assert made.config["components"]["ner"]["factory"] == "token_ner"


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ({'"Adam.v1"': '"SGD.v1"'}, {"@optimizers": "SGD.v1", "L2": 0.01}),
        ({'"Adam.v1"': '"RAdam.v1"'}, {"@optimizers": "RAdam.v1", "L2": 0.01}),
        # one by a variable is written out
        (
            {
                "[training.optimizer]": "[adam]",
                "[training]\n": "[training]\noptimizer = ${adam}\n",
            },
            {"@optimizers": ADAM, "L2": 0.0, "grad_clip": 0.0},
        ),
    ],
    ids=["SGD", "RAdam", "variable"],
)
def test_only_adam_is_set_as_it_was_measured(base, edits, expected):
    toys.edit_base(base, *edits.items())
    optimizer = configure(base).config["training"]["optimizer"]
    assert {key: optimizer[key] for key in expected} == expected


def test_a_corpus_without_texts_is_refused(base, tmp_path):
    DocBin().to_disk(tmp_path / "empty.spacy")
    with pytest.raises(ValueError, match="not a text in the corpus"):
        configure(base, train=tmp_path / "empty.spacy")
