import pytest
import spacy

from spacy_hashembeds.loading import load_trained


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
