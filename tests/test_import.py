"""Imports of names of `spacy_hashembeds`, on Windows, and without extras."""

import subprocess
import sys
from importlib.metadata import version
from types import FunctionType

import pytest

import spacy_hashembeds

FUNCTIONS = [name for name in spacy_hashembeds.__all__ if name != "__version__"]

LAZY = """
import sys
import spacy_hashembeds
dir(spacy_hashembeds)
assert "spacy" not in sys.modules
spacy_hashembeds.use_fastest_blas
assert "spacy" in sys.modules
"""

#: Imports all modules twice: dependencies are loaded before the system is changed.
WITHOUT_UNIX = """
import os, signal, sys
from importlib import import_module
from importlib.metadata import distribution
from pkgutil import walk_packages
import spacy_hashembeds

def import_all():
    path = spacy_hashembeds.__path__
    names = [m.name for m in walk_packages(path, "spacy_hashembeds.")]
    for name in names:
        import_module(name)
    for entry_point in distribution("spacy-hashembeds").entry_points:
        entry_point.load()
    return names

names = import_all()
assert "spacy_hashembeds.files" in names
for name in names:
    del sys.modules[name]
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
for name in (
    *("fork", "getloadavg", "getsid", "killpg", "register_at_fork"),
    *("sched_getaffinity", "setsid", "sysconf"),
):
    delattr(os, name)
for name in ("SIGKILL", "SIGUSR1", "pthread_sigmask"):
    delattr(signal, name)
sys.platform = "win32"
assert import_all() == names
"""

#: Imports all modules except the tools, without extras and their dependencies.
WITHOUT_EXTRAS = """
import re, sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pkgutil import walk_packages

def find_required(name, found):
    name = name.lower().replace("_", "-")
    try:
        lines = [] if name in found else requires(name) or []
    except PackageNotFoundError:  # of other systems and Pythons
        return found
    found.add(name)
    for line in lines:
        if "extra ==" not in line:
            find_required(re.match(r"[\\w.-]+", line)[0], found)
    return found

required = find_required("spacy-hashembeds", set())
for module, names in packages_distributions().items():
    if not required.intersection(name.lower().replace("_", "-") for name in names):
        sys.modules[module] = None
assert sys.modules["scipy"] is sys.modules["nervaluate"] is None
import spacy_hashembeds
names = [m.name for m in walk_packages(spacy_hashembeds.__path__, "spacy_hashembeds.")]
core = [name for name in names if not name.startswith("spacy_hashembeds.tools.")]
assert len(core) > 60
for name in core:
    import_module(name)
"""


@pytest.mark.parametrize("code", [LAZY, WITHOUT_UNIX, WITHOUT_EXTRAS])
def test_imports(code):
    """Names can be imported on first use, on Windows, and without extras."""
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions(name):
    """Public names are functions with docstrings, not modules of the same name."""
    function = getattr(spacy_hashembeds, name)
    assert isinstance(function, FunctionType)
    assert (function.__name__, bool(function.__doc__)) == (name, True)
    assert name in dir(spacy_hashembeds)


def test_version():
    assert spacy_hashembeds.__version__ == version("spacy-hashembeds")
