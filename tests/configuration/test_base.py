"""What a config can be made from, and where it may be written."""

import os
import sys
from pathlib import Path
from threading import Thread

import pytest
import spacy

from spacy_hashembeds import systems
from spacy_hashembeds.configuration.base import read_base
from spacy_hashembeds.configuration.output import check_output
from spacy_hashembeds.systems import STANDARD_INPUT, STANDARD_OUTPUT

NLP = '[nlp]\nlang = "en"\npipeline = ["a"]\n'
PARTS = f"{NLP}[components]\n"
A = f"{PARTS}[components.a]\n"
T = f"{A}[training]\n"


@pytest.fixture
def pipeline(tmp_path):
    """The folder of a saved pipeline."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "model-best")
    return tmp_path / "model-best"


def test_a_file_is_read_as_it_is(base):
    read = read_base(str(base))
    assert read.text == base.read_text()
    assert read.config["training"]["seed"] == "${system.seed}"
    assert not read.is_pipeline


def test_the_config_of_a_saved_pipeline_is_found(pipeline):
    base = read_base(pipeline)
    assert base.path == pipeline / "config.cfg"
    assert base.is_pipeline
    assert read_base(base.path).is_pipeline


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
    base = read_base(name)
    assert base.path == package / f"{name}-{version}" / "config.cfg"
    assert base.is_pipeline
    sys.modules.pop(name)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("EU B-ORG\n", "base.cfg' should be a spaCy config, but can't be read as one"),
        ("[nlp]\nlang = 1\n[nlp]\n", "can't be read as one: .* section 'nlp' already"),
        (f"{NLP}x = ${{no.where}}\n", "can't be read as one: .*no.where"),
        (f"{NLP}x = ${{\n", "can't be read as one"),
        ("[components]\n", r"has nothing.*\[nlp\]. Make one with `spacy init config`"),
        (NLP, r"has nothing in \[components\]"),
        ("[nlp.tokenizer]\n[nlp]\n", r"as one: the section \[nlp\] should stand above"),
        (f"{PARTS}ner = ${{components}}\n", r"as one: a variable.*section into itself"),
        (f"{PARTS}ner = 3\n", r"a section as 'ner' in \[components\], but has 3"),
        (f"{PARTS}[components.ner]\nfactory = {{}}\n", r"a name as 'factory'.*has {}"),
        (f'{A}[components.a.model]\n@architectures = ["x"]\n', r"'@arch.* has \['x'\]"),
        (f"{T}frozen_components = null\n", r"a list of names as 'froz.*but has None"),
        (f"{T}frozen_components = [3]\n", r"a list of names as 'frozen_.*but has 3"),
        (A.replace("[comp", "disabled = 3\n[comp", 1), r"names as 'disabled'.* has 3"),
        (A.replace('"a"', "[]", 1), r"names as 'pipeline' in \[nlp\], but has \[\]"),
        (f"{T}train_corpus = 3\n", r"the name of a section as 'train_corpus' .*has 3"),
        (f"{T}score_weights = 3\n", r"a section as 'score_weights' in .* but has 3"),
        (f'{T}score_weights = {{"b": "c"}}\n', r"a number as 'b' in .*, but has 'c'"),
        (A.replace('"en"', "null"), r"base.cfg' should say which language"),
        (
            A.replace('"en"', '["en"]'),
            r"as 'lang' in \[nlp\], such as 'en', .* but has \['en'\]",
        ),
        (
            A.replace('"en"', "3"),
            "but has 3. If code of yours brings the language, install it",
        ),
        (
            A.replace('"en"', '"../../x"'),
            "base.cfg' should have the code of a language .*'../../x'",
        ),
        # is no language, but is there
        (A.replace('"en"', '"en.stop_words"'), "but has 'en.stop_words'"),
    ],
)
def test_what_is_no_config_is_refused(tmp_path, text, error):
    path = tmp_path / "base.cfg"
    path.write_text(text)
    with pytest.raises(ValueError, match=error):
        read_base(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin1"])
def test_other_encodings_are_no_config(tmp_path, encoding):
    path = tmp_path / "base.cfg"
    path.write_bytes(f"# Zürich\n{PARTS}".encode(encoding))
    with pytest.raises(ValueError, match=r"base.cfg' .* in UTF-8, .* save it as UTF-8"):
        read_base(path)


def test_a_byte_order_mark_is_left_out(base):
    text = base.read_text()
    base.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert read_base(base).text == text


def test_a_pipe_is_read(base, tmp_path):
    text = base.read_text()
    os.mkfifo(tmp_path / "pipe")
    writer = Thread(target=(tmp_path / "pipe").write_text, args=(text,))
    writer.start()
    assert read_base(tmp_path / "pipe").text == text
    writer.join()


def test_standard_input_is_read_where_it_has_no_file(base, monkeypatch):
    """As on Windows."""
    exists = Path.exists
    monkeypatch.setattr(Path, "is_fifo", lambda path: False)
    monkeypatch.setattr(Path, "is_file", lambda path: False)
    monkeypatch.setattr(
        Path, "exists", lambda path: path != STANDARD_INPUT and exists(path)
    )
    with base.open("rb") as file:
        monkeypatch.setitem(systems._STREAMS, str(STANDARD_INPUT), file.fileno())
        assert read_base(STANDARD_INPUT).text == base.read_text()


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("loop.cfg", r"loop.cfg'.*a link that leads nowher"),
        ("/dev/null", r"/dev/null' .* a device or socket"),
        ("gone.cfg", r"no folder and no package 'gone.cfg'"),
        (".", r"one of those in it: .*model-best"),
        ("empty", "empty' should be a saved pipeline"),
    ],
)
def test_what_is_no_file_or_pipeline_is_named(pipeline, monkeypatch, name, error):
    monkeypatch.chdir(pipeline.parent)
    Path("loop.cfg").symlink_to("loop.cfg")
    Path("empty").mkdir()
    with pytest.raises(FileNotFoundError, match=error):
        read_base(name)


def test_a_config_has_a_name():
    with pytest.raises(ValueError, match="'base' should name a config, but is empty"):
        read_base("")


# Where it may be written


def check(output, base="base.cfg", train=None, force=False):
    check_output(output, base=base, inputs=[train], force=force)


def test_what_is_there_is_replaced_only_if_told_so(tmp_path):
    base, other = tmp_path / "base.cfg", tmp_path / "other.cfg"
    check(base, base)
    for path in (base, other):
        path.touch()
    with pytest.raises(FileExistsError, match=r"base.cfg' is the config to start from"):
        check(base, base)
    with pytest.raises(FileExistsError, match=r"other.cfg' is there already.*--force"):
        check(other, base)
    for path in (base, other):
        check(path, base, force=True)
    check(STANDARD_OUTPUT, base)


def test_a_file_that_the_corpus_links_to_is_never_replaced(tmp_path):
    (tmp_path / "corpus").mkdir()
    (tmp_path / "a.spacy").touch()
    (tmp_path / "corpus/a.spacy").symlink_to(tmp_path / "a.spacy")
    (tmp_path / "corpus/gone.spacy").symlink_to(tmp_path / "gone.spacy")
    with pytest.raises(FileExistsError, match=r"replace '.*a.spacy', which is read"):
        check(tmp_path / "a.spacy", train=tmp_path / "corpus", force=True)


@pytest.mark.parametrize(
    "name",
    ["config.cfg", "meta.json", "tokenizer", "sentencizer/model", "deep/new.cfg"],
)
def test_nothing_is_written_into_a_saved_pipeline(pipeline, name):
    link = pipeline.parent / "link"
    link.symlink_to(pipeline)
    for folder in (pipeline, link):
        with pytest.raises(FileExistsError, match="is in the saved pipeline '"):
            check(folder / name, pipeline, force=True)
    check(pipeline.parent / "new.cfg", pipeline)


def test_what_a_saved_pipeline_links_to_is_not_replaced_through_it(pipeline):
    elsewhere = pipeline.parent / "tokenizer"
    (pipeline / "tokenizer").rename(elsewhere)
    (pipeline / "tokenizer").symlink_to(elsewhere)
    with pytest.raises(FileExistsError, match="is in the saved pipeline"):
        check(pipeline / "tokenizer", pipeline, force=True)
