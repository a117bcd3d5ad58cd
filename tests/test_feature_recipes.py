"""The scripts of docs/features.md, each trained on a small corpus."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from spacy.cli.init_config import init_config
from spacy.cli.package import package
from spacy.cli.train import train
from spacy.language import Language
from spacy.tokens.underscore import Underscore

from spacy_hashembeds import evaluate
from spacy_hashembeds.architectures.features import read_feature
from spacy_hashembeds.loading import load_trained
from spacy_hashembeds.tools.config.configure import configure

from .conftest import ROOT, load_script
from .left_out import NO_STEMMER

FOLDER = ROOT / "docs" / "features"


@pytest.fixture(autouse=True)
def registered(monkeypatch) -> None:
    """Remove the attributes that a script registers after each test."""
    monkeypatch.setattr(Underscore, "token_extensions", {**Underscore.token_extensions})


@pytest.fixture
def base(tmp_path) -> Path:
    init_config(lang="en", pipeline=["ner"]).to_disk(tmp_path / "base.cfg")
    return tmp_path / "base.cfg"


def load_recipe(name: str) -> ModuleType:
    return load_script(FOLDER / f"{name}.py")


def train_recommended(
    base: Path, corpus: Path, features: Sequence[str], max_steps: int
) -> Language:
    """Train the pipeline that `config` writes, with features."""
    config, output = base.with_name("config.cfg"), base.with_name("training")
    made = configure(base, train=corpus / "train.spacy", features=features)
    config.write_text(made.text, encoding="utf8")
    # after so few steps, there are no entities to calibrate
    settings: dict[str, Any] = {"before_to_disk": None, "max_steps": max_steps}
    settings["eval_frequency"] = max_steps
    train(config, output, overrides={f"training.{k}": v for k, v in settings.items()})
    return load_trained(output / "model-best")


@pytest.mark.slow
def test_headings_are_found_only_by_their_layout(base):
    corpus = base.with_name("corpus")
    load_recipe("headings").main(corpus)
    attrs = ["_.is_bold", "_.size", "_.is_first"]
    f1 = [
        evaluate(
            train_recommended(base, corpus, features, 60), corpus / "test.spacy", join=0
        )["ents_f"]
        for features in ([], attrs)
    ]
    assert f1[0] < 0.2
    assert f1[1] > 0.99


def test_gazetteers_are_saved_with_the_pipeline(base, tiny_corpus):
    names = base.with_name("names.tsv")
    names.write_text("Fenoyali Bay\tSEA\nVagali\tNAME\n", encoding="utf8")
    load_recipe("gazetteer").main(base, names, base)
    nlp = train_recommended(base, tiny_corpus, ["spans.names"], 2)
    doc, without = nlp("To Fenoyali Bay now"), nlp.make_doc("To Fenoyali Bay now")
    values = read_feature(doc, "spans.names")
    assert values == [None, "B-SEA", "I-SEA", None]
    without.spans["names"] = []
    vectors = nlp.get_pipe("tok2vec").model.predict([doc, without])
    assert not np.allclose(*vectors)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of spaCy's own
def test_stems_are_packaged_with_the_pipeline(base, tiny_corpus, tmp_path, monkeypatch):
    pytest.importorskip("snowballstemmer", reason=NO_STEMMER)
    load_recipe("stems")
    nlp = train_recommended(base, tiny_corpus, ["_.stem"], 2)
    nlp.to_disk(tmp_path / "model")
    code = [FOLDER / "stems.py"]
    (tmp_path / "packages").mkdir()
    package(tmp_path / "model", tmp_path / "packages", code_paths=code, name="stemmed")
    Underscore.token_extensions.clear()
    (root,) = (tmp_path / "packages").iterdir()
    monkeypatch.syspath_prepend(root)
    packaged = import_module("en_stemmed").load()
    assert read_feature(packaged("Hablamos"), "_.stem") == ["habl"]
