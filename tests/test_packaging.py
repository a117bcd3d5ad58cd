"""Sdists, wheels, the page on a package index, and builds of kernels."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from email import message_from_bytes
from email.message import Message
from types import ModuleType

import pytest

from spacy_hashembeds.kernels import compiled

from .conftest import ROOT, load_script


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
    with (tmp_path_factory.getbasetemp().parent / "sdist.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # builds share a folder in the checkout
        subprocess.run(command, cwd=ROOT, check=True)
    (path,) = folder.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        return {
            name.partition("/")[2]: file.read()
            for name in archive.getnames()
            if (file := archive.extractfile(name)) is not None
        }


OTHERS = "[spaCy](https://spacy.io), [below](#install), [us](mailto:us@example.org)"
PAGE = "[Results](docs/results.md#trials), [docs/a.md](docs/a.md), ![fast](b.png)"
SOURCE = "https://example.org/it"


@pytest.mark.parametrize(
    ("source", "made"),
    [
        (
            SOURCE,
            f"[Results]({SOURCE}/blob/main/docs/results.md#trials), "
            f"[docs/a.md]({SOURCE}/blob/main/docs/a.md), "
            f"![fast]({SOURCE}/raw/main/b.png)",
        ),
        (
            None,
            "Results (docs/results.md in the sources), docs/a.md, "
            "*(fast: b.png in the sources.)*",
        ),
    ],
)
def test_links_become_absolute_or_plain_text(script, source, made):
    assert script.make_page(f"{PAGE} {OTHERS}", source) == f"{made} {OTHERS}"


def test_sdist_has_all_files_and_wheel_has_the_package(sdist, tmp_path):
    command = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", tmp_path]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    assert [path.name for path in tmp_path.iterdir()] == ["spacy_hashembeds"]
    git = ["git", "ls-files", "-z"]
    try:
        listed = subprocess.run(git, cwd=ROOT, check=True, capture_output=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a clone")
    tracked = {name for name in listed.decode().split("\0") if (ROOT / name).is_file()}
    assert tracked - set(sdist) == set()


def test_the_index_page_has_no_relative_links(sdist):
    metadata: Message = message_from_bytes(sdist["PKG-INFO"])
    assert metadata["Description-Content-Type"] == "text/markdown"
    page = metadata.get_payload()
    assert "# spacy-hashembeds" in page
    assert "](docs/" in (ROOT / "README.md").read_text(encoding="utf8")
    assert not re.search(r"\]\((docs|benchmarks)/", page)


# Compiling kernels by hand

KERNEL = "_compiled" + sysconfig.get_config_var("EXT_SUFFIX")


@pytest.fixture
def checkout(tmp_path):
    """A folder with the files that setup.py needs, and a kernel compiled earlier."""
    pytest.importorskip("setuptools")
    for name in ("setup.py", "setup.cfg", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    folder = tmp_path / "spacy_hashembeds/kernels"
    folder.mkdir(parents=True)
    (folder / "_compiled.pyx").touch()
    (folder / KERNEL).write_text("compiled before")
    return tmp_path


def build(checkout, command, cython):
    """Run setup.py with a module in place of Cython."""
    (checkout / "path/Cython/Compiler").mkdir(parents=True)
    for name, text in cython.items():
        (checkout / "path/Cython" / name).write_text(text)
    # even if these tests run without compiled kernels
    environment = {n: value for n, value in os.environ.items() if n != compiled.SWITCH}
    return subprocess.run(
        [sys.executable, "setup.py", *command.split()],
        cwd=checkout,
        env={**environment, "PYTHONPATH": str(checkout / "path")},
        capture_output=True,
        text=True,
        check=False,
    )


NO_CYTHON = {"__init__.py": "raise ImportError('none here')"}
#: Modules that replace Cython, and report an error in the sources.
CYTHON = {
    "__init__.py": "",
    "Build.py": "def cythonize(*args, **kwargs): raise ValueError('no such syntax')",
    "Compiler/Errors.py": "class CompileError(Exception): pass",
}


@pytest.mark.parametrize(
    ("cython", "said", "stays"),
    [
        (NO_CYTHON, "can't import Cython (none here)", True),
        (CYTHON, "no such syntax", False),
    ],
)
def test_failed_builds_keep_kernels_of_equal_sources(checkout, cython, said, stays):
    result = build(checkout, "build_ext --inplace", cython)
    assert (result.returncode, said in result.stderr) == (1, True)
    assert (checkout / "spacy_hashembeds/kernels" / KERNEL).exists() is stays


@pytest.mark.parametrize("cython", [NO_CYTHON, CYTHON])
def test_installation_without_kernels(checkout, cython):
    """Kernels of an earlier build are not installed instead."""
    left = checkout / "built/spacy_hashembeds/kernels" / KERNEL
    left.parent.mkdir(parents=True)
    left.write_text("left")
    result = build(checkout, "build --build-lib built --build-temp temp", cython)
    assert result.returncode == 0, result.stderr
    assert 'kernels._compiled" failed' in result.stderr
    assert not left.exists()
