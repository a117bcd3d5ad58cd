"""What can be imported where Python has less than here."""

import subprocess
import sys

# What we import ourselves is there before: it may look at the system too.
WITHOUT_UNIX = """
import os, signal, sys
from importlib import import_module
from importlib.metadata import distribution
from pkgutil import walk_packages

package, witness = sys.argv[1:]
ours = ("benchmarks", "lab", "spacy_hashembeds")

def import_all():
    path = import_module(package).__path__
    names = [m.name for m in walk_packages(path, f"{package}.")]
    names = [name for name in names if ".tests" not in name]
    for name in names:
        import_module(name)
    for entry_point in distribution("spacy-hashembeds").entry_points:
        entry_point.load()
    return names

names = import_all()
assert f"{package}.{witness}" in names
for name in [n for n in sys.modules if n.split(".")[0] in ours]:
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


def check_import_without_unix(package: str, witness: str) -> None:
    """Import every module of a package, of which one is sure to need care."""
    command = [sys.executable, "-c", WITHOUT_UNIX, package, witness]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_every_module_and_every_name_of_ours_can_be_imported_on_windows():
    check_import_without_unix("spacy_hashembeds", "files")


#: Imports all modules but those of the tools where nothing else is installed than what
#: the package requires, and what that requires.
WITHOUT_EXTRAS = """
import re, sys
from importlib import import_module
from importlib.metadata import packages_distributions, requires
from pkgutil import walk_packages

def find_required(name, found):
    for line in () if name in found or found.add(name) else requires(name) or ():
        if "extra ==" not in line:
            required = re.match(r"[\\w.-]+", line)[0].lower().replace("_", "-")
            try:
                find_required(required, found)
            except ModuleNotFoundError:  # of other systems and Pythons
                pass
    return found

required = find_required("spacy-hashembeds", set())
modules = {
    module for module, names in packages_distributions().items()
    if required.intersection(name.lower().replace("_", "-") for name in names)
}

class Finder:
    def find_spec(self, name, path=None, target=None):
        first = name.split(".")[0]
        if first not in modules and first not in sys.stdlib_module_names:
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Finder())
import spacy_hashembeds
names = [m.name for m in walk_packages(spacy_hashembeds.__path__, "spacy_hashembeds.")]
core = [name for name in names if not name.startswith("spacy_hashembeds.tools.")]
assert len(core) > 60
for name in core:
    import_module(name)
for name in ("nervaluate", "scipy", "sklearn", "torch"):
    try:
        import_module(name)
    except ModuleNotFoundError:
        continue
    raise AssertionError(name)
"""


def test_a_server_needs_no_extra():
    command = [sys.executable, "-c", WITHOUT_EXTRAS]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
