"""Conversion of own files to splits."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from spacy import blank

from spacy_hashembeds.tools.prepare import splits
from spacy_hashembeds.tools.prepare.columns import ColumnFormat
from spacy_hashembeds.tools.prepare.labelled import LabelledText, TextFormat

from ... import toy_ner

prepare_texts = partial(splits.prepare_files, layout=TextFormat())
prepare_files = partial(splits.prepare_files, layout=ColumnFormat())

TEXT = "Zoë B-PER\nslept O\n\nYes O\n"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*")}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    paths = {split: tmp_path / f"{split}.iob" for split in splits.SPLITS}
    for split, path in paths.items():
        path.write_text(f"{split} B-PER\n\n{TEXT}", encoding="utf-8")
    return paths


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "made" / "output"


def test_norms_are_those_of_the_language(tmp_path, output):
    file = tmp_path / "own.iob"
    file.write_text("लड़कियों O\n", encoding="utf-8")
    paths = prepare_files(train=file, dev=file, lang="hi", output=output)
    assert toy_ner.read(paths["train"])[0][0].norm_ == blank("hi")("लड़कियों")[0].norm_
    # no tokenizer is needed
    assert prepare_files(train=file, dev=file, lang="ja", output=output / "ja")


def test_an_old_test_split_or_a_folder_is_not_replaced(files, output):
    prepare_files(**files, lang="en", output=output)
    before = contents(output)
    assert len(before) == 3
    with pytest.raises(ValueError, match=r"'test'.*test\.spacy'"):
        prepare_files(**{**files, "test": None}, lang="en", output=output)
    assert contents(output) == before
    (output / "dev.spacy").unlink()
    (output / "dev.spacy").mkdir()
    with pytest.raises(IsADirectoryError, match=r"dev\.spacy"):
        prepare_files(**files, lang="en", output=output)
    assert (output / "train.spacy").read_bytes() == before["train.spacy"]


@pytest.mark.parametrize(("group", "size"), [("sentence", 1), ("document", 2)])
def test_one_in_ten_sentences_or_documents_is_held_out(tmp_path, output, group, size):
    start = "-DOCSTART- O\n\n"
    texts = [f"w{i} B-{'AB'[i % 2]}\n\n" * size for i in range(60)]
    texts += ["Rare B-RARE\n\n" * size]
    file = tmp_path / "own.iob"
    file.write_text("".join(start + text for text in texts))
    layout = ColumnFormat(group=group)
    paths = prepare_files(train=file, lang="en", output=output, layout=layout)
    train, dev = ([doc.text for doc in toy_ner.read(path)] for path in paths.values())
    assert list(paths) == ["train", "dev"]
    assert (len(train), len(dev)) == (55, 6)
    assert not set(train) & set(dev)
    assert len({text.split()[0] for text in [*train, *dev]}) == 61
    assert {len(list(doc.sents)) for doc in toy_ner.read(paths["dev"])} == {size}
    types = [ent.label_ for doc in toy_ner.read(paths["dev"]) for ent in doc.ents]
    assert sorted(set(types)) == ["A", "B"]


def test_pipes_are_refused(tmp_path, output):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is read twice, so it should be a file"):
        prepare_files(train=tmp_path / "pipe", lang="en", output=output)
    train = tmp_path / "train.csv"
    train.write_text("text,label\na,x\n")
    with pytest.raises(ValueError, match="pipe' is read twice, so it should"):
        prepare_texts(train=train, dev=tmp_path / "pipe", lang="en", output=output)


@pytest.mark.parametrize("is_there", [True, False])
def test_an_error_changes_no_file(files, output, is_there):
    if is_there:
        prepare_files(**files, lang="en", output=output)
    before = contents(output)
    for path in files.values():
        path.write_text("Other O\n")
    files["test"].write_bytes(b"Other O\n\xff O\n")
    with pytest.raises(ValueError, match=r"test\.iob:2: not utf-8 text"):
        prepare_files(**files, lang="en", output=output)
    assert contents(output) == before


PREPARE = """
import sys
from tests.tools.prepare.test_splits import prepare_files
file, output = sys.argv[1:]
prepare_files(train=file, dev=file, lang="en", output=output)
"""


def test_files_are_deterministic(files, tmp_path):
    """Compare with a process that has another hash seed."""
    other, output = tmp_path / "other", tmp_path / "here"
    command = [sys.executable, "-c", PREPARE, str(files["train"]), str(other)]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONHASHSEED": "1"})
    prepare_files(train=files["train"], dev=files["train"], lang="en", output=output)
    assert contents(other) == contents(output)


def hold_out(sets: list[tuple[str, ...]]) -> dict[str, list[int]]:
    """Hold out one in ten texts with these labels; return their indices."""
    texts = [LabelledText(str(i), dict.fromkeys(s, 1.0)) for i, s in enumerate(sets)]
    held_out = splits.hold_out(lambda: iter(texts), splits.find_labels, every=10)
    return {split: [int(x.text) for x in found] for split, found in held_out.items()}


def test_one_in_ten_texts_of_each_label_is_held_out():
    labels = [("a",)] * 30 + [("b",)] + [("a", "b")] * 20
    held_out = hold_out(labels)
    dev, train = held_out["dev"], held_out["train"]
    assert sorted([*dev, *train]) == list(range(51))
    assert [sum(place // 10 == i for place in dev) for i in range(3)] == [1, 1, 1]
    assert len(dev) == 5
    assert 30 in train


def test_no_label_is_only_in_dev():
    """Each label occurs once or twice, with a frequent one."""
    assert hold_out([("frequent", str(i)) for i in range(200)])["dev"] == []
    held_out = hold_out([("frequent", str(i // 2)) for i in range(200)])
    assert 5 < len(held_out["dev"]) < 15
    dev, train = ({i // 2 for i in held_out[split]} for split in ("dev", "train"))
    assert dev <= train
