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
    with pytest.raises(
        ValueError, match=f"'{path}' should .*but is a file. .*{remedy}"
    ):
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


def test_weights_of_other_layers_than_the_config_names(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    nlp.to_disk(tmp_path)
    config = tmp_path / "config.cfg"
    text = config.read_text(encoding="utf8")
    assert text.count("depth = 4") == 1
    config.write_text(text.replace("depth = 4", "depth = 3"), encoding="utf8")
    error = (
        f"weights in '{tmp_path}' are those of other layers .*mismatched structure.*"
        "'spacy.MultiEmbed.v1', for one, is that of spacy-hashembeds.* --code"
    )
    with pytest.raises(ValueError, match=error):
        load_trained(tmp_path)


def test_other_errors_are_left_as_they_are(tmp_path):
    nlp = spacy.blank("en")
    nlp.to_disk(tmp_path)
    (tmp_path / "config.cfg").write_text('[nlp]\nlang = "en"\npipeline = ["a"]\n')
    with pytest.raises(ValueError, match=r"^\s+Config validation error"):
        load_trained(tmp_path)


def test_a_pipeline_with_a_damaged_file_is_named(tmp_path):
    spacy.blank("en").to_disk(tmp_path / "model")
    (tmp_path / "model" / "vocab" / "lookups.bin").write_bytes(b"\xc1\xff\0garbage")
    match = f"The pipeline '{tmp_path / 'model'}' can't be loaded .*damaged"
    with pytest.raises(ValueError, match=match):
        load_trained(tmp_path / "model")


@pytest.mark.parametrize("text", ["[nlp]\n[nlp]\n", "[nlp]\nlang = 1\nlang = 1\n"])
def test_a_config_with_something_twice_is_named(tmp_path, text):
    path = tmp_path / "twice.cfg"
    path.write_text(text)
    match = f"'{path}' should be a spaCy config, but .*already exists"
    with pytest.raises(ValueError, match=match):
        load_config(path)
