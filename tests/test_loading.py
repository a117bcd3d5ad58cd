"""Loading of pipelines and configs, and errors."""

import pytest
import spacy
from spacy.util import load_config_from_str

from spacy_hashembeds.loading import check_variables, load_config, load_trained
from spacy_hashembeds.tools.analyze.embedders import load_pipeline
from spacy_hashembeds.tools.config.edits import Edits


def test_file_or_folder_of_pipelines_raises(tmp_path):
    (tmp_path / "a.cfg").touch()
    with pytest.raises(ValueError, match=r"a\.cfg' should be a pipeline"):
        load_trained(tmp_path / "a.cfg")
    with pytest.raises(FileNotFoundError, match="gone"):
        load_trained("gone.conll")
    for name in ("model-last", "model-best"):
        spacy.blank("en").to_disk(tmp_path / name)
    best, last = tmp_path / "model-best", tmp_path / "model-last"
    with pytest.raises(ValueError, match=f"'{best}' or '{last}'"):
        load_trained(tmp_path)
    with pytest.raises(OSError, match="E053"):
        load_trained(best / "vocab")
    assert load_trained(best).lang == "en"


@pytest.mark.parametrize(
    ("written", "other", "match"),
    [
        ("depth = 4", "depth = 3", "weights in '{}'.*mismatched structure.*--code"),
        ('factory = "tok2vec"', 'factory = "mine"', "'{}'.*E002.*'mine'.*--code"),
        ("spacy.Tokenizer.v1", "mine.v1", "'{}'.*E893.*'mine.v1'.*--code"),
        ('lang = "en"', 'lang = "mine"', "'{}'.*E048.* language mine .*--code"),
    ],
)
def test_missing_code_raises(tmp_path, written, other, match):
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    nlp.to_disk(tmp_path)
    config = tmp_path / "config.cfg"
    text = config.read_text(encoding="utf8")
    assert text.count(written) == 1
    config.write_text(text.replace(written, other), encoding="utf8")
    with pytest.raises(ValueError, match=match.format(tmp_path)) as raised:
        load_trained(tmp_path)
    assert "Available" not in str(raised.value)


def test_damaged_files(tmp_path):
    spacy.blank("en").to_disk(tmp_path)
    (tmp_path / "vocab" / "lookups.bin").write_bytes(b"\xc1\xff\0garbage")
    with pytest.raises(ValueError, match=f"'{tmp_path}.*can't be loaded.*damaged"):
        load_trained(tmp_path)
    spacy.blank("en").to_disk(tmp_path)
    (tmp_path / "vocab" / "strings.json").write_text("[1]")
    with pytest.raises(ValueError, match=f"'{tmp_path}.*can't be loaded.*E017"):
        load_trained(tmp_path)
    (tmp_path / "config.cfg").write_text('[nlp]\nlang = "en"\npipeline = ["a"]\n')
    with pytest.raises(ValueError, match=r"^\s+Config validation error"):
        load_trained(tmp_path)


@pytest.mark.parametrize("text", ["[nlp]\n[nlp]\n", "[nlp]\nlang = 1\nlang = 1\n"])
def test_duplicates_in_a_config_raise(tmp_path, text):
    path = tmp_path / "twice.cfg"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"'{path}' should be a.*but .*already exists"):
        load_config(path)


@pytest.mark.parametrize(
    "text", ["a = $${y.a}", "a = ${no.where}", "a = ${b}\nb = 1", "a = ${x:b}\nb = 1"]
)
def test_variables_without_a_cycle(text):
    check_variables(load_config_from_str(f"[x]\n[y]\n{text}\n"))


READERS = {
    "config": lambda folder: Edits(folder / "config.cfg"),
    "analyze": lambda folder: load_pipeline(
        config=folder / "config.cfg", model=None, overrides={}
    ),
    "accelerate": load_trained,
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("text", ["a = ${b}\nb = ${a}\n", "a = ${y}\n[y]\nb = ${x}\n"])
def test_circular_variables_raise(tmp_path, text, reader):
    pipeline = '[paths]\n[nlp]\nlang = "en"\npipeline = []\n[components]\n[training]\n'
    (tmp_path / "config.cfg").write_text(f"{pipeline}[x]\n{text}", encoding="utf8")
    (tmp_path / "meta.json").write_text("{}")
    with pytest.raises(ValueError, match=r"itself|Recursion"):
        READERS[reader](tmp_path)
