"""What `accelerate --force` may replace."""

import shutil
from pathlib import Path

import pytest

from spacy_hashembeds.acceleration.folders import check_replaceable

from . import accelerate_pipelines as pipelines
from .accelerate_pipelines import read_files


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    """A pipeline as spaCy saves it, with all sorts of components. To read only."""
    folder = tmp_path_factory.mktemp("saved")
    pipelines.make_shared().to_disk(folder)
    return folder


@pytest.fixture
def output(saved, tmp_path) -> Path:
    return shutil.copytree(saved, tmp_path / "out")


@pytest.fixture
def source(saved, tmp_path) -> Path:
    return shutil.copytree(saved, tmp_path / "in")


def check(output: Path, source: Path) -> None:
    check_replaceable(output, source, force=True)


def test_what_spacy_saves_may_be_replaced(output, source):
    check(output, source)


def test_what_is_missing_or_empty_may_be_written(tmp_path, source):
    for force in (True, False):
        check_replaceable(tmp_path / "out", source, force=force)
    (tmp_path / "out").mkdir()
    for force in (True, False):
        check_replaceable(tmp_path / "out", source, force=force)


def test_a_pipeline_is_not_replaced_unless_that_is_asked_for(output, source):
    with pytest.raises(FileExistsError, match=r"something in '.*out'.*\(--force\)"):
        check_replaceable(output, source, force=False)


def test_a_project_that_has_become_a_pipeline_is_not_replaced(output, source):
    (output / ".git").mkdir()
    (output / ".git" / "HEAD").write_text("ref: refs/heads/main")
    (output / "corpus").mkdir()
    (output / "thesis.txt").write_text("years of work")
    with pytest.raises(FileExistsError, match=r"out' should hold.*thesis\.txt\. Name"):
        check(output, source)


def test_only_some_of_many_strangers_are_named(output, source):
    for number in range(8):
        (output / f"{number}.txt").write_text("")
    with pytest.raises(FileExistsError, match=r"holds 0\.txt, 1\.txt,.*3 more\. Name"):
        check(output, source)


def test_folders_of_components_that_are_gone_are_strangers(output, source):
    shutil.copytree(output / "ner", output / "old_ner")
    with pytest.raises(FileExistsError, match=r"also holds old_ner\. Name"):
        check(output, source)


def test_copies_of_what_is_beside_the_other_pipeline_are_no_loss(output, source):
    for folder in (output, source):
        (folder / "LICENSE").write_text("MIT")
        (folder / "docs").mkdir()
        (folder / "docs" / "usage.md").write_text("spacy.load")
    check(output, source)
    (output / "docs" / "usage.md").write_text("spacy.load, and years of work")
    (output / "LICENSE").write_text("none")
    with pytest.raises(FileExistsError, match=r"also holds LICENSE, docs\. Name"):
        check(output, source)


def test_what_a_copy_has_more_than_the_original_is_a_loss(output, source):
    for folder in (output, source):
        (folder / "docs").mkdir()
    check(output, source)
    (output / "docs" / "mine.md").write_text("years of work")
    (output / "gone").symlink_to(output / "nowhere")
    with pytest.raises(FileExistsError, match=r"also holds docs, gone\. Name"):
        check(output, source)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config.cfg", None),
        ("config.cfg", "not a config"),
        ("config.cfg", "[training]\nseed = 0\n"),
        ("config.cfg", b"\xff"),
        ("meta.json", None),
        ("meta.json", "{"),
        ("meta.json", "[]"),
        ("meta.json", '{"name": "my project"}'),
        ("meta.json", b"\xff"),
    ],
)
def test_a_pipeline_has_a_config_and_meta_of_spacys(output, source, name, text):
    (output / name).unlink()
    if text is not None:
        (output / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    files = read_files(output)
    with pytest.raises(FileExistsError, match=rf"has no {name} .*remove it yourself"):
        check(output, source)
    assert read_files(output) == files


@pytest.mark.parametrize("name", ["vocab/precious.txt", "ner/backup/thesis.txt"])
def test_strangers_among_a_pipelines_own_files_are_no_less(output, source, name):
    path = output / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("precious")
    if not (output / "ner" / "cfg").exists():
        name = name.split("/")[0] if name.startswith("ner") else name
    with pytest.raises(FileExistsError, match=f"also holds .*{name}"):
        check(output, source)
    assert path.read_text() == "precious"


def test_what_has_no_config_that_can_be_read_is_no_pipeline(output, source):
    (output / "config.cfg").write_text("[nlp]\n[nlp]\n")
    with pytest.raises(FileExistsError, match=r"has no config\.cfg of spaCy's"):
        check(output, source)
