from functools import partial
from pathlib import Path

import pytest
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from lab.vectors.rawtext import RAW_FILES

from ..calling import squeeze, succeed

run = partial(succeed, "rawtext")


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
    assert output.read_text() == "kept in !\n" * 7
    printed = squeeze(result.output)
    assert "Left out 7 lines of held-out data" in printed
    assert f"Saved 7 lines of 21 tokens to {output}" in printed
