"""What `accelerate --force` may replace, and what is copied."""

import errno
import os
import shutil
from functools import partial
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


def write(folder: Path, *names: str, text: str = "years of work") -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


check = partial(check_replaceable, force=True)


@pytest.mark.parametrize("force", [True, False])
def test_what_is_missing_or_empty_may_be_written(tmp_path, source, force):
    check_replaceable(tmp_path / "out", source, force=force)
    (tmp_path / "out").mkdir()
    check_replaceable(tmp_path / "out", source, force=force)


def test_what_spacy_saves_may_be_replaced_if_that_is_asked_for(output, source):
    check(output, source)
    with pytest.raises(FileExistsError, match=r"something in '.*out'.*\(--force\)"):
        check_replaceable(output, source, force=False)


@pytest.mark.parametrize("name", [".git/HEAD", "thesis.txt", "old_ner/model"])
def test_what_is_not_the_pipelines_is_never_replaced(output, source, name):
    write(output, name)
    with pytest.raises(FileExistsError, match=name.partition("/")[0]):
        check(output, source)


def test_copies_of_what_is_beside_the_other_pipeline_are_no_loss(output, source):
    write(output, "LICENSE", text="mine")
    with pytest.raises(FileExistsError, match="LICENSE"):
        check(output, source)
    write(source, "LICENSE", text="mine")
    check(output, source)
    # a file of the same size and time may say other things
    write(source, "LICENSE", text="ours")
    for folder in (output, source):
        os.utime(folder / "LICENSE", (1e9, 1e9))
    with pytest.raises(FileExistsError, match="LICENSE"):
        check(output, source)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config.cfg", None),
        ("config.cfg", b"not a config"),
        ("config.cfg", b"[training]\nseed = 0\n"),
        ("meta.json", b"{"),
        ("meta.json", b'{"name": "my project"}'),
        ("meta.json", b"\xff"),
        ("", b"a file"),
    ],
)
def test_a_pipeline_has_a_config_and_meta_of_spacys(output, source, name, text):
    shutil.rmtree(output) if not name else (output / name).unlink()
    if text is not None:
        (output / name).write_bytes(text)
    with pytest.raises(FileExistsError, match=r"config\.cfg"):
        check(output, source)


@pytest.mark.parametrize("place", [".", "..", "tok2vec", "new/out"])
def test_the_old_pipeline_is_not_written_to(source, place):
    nlp = spacy.load(source)
    assert find_source(nlp, "xx_package", source.parent / "out") == source.resolve()
    with pytest.raises(ValueError, match=r"the old one is in '.*in', and stays"):
        find_source(nlp, source, source / place)
    with pytest.raises(ValueError, match="'blank:en' should be a saved pipeline"):
        find_source(spacy.blank("en"), "blank:en", source / place)


def test_copies_can_be_written_where_files_of_a_package_can_not(source, tmp_path):
    files, copy = read_files(source), tmp_path / "copy"
    (source / "config.cfg").chmod(0o444)
    (source / "linked").symlink_to(source / "vocab")
    copy_folder(source, copy)
    assert read_files(copy / "linked") == read_files(copy / "vocab")
    shutil.rmtree(copy / "linked")
    assert read_files(copy) == files
    assert (copy / "config.cfg").stat().st_mode & 0o200


@pytest.mark.parametrize("links", [{"vocab/up": "in"}, {"a/b": "in/c", "c/d": "in/a"}])
def test_links_that_lead_into_themselves_are_refused(source, tmp_path, links):
    for link, target in links.items():
        (source / link).parent.mkdir(exist_ok=True)
        (source / link).symlink_to(tmp_path / target)
    copy = tmp_path / "copy"
    with pytest.raises(OSError, match=r"symbolic links: '.*in/") as raised:
        copy_folder(source, copy)
    assert raised.value.errno == errno.ELOOP
    # before it is copied over and over, until the system refuses
    assert not [*copy.glob("/".join("*" * 4))]
