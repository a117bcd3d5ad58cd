"""Reading of base configs."""

import os
import sys
from pathlib import Path
from threading import Thread

import pytest
import spacy
from spacy.util import load_config

from spacy_hashembeds.tools.config.configure import configure
from spacy_hashembeds.tools.config.edits import Edits

NLP = '[nlp]\nlang = "en"\npipeline = ["a"]\n'
PARTS = f"{NLP}[components]\n"
A = f'{PARTS}[components.a]\nfactory = "tok2vec"\n'
T = f"{A}[training]\n"


@pytest.fixture
def pipeline(tmp_path):
    """The folder of a saved pipeline."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "model-best")
    return tmp_path / "model-best"


def test_finds_the_config_of_a_package(pipeline, tmp_path, monkeypatch):
    name, site = "en_hashembeds_toy", tmp_path / "site"
    nlp = spacy.load(pipeline)
    nlp.meta.update(name="hashembeds_toy", version="1.2.3")
    folder = site / name / f"{name}-1.2.3"
    folder.mkdir(parents=True)
    nlp.to_disk(folder)
    (site / name / "__init__.py").touch()
    (info := site / f"{name}-1.2.3.dist-info").mkdir()
    (info / "METADATA").write_text(f"Name: {name}\nVersion: 1.2.3\n")
    monkeypatch.syspath_prepend(site)
    assert Edits(name).base == folder / "config.cfg"
    sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("EU B-ORG\n", "EU B-ORG"),
        (A.replace("[comp", "x = ${no.where}\n[comp", 1), "no.where"),
        (f"{NLP}x = null\n[nlp.x]\n", "nlp -> x"),
        ("[components]\n", r"\[nlp\]"),
        ("[nlp.tokenizer]\n[nlp]\n", r"\[nlp\] should stand above"),
        (f"{PARTS}ner = ${{components}}\n", "section into itself"),
        (f"{PARTS}[components.ner]\nfactory = {{}}\n", "factory"),
        (f'{A}[components.a.model]\n@architectures = ["x"]\n', "@architectures"),
        (f"{T}frozen_components = [[3]]\n", "frozen_components"),
        (A.replace("[comp", "disabled = 3\n[comp", 1), "disabled"),
        (f"{T}train_corpus = 3\n", "train_corpus"),
        (f"{T}score_weights = 3\n", "score_weights"),
        (f"{T}seed = null\n", "seed"),
        *((A.replace('"en"', x), "lang") for x in ("3", '"en.stop_words"')),
        # variables for sections
        (f"{A}[training]\noptimizer = ${{a}}\n[a]\nb = 1\n", "training.optimizer"),
        (f"{NLP}[components]\na = ${{x}}\n[x]\nfactory = 1\n", "components.a"),
        (
            A.replace("[components]", "[components]\nb = ${components.a}"),
            "components.b",
        ),
        ("# Zürich\n", "UTF-8"),
    ],
)
def test_invalid_configs_are_refused(tmp_path, text, named):
    path = tmp_path / "base.cfg"
    path.write_text(text, encoding="latin1")
    with pytest.raises(ValueError, match=rf"base.cfg'.*{named}") as refused:
        configure(path)
    assert len(str(refused.value)) < 1000


def test_reads_a_pipe_and_a_byte_order_mark(base, tmp_path):
    os.mkfifo(pipe := tmp_path / "pipe")
    data = b"\xef\xbb\xbf" + base.read_bytes()
    writer = Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    assert Edits(pipe).config == load_config(base)
    writer.join()


@pytest.mark.parametrize(
    ("name", "named"),
    [
        *(("gone.cfg", "gone.cfg"), ("empty", "empty")),
        *((".", "model-best"), ("", "''")),
    ],
)
def test_missing_files_are_refused(pipeline, monkeypatch, name, named):
    monkeypatch.chdir(pipeline.parent)
    Path("empty").mkdir()
    with pytest.raises(OSError, match=named):
        Edits(name)
