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


@pytest.fixture(params=["textcat", "textcat_multilabel"])
def name(request) -> str:
    return request.param


@pytest.fixture
def base(tmp_path, name) -> Path:
    return toys.write_base(tmp_path / "base.cfg", [name], "efficiency")


def edit(base: Path, old: str, new: str) -> Path:
    text = base.read_text(encoding="utf8")
    assert old in text
    base.write_text(text.replace(old, new), encoding="utf8")
    return base


def test_ours_takes_the_place_of_a_bag_of_words(base, name, tmp_path):
    made = configure(base)
    model = made.config["components"][name]["model"]
    assert model["@architectures"] == OURS
    assert model["exclusive_classes"] is (name == "textcat")
    training = made.config["training"]
    assert training["dropout"] == 0.0
    assert training["batcher"]["@batchers"] == "spacy.batch_by_sequence.v1"
    optimizer = training["optimizer"]
    assert (optimizer["@optimizers"], optimizer["L2"], optimizer["grad_clip"]) == (
        *("spacy-hashembeds.Adam.v1", 0.0, 0.0),
    )
    assert "88.4 percent right" in made.text
    assert made.warnings == []
    (tmp_path / "new.cfg").write_text(made.text, encoding="utf8")
    assert load_config(tmp_path / "new.cfg") == made.config
    assert toys.build(made).get_pipe(name).model.name != "textcat_bow"


def test_it_is_as_in_the_config_that_was_measured(base, name):
    made = configure(base).config
    measured = load_config(ROOT / "configs" / "hash_ngram_textcat.cfg")
    model = dict(made["components"][name]["model"])
    model.pop("exclusive_classes")
    assert model.items() <= measured["components"]["textcat"]["model"].items()
    training, expected = made["training"], measured["training"]
    assert training["batcher"] == expected["batcher"]
    assert training["dropout"] == expected["dropout"]
    for key in ("L2", "grad_clip", "learn_rate", "use_averages"):
        assert training["optimizer"][key] == expected["optimizer"][key]


def test_there_is_nothing_to_change_twice(base, tmp_path):
    again = tmp_path / "again.cfg"
    again.write_text(configure(base).text, encoding="utf8")
    with pytest.raises(ValueError, match=f"has none.*{re.escape(OURS)}"):
        configure(again)


@pytest.mark.parametrize("version", ["spacy.TextCatBOW.v1", "spacy.TextCatBOW.v2"])
def test_older_ones_are_replaced_too(base, name, version):
    edit(base, '"spacy.TextCatBOW.v3"', f'"{version}"')
    text = re.sub("(?m)^length = .*\n", "", base.read_text(encoding="utf8"))
    base.write_text(text, encoding="utf8")
    model = configure(base).config["components"][name]["model"]
    assert model["@architectures"] == OURS


@pytest.mark.parametrize(
    "asked", [{"embedder": "multi_embed"}, {"raw": "raw.txt"}, {"vectors": "vectors"}]
)
def test_what_it_has_not_is_refused_with_the_remedy(base, asked):
    with pytest.raises(ValueError, match="replaced without --embedder, --raw and --ve"):
        configure(base, **asked)


def test_a_frozen_one_stays(base, name):
    edit(base, "frozen_components = []", f'frozen_components = ["{name}"]')
    with pytest.raises(ValueError, match=r"has none.*spacy.TextCatBOW"):
        configure(base)


def test_beside_an_embedder_it_stays(tmp_path, name):
    base = toys.write_base(tmp_path / "base.cfg", ["ner", name], "efficiency")
    made = configure(base)
    model = made.config["components"][name]["model"]
    assert model["@architectures"] == "spacy.TextCatBOW.v3"
    assert made.config["components"]["ner"]["factory"] == "token_ner"


def test_an_optimizer_of_another_kind_keeps_its_settings(base):
    edit(base, '"Adam.v1"', '"SGD.v1"')
    text = re.sub("(?m)^(beta1|beta2|eps) = .*\n", "", base.read_text(encoding="utf8"))
    base.write_text(text, encoding="utf8")
    optimizer = configure(base).config["training"]["optimizer"]
    assert (optimizer["@optimizers"], optimizer["L2"]) == ("SGD.v1", 0.01)


OTHERS = {
    "a transformer": """
[components.other]
factory = "curated_transformer"

[components.other.model]
@architectures = "spacy-curated-transformers.BertTransformer.v1"
""",
    "another's": """
[components.other]
source = "en_core_web_sm"
""",
}


@pytest.mark.parametrize("other", OTHERS)
def test_beside_what_else_learns_training_stays(base, other):
    base.write_text(base.read_text(encoding="utf8") + OTHERS[other], encoding="utf8")
    with pytest.raises(ValueError, match=r"has none.*spacy.TextCatBOW"):
        configure(base)
    if other == "another's":  # where it is frozen it does not
        edit(base, "frozen_components = []", 'frozen_components = ["other"]')
        assert OURS in configure(base).text


def test_one_that_is_a_variable_for_another_stays(base, name):
    text = base.read_text(encoding="utf8").replace(f"[components.{name}", "[other")
    text = text.replace("[components]\n", f"[components]\n{name} = ${{other}}\n", 1)
    base.write_text(text, encoding="utf8")
    with pytest.raises(ValueError, match=r"has none"):
        configure(base)


def test_other_optimizers_that_are_called_adam_keep_their_settings(base):
    edit(base, '"Adam.v1"', '"RAdam.v1"')
    optimizer = configure(base).config["training"]["optimizer"]
    assert (optimizer["@optimizers"], optimizer["L2"]) == ("RAdam.v1", 0.01)


def test_an_optimizer_by_a_variable_is_written_out(base):
    text = base.read_text(encoding="utf8").replace("[training.optimizer]", "[adam]")
    text = text.replace("[training]\n", "[training]\noptimizer = ${adam}\n")
    base.write_text(text, encoding="utf8")
    optimizer = configure(base).config["training"]["optimizer"]
    assert (optimizer["L2"], optimizer["grad_clip"]) == (0.0, 0.0)


def test_a_corpus_that_is_not_there_is_refused(base, tmp_path):
    with pytest.raises(FileNotFoundError, match="no file or folder 'nowhere"):
        configure(base, train="nowhere.spacy")
    DocBin().to_disk(tmp_path / "empty.spacy")
    with pytest.raises(ValueError, match="not a text in the corpus"):
        configure(base, train=tmp_path / "empty.spacy")
