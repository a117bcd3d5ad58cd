"""Folders that `accelerate --force` replaces or copies."""

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
    """A saved pipeline with many components."""
    return shutil.copytree(saved("shared"), tmp_path / "out")


@pytest.fixture
def source(saved, tmp_path) -> Path:
    """A saved pipeline with few components."""
    return shutil.copytree(saved("bare"), tmp_path / "in")


def test_only_force_replaces_files(source, tmp_path):
    output = tmp_path / "out"
    check_replaceable(output, source, force=False)
    output.mkdir()
    check_replaceable(output, source, force=False)
    (output / "thesis.txt").write_text("years of work")
    with pytest.raises(FileExistsError, match=r"out' exists.*\(--force\)"):
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
        ({"tagger/notes.md": b"work"}, {}, "notes"),
        ({"vocab/mine/a.txt": b"work"}, {}, "a.txt"),
        # no loss
        ({"tagger/table": b"work"}, {"tagger/table": b"other"}, None),
        ({"licenses/MIT": b"mine"}, {"licenses/MIT": b"mine"}, None),
        ({"LICENSE": b"mine"}, {"LICENSE": b"mine"}, None),
        # of the same size and time
        ({"LICENSE": b"mine"}, {"LICENSE": b"ours"}, "LICENSE"),
        # no pipelines
        ({"config.cfg": None}, {}, r"config\.cfg"),
        ({"config.cfg": b"not a config"}, {}, r"config\.cfg"),
        ({"config.cfg": b"[training]\nseed = 0\n"}, {}, r"config\.cfg"),
        ({"meta.json": b'{"name": "my project"}'}, {}, r"config\.cfg"),
        ({"meta.json": b"\xff"}, {}, r"config\.cfg"),
    ],
    ids=str,
)
def test_only_pipelines_and_copied_files_are_replaced(
    output, source, written, beside_source, refused
):
    for folder, files in ((output, written), (source, beside_source)):
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            if text is not None:
                path.write_bytes(text)
                os.utime(path, (1e9, 1e9))
    with pytest.raises(FileExistsError, match=refused) if refused else nullcontext():
        check_replaceable(output, source, force=True)


@pytest.mark.parametrize("place", [".", "..", "tok2vec", "new/out"])
def test_the_old_pipeline_is_not_overwritten(source, place):
    nlp = spacy.load(source)
    assert find_source(nlp, "xx_package", source.parent / "out") == source.resolve()
    with pytest.raises(ValueError, match="should not overlap with the old"):
        find_source(nlp, source, source / place)
    with pytest.raises(ValueError, match="'blank:en' should be a saved pipeline"):
        find_source(spacy.blank("en"), "blank:en", source / place)


def test_copies_are_writable(source, tmp_path):
    files, copy = read_files(source), tmp_path / "copy"
    (source / "config.cfg").chmod(0o444)
    (source / "linked").symlink_to(source / "vocab")
    copy_folder(source, copy)
    assert read_files(copy / "linked") == read_files(copy / "vocab")
    shutil.rmtree(copy / "linked")
    assert read_files(copy) == files
    assert (copy / "config.cfg").stat().st_mode & 0o200


@pytest.mark.parametrize(
    "links", [{"vocab/up": "in/.."}, {"a/b": "in/c", "c/d": "in/a"}]
)
def test_cyclic_links_are_refused(source, tmp_path, links):
    for link, target in links.items():
        (source / link).parent.mkdir(exist_ok=True)
        (source / link).symlink_to(tmp_path / target)
    copy = tmp_path / "copy"
    with pytest.raises(OSError, match=r"symbolic links: '.*in/"):
        copy_folder(source, copy)
    assert not [*copy.glob("*/*/*/*")]  # before it is copied repeatedly
