"""What is packed, and what a package index shows."""

import subprocess
import sys
import tarfile
from email import message_from_bytes
from email.message import Message
from types import ModuleType

import pytest

from .conftest import ROOT, load_script

README = ROOT / "README.md"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script(ROOT / "setup.py")


@pytest.fixture(scope="module")
def sdist(tmp_path_factory) -> dict[str, bytes]:
    """The files of an sdist, by their paths."""
    pytest.importorskip("setuptools")
    if not (ROOT / "spacy_hashembeds").is_dir():
        pytest.skip("no sources: the tests run against an installed package")
    folder = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "setup.py", "-q", "egg_info", "--egg-base", folder]
    command += ["sdist", "--dist-dir", folder]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        return {
            name.partition("/")[2]: file.read()
            for name in archive.getnames()
            if (file := archive.extractfile(name)) is not None
        }


def test_a_link_leads_to_the_repository(script):
    page = "See [results](docs/results.md#trials) and ![speed](docs/speed.png)."
    assert script.make_page(page, "https://example.org/us/it") == (
        "See [results](https://example.org/us/it/blob/main/docs/results.md#trials) "
        "and ![speed](https://example.org/us/it/raw/main/docs/speed.png)."
    )


def test_without_an_address_a_link_says_what_it_names(script):
    page = "[Results](docs/results.md#trials), [docs/a.md](docs/a.md), ![fast](b.png)"
    assert script.make_page(page, None) == (
        "Results (docs/results.md in the sources), docs/a.md, "
        "*(fast: b.png in the sources.)*"
    )


def test_other_links_stay(script):
    page = "[spaCy](https://spacy.io), [below](#install), [us](mailto:us@example.org)"
    for source in (None, "https://example.org"):
        assert script.make_page(page, source) == page


def test_the_address_is_that_of_the_project_urls(script, tmp_path):
    path = tmp_path / "setup.cfg"
    urls = (
        "    Report = https://example.org/report\n    Source = https://example.org/it"
    )
    path.write_text(f"[metadata]\nproject_urls =\n{urls}\n", encoding="utf8")
    assert script.read_source(path) == "https://example.org/it"
    path.write_text("[metadata]\nname = it\n", encoding="utf8")
    assert script.read_source(path) is None


def test_the_sdist_holds_all_that_git_has(sdist):
    git = ["git", "ls-files", "-z"]
    try:
        listed = subprocess.run(git, cwd=ROOT, check=True, capture_output=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a clone")
    tracked = {name for name in listed.decode().split("\0") if (ROOT / name).is_file()}
    assert tracked - set(sdist) == set()


def test_the_index_shows_no_link_that_leads_nowhere(sdist, script):
    metadata: Message = message_from_bytes(sdist["PKG-INFO"])
    assert metadata["Description-Content-Type"] == "text/markdown"
    page = metadata.get_payload()
    assert "# spacy-hashembeds" in page
    assert "](docs/" in README.read_text(encoding="utf8")
    assert "](docs/" not in page
    assert "](benchmarks/" not in page
