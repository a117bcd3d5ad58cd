"""What `accelerate --force` may replace, and what is copied."""

import os
import shutil
from pathlib import Path

import pytest
import spacy

from spacy_hashembeds.acceleration.folders import (
    check_replaceable,
    copy_folder,
    find_source,
)

from .accelerate_pipelines import read_files


@pytest.fixture
def output(saved, tmp_path) -> Path:
    """A pipeline as spaCy saves it, with all sorts of components."""
    return shutil.copytree(saved("shared"), tmp_path / "out")


@pytest.fixture
def source(saved, tmp_path) -> Path:
    return shutil.copytree(saved("shared"), tmp_path / "in")


def check(output: Path, source: Path) -> None:
    check_replaceable(output, source, force=True)


def write(folder: Path, *names: str, text: str = "years of work") -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_what_spacy_saves_may_be_replaced_if_that_is_asked_for(output, source):
    check(output, source)
    with pytest.raises(FileExistsError, match=r"something in '.*out'.*\(--force\)"):
        check_replaceable(output, source, force=False)


@pytest.mark.parametrize("force", [True, False])
def test_what_is_missing_or_empty_may_be_written(tmp_path, source, force):
    check_replaceable(tmp_path / "out", source, force=force)
    (tmp_path / "out").mkdir()
    check_replaceable(tmp_path / "out", source, force=force)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([".git/HEAD", "thesis.txt"], [".git/HEAD", "thesis.txt"]),
        ([f"{number}.txt" for number in range(8)], ["0.txt", "and 3 more"]),
        (["old_ner/model"], ["old_ner/model"]),
        (["vocab/precious.txt"], ["vocab/precious.txt"]),
        (["ner/backup/thesis.txt"], ["ner/backup/thesis.txt"]),
        (["ner/backup/model", "vocab/my/patterns"], ["ner/backup/model", "vocab/my"]),
    ],
)
def test_what_is_not_the_pipelines_is_never_replaced(output, source, names, said):
    write(output, *names)
    files = read_files(output)
    with pytest.raises(FileExistsError) as error:
        check(output, source)
    assert all(each in str(error.value) for each in said)
    assert read_files(output) == files


def test_copies_of_what_is_beside_the_other_pipeline_are_no_loss(output, source):
    for folder in (output, source):
        write(folder, "LICENSE", "docs/usage.md")
    check(output, source)
    write(output, "LICENSE", "docs/usage.md", text="more work")
    with pytest.raises(FileExistsError, match=r"LICENSE, docs/usage\.md"):
        check(output, source)


def test_a_file_of_the_same_size_and_time_is_no_copy_if_it_says_other_things(
    output, source
):
    for folder, text in ((output, "mine"), (source, "ours")):
        write(folder, "LICENSE", text=text)
        os.utime(folder / "LICENSE", (1e9, 1e9))
    with pytest.raises(FileExistsError, match="LICENSE"):
        check(output, source)


def test_what_a_copy_has_more_than_the_original_is_a_loss(output, source):
    write(output, "docs/mine.md")
    (source / "docs").mkdir()
    write(source, "gone")
    (output / "gone").symlink_to(output / "nowhere")
    with pytest.raises(FileExistsError, match=r"docs/mine\.md, gone"):
        check(output, source)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config.cfg", None),
        ("config.cfg", b"not a config"),
        ("config.cfg", b"[nlp]\n[nlp]\n"),
        ("config.cfg", b"[training]\nseed = 0\n"),
        ("config.cfg", b"\xff"),
        ("meta.json", None),
        ("meta.json", b"{"),
        ("meta.json", b"[]"),
        ("meta.json", b'{"name": "my project"}'),
        ("meta.json", b"\xff"),
    ],
)
def test_a_pipeline_has_a_config_and_meta_of_spacys(output, source, name, text):
    (output / name).unlink()
    if text is not None:
        (output / name).write_bytes(text)
    with pytest.raises(FileExistsError, match=r"spaCy's config\.cfg"):
        check(output, source)


def test_a_file_is_never_replaced(tmp_path, source):
    write(tmp_path, "out")
    with pytest.raises(FileExistsError, match=r"out' should hold a pipeline"):
        check(tmp_path / "out", source)


@pytest.mark.parametrize("place", [".", "..", "tok2vec", "new/out"])
def test_the_old_pipeline_is_not_written_to(source, place):
    nlp = spacy.load(source)
    for model in (source, "xx_package"):
        assert find_source(nlp, model, source.parent / "out") == source.resolve()
    with pytest.raises(ValueError, match=r"the old one is in '.*in', and stays"):
        find_source(nlp, source, source / place)


def test_what_has_no_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="'blank:en' should be a saved pipeline"):
        find_source(spacy.blank("en"), "blank:en", tmp_path)


def test_copies_can_be_written_where_files_of_a_package_can_not(source, tmp_path):
    files, copy = read_files(source), tmp_path / "copy"
    (source / "config.cfg").chmod(0o444)
    (source / "linked").symlink_to(source / "vocab")
    copy_folder(source, copy)
    assert read_files(copy / "linked") == read_files(copy / "vocab")
    shutil.rmtree(copy / "linked")
    assert read_files(copy) == files
    assert (copy / "config.cfg").stat().st_mode & 0o200
