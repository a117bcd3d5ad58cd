import importlib
import sys

import pytest
import spacy

from spacy_hashembeds.loading import load_config, load_trained


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("a.cfg", "analyze --config"), ("a.spacy", "A corpus"), ("a.txt", "folder")],
)
def test_a_file_is_no_pipeline(tmp_path, name, remedy):
    path = tmp_path / name
    path.touch()
    with pytest.raises(ValueError, match=f"'{path}' should .*but is.*file. .*{remedy}"):
        load_trained(path)


def test_the_pipelines_in_a_folder_are_named(tmp_path):
    for name in ("model-last", "model-best"):
        spacy.blank("en").to_disk(tmp_path / name)
    best, last = tmp_path / "model-best", tmp_path / "model-last"
    with pytest.raises(ValueError, match=f"holds some.*: '{best}' or '{last}'"):
        load_trained(tmp_path)
    with pytest.raises(OSError, match="E053"):
        load_trained(best / "vocab")
    assert load_trained(best).lang == "en"


WRITTEN_ANEW = [
    (
        *("depth = 4", "depth = 3"),
        "weights in '{}' are those of other layers .*mismatched structure.*"
        "'spacy.MultiEmbed.v1', for one, is that of spacy-hashembeds.* --code",
    ),
    ('factory = "tok2vec"', 'factory = "mine"', "'{}'.*E002.* for 'mine'.*--code"),
    ("spacy.Tokenizer.v1", "mine.v1", "'{}'.*E893.*'mine.v1' in.*'token.*--code"),
    ('lang = "en"', 'lang = "mine"', "'{}'.*E048.* language mine or any.*--code"),
]


@pytest.mark.parametrize(("written", "other", "match"), WRITTEN_ANEW)
def test_layers_and_code_that_are_others_are_asked_for(tmp_path, written, other, match):
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


def test_other_errors_are_left_as_they_are(tmp_path):
    spacy.blank("en").to_disk(tmp_path)
    (tmp_path / "config.cfg").write_text('[nlp]\nlang = "en"\npipeline = ["a"]\n')
    with pytest.raises(ValueError, match=r"^\s+Config validation error"):
        load_trained(tmp_path)


@pytest.mark.parametrize("error", ["AttributeError", "ImportError", "OSError"])
def test_a_package_that_fails_is_named_and_no_file(tmp_path, monkeypatch, error):
    (tmp_path / "segmenting.py").write_text(
        f"def make():\n    raise {error}('nothing there')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    make = importlib.import_module("segmenting").make
    spacy.registry.tokenizers(f"tests.{error}.v1", func=make)
    nlp = spacy.blank("en")
    nlp.config["nlp"]["tokenizer"] = {"@tokenizers": f"tests.{error}.v1"}
    nlp.to_disk(tmp_path / "model")
    with pytest.raises(ValueError, match=rf"'segmenting',.*\({error}: nothing there\)"):
        load_trained(tmp_path / "model")
    sys.modules.pop("segmenting")


def test_a_package_that_spacy_names_itself(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sudachipy", None)
    nlp = spacy.blank("en")
    nlp.config["nlp"] |= {"lang": "ja"}
    nlp.config["nlp"]["tokenizer"] = {
        "@tokenizers": "spacy.ja.JapaneseTokenizer",
        "split_mode": None,
    }
    nlp.to_disk(tmp_path)
    with pytest.raises(ImportError, match="requires SudachiPy"):
        load_trained(tmp_path)


def test_a_pipeline_with_a_damaged_file_is_named(tmp_path):
    spacy.blank("en").to_disk(tmp_path / "model")
    (tmp_path / "model" / "vocab" / "lookups.bin").write_bytes(b"\xc1\xff\0garbage")
    with pytest.raises(ValueError, match=f"'{tmp_path}.*can't be loaded.*damaged"):
        load_trained(tmp_path / "model")


@pytest.mark.parametrize("text", ["[nlp]\n[nlp]\n", "[nlp]\nlang = 1\nlang = 1\n"])
def test_a_config_with_something_twice_is_named(tmp_path, text):
    path = tmp_path / "twice.cfg"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"'{path}' should be a.*but .*already exists"):
        load_config(path)
