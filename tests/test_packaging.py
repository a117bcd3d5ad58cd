"""What is packed, and what a package index shows."""

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
        fcntl.flock(lock, fcntl.LOCK_EX)  # each makes the same folder in the checkout
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
def test_a_link_leads_to_the_repository_or_says_what_it_names(script, source, made):
    assert script.make_page(f"{PAGE} {OTHERS}", source) == f"{made} {OTHERS}"


def test_the_sdist_holds_all_that_git_has_and_the_wheel_the_package(sdist, tmp_path):
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


def test_the_index_shows_no_link_that_leads_nowhere(sdist):
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
    """What setup.py needs, with a kernel that was compiled before."""
    pytest.importorskip("setuptools")
    for name in ("setup.py", "setup.cfg", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    folder = tmp_path / "spacy_hashembeds/kernels"
    folder.mkdir(parents=True)
    (folder / "_compiled.pyx").touch()
    (folder / KERNEL).write_text("compiled before")
    return tmp_path


def build(checkout, command, cython):
    """Run setup.py where Cython is a folder of its own."""
    (checkout / "path/Cython/Compiler").mkdir(parents=True)
    for name, text in cython.items():
        (checkout / "path/Cython" / name).write_text(text)
    # whichever path these tests are run on
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
#: One that finds an error in the sources.
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
def test_kernels_stay_unless_they_are_of_other_sources(checkout, cython, said, stays):
    result = build(checkout, "build_ext --inplace", cython)
    assert (result.returncode, said in result.stderr) == (1, True)
    assert (checkout / "spacy_hashembeds/kernels" / KERNEL).exists() is stays


@pytest.mark.parametrize("cython", [NO_CYTHON, CYTHON])
def test_kernels_are_optional_where_all_is_installed(checkout, cython):
    """And none that an earlier build has left are installed in their place."""
    left = checkout / "built/spacy_hashembeds/kernels" / KERNEL
    left.parent.mkdir(parents=True)
    left.write_text("left")
    result = build(checkout, "build --build-lib built --build-temp temp", cython)
    assert result.returncode == 0, result.stderr
    assert 'kernels._compiled" failed' in result.stderr
    assert not left.exists()
