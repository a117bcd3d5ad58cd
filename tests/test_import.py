"""What can be imported where Python has less than here."""

import subprocess
import sys

# What we import ourselves is there before: it may look at the system too.
WITHOUT_UNIX = """
import os, signal, sys
from importlib import import_module
from importlib.metadata import distribution
from pkgutil import walk_packages

def import_all():
    package = import_module("spacy_hashembeds")
    names = [m.name for m in walk_packages(package.__path__, "spacy_hashembeds.")]
    for name in names:
        import_module(name)
    for entry_point in distribution("spacy-hashembeds").entry_points:
        entry_point.load()
    return names

names = import_all()
assert "spacy_hashembeds.experiments.processes" in names
for name in [name for name in sys.modules if name.startswith("spacy_hashembeds")]:
    del sys.modules[name]
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
for name in ("fork", "getsid", "killpg", "sched_getaffinity", "setsid"):
    delattr(os, name)
for name in ("SIGKILL", "pthread_sigmask"):
    delattr(signal, name)
sys.platform = "win32"
assert import_all() == names
"""


def test_every_module_and_every_name_of_ours_can_be_imported_on_windows():
    command = [sys.executable, "-c", WITHOUT_UNIX]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
