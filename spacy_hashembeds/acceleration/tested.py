"""What the tests ran with, and what of this machine is none of it.

setup.cfg says the rest: the Pythons and systems in its classifiers, and the oldest
versions in its ranges. `make test-all` runs with all of these.
"""

import platform
from importlib.metadata import distribution

from packaging.version import parse

from .installation import PACKAGE, Version

#: The newest versions. What only adds to one, as 2.5.6 does to 2.5, is as good.
NEWEST = {"spacy": "3.8.18", "thinc": "8.3.14", "numpy": "2.5"}

_PYTHON = "Programming Language :: Python :: 3."
_SYSTEM = "Operating System :: "


def find_untested(versions: list[Version]) -> list[str]:
    """Say what no test ran with: a version, Python or the system.

    What is outside our ranges is left out: it is a problem already.
    """
    return [
        *_check_python(),
        *_check_system(),
        *(_describe(v) for v in versions if v.ok and _is_newer(v)),
    ]


def _check_python() -> list[str]:
    tested = ["3." + name for name in _read_classifiers(_PYTHON)]
    here = ".".join(platform.python_version_tuple()[:2])
    if here in tested:
        return []
    return [
        f"Python should be {', '.join(tested[:-1])} or {tested[-1]}, which our tests "
        f"run with, but is {here}. Should anything fail, try one of these."
    ]


def _check_system() -> list[str]:
    # such as "POSIX :: Linux"
    tested = [name.split(" :: ")[-1] for name in _read_classifiers(_SYSTEM)]
    if platform.system() in tested:
        return []
    return [
        f"The system should be {' or '.join(tested)}, which our tests run on, but is "
        f"{platform.system()}. See docs/versions.md for what is known of it."
    ]


def _read_classifiers(start: str) -> list[str]:
    """Read what follows the start in those of our classifiers that have it."""
    found = distribution(PACKAGE).metadata.get_all("Classifier") or ()
    return [name.removeprefix(start) for name in found if name.startswith(start)]


def _is_newer(version: Version) -> bool:
    if version.installed is None or version.name not in NEWEST:
        return False
    newest = parse(NEWEST[version.name]).release
    return parse(version.installed).release[: len(newest)] > newest


def _describe(version: Version) -> str:
    newest = NEWEST[version.name]
    return (
        f"{version.name} should be {newest} or older, which our tests run with, but is "
        f"{version.installed}. Should anything fail, try: "
        f"pip install '{version.name}=={newest}.*'"
    )
