"""The names of the report: ours, but for those who register their own under them."""

import re
from pathlib import Path

import catalogue
import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.util import import_file, load_model_from_config, registry
from thinc.api import Config, Model

from spacy_hashembeds.architectures.multi_embed import MultiEmbed
from spacy_hashembeds.architectures.multi_fewer_hash_embed import MultiFewerHashEmbed

from ..conftest import ROOT
from ..test_cached_weights import CONFIG, make_examples

MULTI_EMBED, MULTI_FEWER = "spacy.MultiEmbed.v1", "spacy.MultiFewerHashEmbed.v1"
OURS = {MULTI_EMBED: MultiEmbed, MULTI_FEWER: MultiFewerHashEmbed}
PROJECT = Path(__file__).with_name("report_project.py")


@pytest.fixture(autouse=True)
def forgetting(monkeypatch) -> None:
    """What the test registers is gone after it."""
    for name in OURS:
        key = ("spacy", "architectures", name)
        monkeypatch.setitem(catalogue.REGISTRY, key, None)
        del catalogue.REGISTRY[key]


def make_own(width: int, colour: str = "blue") -> Model:
    """Somebody's own function."""
    raise NotImplementedError


@pytest.mark.parametrize("name", OURS)
def test_ours_unless_code_takes_the_name(name):
    architectures = registry.architectures

    def find_all():
        found = architectures.get(name), registry.get("architectures", name)
        return {*found, architectures.get_all()[name]}

    assert find_all() == {OURS[name]}
    architectures.register(name, func=make_own)  # after the first lookup
    assert find_all() == {make_own}
    assert registry.find("architectures", name)["module"] == __name__


def test_what_the_project_saved_loads_with_its_code_and_without(tmp_path):
    """As docs/report-project.md says. No warning either: they would be errors here."""
    config = Config().from_str(CONFIG)
    embed = config["components"]["tok2vec"]["model"]["embed"]
    embed |= {"@architectures": MULTI_FEWER, "num_hashes": 1}
    import_file("report_project", PROJECT)
    nlp = load_model_from_config(config, auto_fill=True)
    nlp.initialize(lambda: make_examples(nlp))
    nlp.to_disk(tmp_path)
    expected = predict(nlp)
    np.testing.assert_array_equal(predict(spacy.load(tmp_path)), expected)
    del catalogue.REGISTRY["spacy", "architectures", MULTI_FEWER]
    np.testing.assert_allclose(predict(spacy.load(tmp_path)), expected, atol=1e-5)


def predict(nlp) -> np.ndarray:
    doc = Doc(nlp.vocab, words=["Anna", "sang", "in", "Paris"])
    return nlp.get_pipe("tok2vec").model.predict([doc])[0]


def test_the_page_has_configs_that_can_be_used():
    page = (ROOT / "docs/report-project.md").read_text(encoding="utf8")
    blocks = re.findall(r"^```ini\n(.*?)^```", page, flags=re.M | re.S)
    parents = "components", "components.tok2vec", "components.tok2vec.model"
    sections = "".join(f"[{section}]\n" for section in (*parents, "initialize"))
    names = (MULTI_EMBED, "spacy-hashembeds.MultiEmbed.v1")
    for block, name in zip(blocks, names, strict=True):
        config = Config().from_str(sections + block, interpolate=False)
        embed = config["components"]["tok2vec"]["model"]["embed"]
        assert embed["@architectures"] == name
    assert registry.resolve({"embed": {**embed, "width": 8}})["embed"]
    assert registry.has("callbacks", config["initialize"]["before_init"]["@callbacks"])
