"""What a config can be made from, and where it may be written."""

import os
import sys
from pathlib import Path
from threading import Thread

import pytest
import spacy
from spacy.util import load_config

from spacy_hashembeds.files import STANDARD_OUTPUT
from spacy_hashembeds.tools.config.base_config import (
    check_output,
    is_pipeline,
    read_base,
)
from spacy_hashembeds.tools.config.configure import configure

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


def test_the_config_of_a_saved_pipeline_is_found(pipeline):
    edits = read_base(pipeline)
    assert edits.base == pipeline / "config.cfg"
    assert is_pipeline(edits.base.parent)
    assert edits.config == load_config(edits.base)
    assert edits.plain == load_config(edits.base, interpolate=True)


def test_the_config_of_a_package_is_found(pipeline, tmp_path, monkeypatch):
    name, version = "en_hashembeds_toy", "1.2.3"
    package = tmp_path / "site" / name
    package.mkdir(parents=True)
    nlp = spacy.load(pipeline)
    nlp.meta["name"], nlp.meta["version"] = "hashembeds_toy", version
    nlp.to_disk(package / f"{name}-{version}")
    (package / "__init__.py").write_text("")
    meta = (package / f"{name}-{version}/meta.json").read_text()
    (package / "meta.json").write_text(meta)
    info = tmp_path / "site" / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert read_base(name).base == package / f"{name}-{version}" / "config.cfg"
    sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("EU B-ORG\n", "base.cfg"),
        ("[nlp]\nlang = 1\n[nlp]\n", "nlp"),
        (A.replace("[comp", "x = ${no.where}\n[comp", 1), "no.where"),
        (A.replace("[comp", "x = ${\n[comp", 1), "base.cfg"),
        (f"{NLP}x = null\n[nlp.x]\n", "nlp -> x"),
        ("[components]\n", r"\[nlp\]"),
        (NLP, r"\[components\]"),
        ("[nlp.tokenizer]\n[nlp]\n", r"\[nlp\] should stand above"),
        (f"{PARTS}ner = ${{components}}\n", "section into itself"),
        (f"{PARTS}ner = 3\n", "ner"),
        (f"{PARTS}[components.ner]\nfactory = {{}}\n", "factory"),
        (f'{A}[components.a.model]\n@architectures = ["x"]\n', "@architectures"),
        (f"{T}frozen_components = [[3]]\n", "frozen_components"),
        (A.replace("[comp", "disabled = 3\n[comp", 1), "disabled"),
        (f"{T}train_corpus = 3\n", "train_corpus"),
        (f"{T}score_weights = 3\n", "score_weights"),
        (A.replace('"en"', "3"), "lang"),
        *((A.replace('"en"', f'"{x}"'), x) for x in ("../../x", "en.stop_words")),
        (f"{T}seed = null\n", "seed"),
    ],
)
def test_what_is_no_config_is_refused(tmp_path, text, named):
    path = tmp_path / "base.cfg"
    path.write_text(text)
    with pytest.raises(ValueError, match=named) as refused:
        configure(path)
    assert len(str(refused.value)) < 1000


def test_another_encoding_is_no_config(tmp_path):
    path = tmp_path / "base.cfg"
    path.write_bytes(f"# Zürich\n{PARTS}".encode("latin1"))
    with pytest.raises(ValueError, match=r"base.cfg'.* UTF-8"):
        read_base(path)


def test_a_byte_order_mark_is_left_out(base):
    config = load_config(base)
    base.write_bytes(b"\xef\xbb\xbf" + base.read_bytes())
    assert read_base(base).config == config


def test_a_pipe_is_read(base, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = Thread(target=(tmp_path / "pipe").write_text, args=(base.read_text(),))
    writer.start()
    assert read_base(tmp_path / "pipe").config == load_config(base)
    writer.join()


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("loop.cfg", "loop.cfg"),
        ("gone.cfg", "gone.cfg"),
        (".", "model-best"),  # which it is to be
        ("empty", "empty"),
        ("", "''"),
    ],
)
def test_what_is_no_file_or_pipeline_is_named(pipeline, monkeypatch, name, named):
    monkeypatch.chdir(pipeline.parent)
    Path("loop.cfg").symlink_to("loop.cfg")
    Path("empty").mkdir()
    with pytest.raises(OSError, match=named):
        read_base(name)


# Where it may be written


def check(output, train=None, force=False):
    check_output(output, inputs=[train], force=force)


def test_what_is_there_is_replaced_only_if_told_so(tmp_path):
    path = tmp_path / "new.cfg"
    check(path)
    check(STANDARD_OUTPUT)
    path.touch()
    with pytest.raises(FileExistsError, match=r"new.cfg.*--force"):
        check(path)
    check(path, force=True)


def test_a_file_that_the_corpus_links_to_is_never_replaced(tmp_path):
    (tmp_path / "corpus").mkdir()
    (tmp_path / "a.spacy").touch()
    (tmp_path / "corpus/a.spacy").symlink_to(tmp_path / "a.spacy")
    (tmp_path / "corpus/gone.spacy").symlink_to(tmp_path / "gone.spacy")
    with pytest.raises(FileExistsError, match=r"a.spacy', which is read"):
        check(tmp_path / "a.spacy", train=tmp_path / "corpus", force=True)


def test_nothing_is_written_into_a_saved_pipeline(pipeline):
    (pipeline.parent / "link").symlink_to(pipeline)
    (pipeline / "tokenizer").rename(pipeline.parent / "elsewhere")
    (pipeline / "tokenizer").symlink_to(pipeline.parent / "elsewhere")
    for folder in (pipeline, pipeline.parent / "link"):
        for name in ("config.cfg", "tokenizer", "deep/n.cfg"):
            with pytest.raises(FileExistsError, match="saved pipeline"):
                check(folder / name, force=True)
    check(pipeline.parent / "new.cfg")
