from functools import partial
from pathlib import Path

import pytest
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from lab.vectors.rawtext import RAW_FILES

from .calling import call, check_failure, squeeze

run = partial(call, "rawtext")


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder with all raw files, which hold two texts each."""
    folder = tmp_path / "raw"
    folder.mkdir()
    for name in RAW_FILES:
        (folder / name).write_text("held out\nkept in!\n")
    return folder


def test_held_out_data_may_be_given_more_than_once(folder, tmp_path):
    held_out = []
    for name, words in (("dev", ["held", "out"]), ("test", ["kept"])):
        path = tmp_path / f"{name}.spacy"
        DocBin(docs=[Doc(Vocab(), words=words)]).to_disk(path)
        held_out += ["--held-out", path]
    output = tmp_path / "text.txt"
    result = run(folder, "-o", output, *held_out)
    assert result.exit_code == 0, result.output
    assert output.read_text() == "kept in !\n" * 7
    printed = squeeze(result.output)
    assert "Left out 7 lines of held-out data" in printed
    assert f"Saved 7 lines of 21 tokens to {output}" in printed


def test_docs_may_be_written_and_added(folder, tmp_path):
    path, output = tmp_path / "train.spacy", tmp_path / "raw.spacy"
    DocBin(docs=[Doc(Vocab(), words=["my", "words"])]).to_disk(path)
    result = run(folder, "-o", output, "--add", path, "--held-out", path)
    assert result.exit_code == 0, result.output
    assert "Left out 1 lines" in squeeze(result.output)
    result = run(folder, "-o", output, "--add", path)
    assert result.exit_code == 0, result.output
    texts = {doc.text for doc in DocBin().from_disk(output).get_docs(Vocab())}
    assert texts == {"held out ", "kept in ! ", "my words "}
    check_failure(run(folder, "-o", path, "--add", path), "train.spacy")


def test_a_missing_file_is_named(folder, tmp_path):
    (folder / "yt-filter").unlink()
    result = run(folder, "-o", tmp_path / "text.txt")
    check_failure(result, "yt-filter: a file of raw text is missing")
    assert not (tmp_path / "text.txt").exists()
