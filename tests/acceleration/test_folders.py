"""What `accelerate --force` may replace, and what is copied."""

import errno
import os
import shutil
from contextlib import nullcontext
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
    """One that lacks most of them."""
    return shutil.copytree(saved("bare"), tmp_path / "in")


def test_what_is_there_is_replaced_by_force_alone(source, tmp_path):
    output = tmp_path / "out"
    check_replaceable(output, source, force=False)
    output.mkdir()
    check_replaceable(output, source, force=False)
    (output / "thesis.txt").write_text("years of work")
    with pytest.raises(FileExistsError, match=r"something in '.*out'.*\(--force\)"):
        check_replaceable(output, source, force=False)
    with pytest.raises(FileExistsError, match=r"config\.cfg"):
        check_replaceable(output / "thesis.txt", source, force=True)


@pytest.mark.parametrize(
    ("written", "beside_source", "refused"),
    [
        ({}, {}, None),
        ({".git/HEAD": b"work"}, {}, r"\.git"),
        ({"thesis.txt": b"work"}, {}, "thesis"),
        ({"old_ner/model": b"work"}, {}, "old_ner"),
        ({"LICENSE": b"mine"}, {}, "LICENSE"),
        ({"tagger/table": b"work"}, {}, "table"),
        # no loss
        ({"tagger/table": b"work"}, {"tagger/table": b"other"}, None),
        ({"LICENSE": b"mine"}, {"LICENSE": b"mine"}, None),
        # of the same size and time
        ({"LICENSE": b"mine"}, {"LICENSE": b"ours"}, "LICENSE"),
        # no pipelines of spaCy's
        ({"config.cfg": None}, {}, r"config\.cfg"),
        ({"config.cfg": b"not a config"}, {}, r"config\.cfg"),
        ({"config.cfg": b"[training]\nseed = 0\n"}, {}, r"config\.cfg"),
        ({"meta.json": b"{"}, {}, r"config\.cfg"),
        ({"meta.json": b'{"name": "my project"}'}, {}, r"config\.cfg"),
        ({"meta.json": b"\xff"}, {}, r"config\.cfg"),
    ],
    ids=str,
)
def test_only_a_pipeline_and_copies_of_what_is_beside_the_other_are_replaced(
    output, source, written, beside_source, refused
):
    for folder, files in ((output, written), (source, beside_source)):
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True)
            if text is not None:
                path.write_bytes(text)
                os.utime(path, (1e9, 1e9))
    with pytest.raises(FileExistsError, match=refused) if refused else nullcontext():
        check_replaceable(output, source, force=True)


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
