"""Installed versions and devices: whether they work, and were tested."""

import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.version import parse

from ..kernels.cuda import gather_rows
from ..kernels.rows import Hashing, Table

PACKAGE = "spacy-hashembeds"

#: The newest versions that the tests ran with. What only adds to one, as 2.5.6 does to
#: 2.5, is as good. setup.cfg says the rest: the Pythons and systems in its classifiers,
#: and the oldest versions in its ranges. `make test-all` runs with all of these.
NEWEST = {"spacy": "3.8.18", "thinc": "8.3.14", "numpy": "2.5"}

# What code compiled by Cython calls to profile, and for nothing else. A name that is
# imported stands in the file, stripped or not, on every system.
_PROFILING = b"PyThreadState_EnterTracing"


@dataclass(frozen=True)
class Version:
    """A distribution that is installed (None if not), and the range that is ours."""

    name: str
    installed: str | None
    required: str
    ok: bool


@dataclass(frozen=True)
class Gpu:
    """GPU and CuPy: the name of the device, or the error."""

    cupy: str | None = None
    device: str | None = None
    error: str | None = None


def find_versions() -> list[Version]:
    """Find the versions of our requirements, and of the extras that are installed."""
    own = distribution(PACKAGE)
    extras = set(own.metadata.get_all("Provides-Extra") or ()) - {"test"}
    found = [Version(PACKAGE, own.version, "", True)]
    for requirement in map(Requirement, own.requires or ()):
        name, marker = requirement.name, requirement.marker
        installed = _get_version(name)
        wanted = {"", *extras} if installed else {""}
        if marker is None or any(marker.evaluate({"extra": one}) for one in wanted):
            required = requirement.specifier
            ok = installed is not None and required.contains(
                installed, prereleases=True
            )
            found.append(Version(name, installed, str(required), ok))
    return found


def find_untested(versions: list[Version]) -> Iterator[str]:
    """Say what no test ran with: Python, the system, or a version within our ranges."""
    pythons = _read_classifiers("Programming Language :: Python :: 3.")
    python = ".".join(platform.python_version_tuple()[:2])
    if python not in pythons:
        yield (
            f"Python should be {', '.join(pythons[:-1])} or {pythons[-1]}, which our "
            f"tests run with, but is {python}. Should anything fail, try one of these."
        )
    systems = _read_classifiers("Operating System :: ")
    if platform.system() not in systems:
        yield (
            f"The system should be {' or '.join(systems)}, which our tests run on, but "
            f"is {platform.system()}. See docs/versions.md for what is known of it."
        )
    for v in versions:
        if not v.ok or v.installed is None or v.name not in NEWEST:
            continue
        newest = parse(NEWEST[v.name]).release
        if parse(v.installed).release[: len(newest)] > newest:
            yield (
                f"{v.name} should be {NEWEST[v.name]} or older, which our tests run "
                f"with, but is {v.installed}. Should anything fail, try: "
                f"pip install '{v.name}=={NEWEST[v.name]}.*'"
            )


def _read_classifiers(start: str) -> list[str]:
    found = distribution(PACKAGE).metadata.get_all("Classifier") or ()
    return [name.split(" :: ")[-1] for name in found if name.startswith(start)]


def check_entry_points() -> dict[str, str]:
    """Load all that we register, and give the error of each name that does not load."""
    errors = {}
    for entry_point in distribution(PACKAGE).entry_points:
        try:
            entry_point.load()
        except Exception as e:  # whatever a broken installation raises
            errors[f"{entry_point.group}: {entry_point.name}"] = describe_error(e)
    return errors


def examine_gpu() -> Gpu:
    """Multiply two matrices with CuPy, if it is installed, and try our kernels."""
    if find_spec("cupy") is None:
        return Gpu()
    found = "unknown"
    try:
        cupy = import_module("cupy")
        found = cupy.__version__
        ones = cupy.ones((2, 2), dtype="float32")
        if float((ones @ ones).sum()) != 8:
            raise ValueError("the product of two matrices is wrong")
        try_kernels(cupy)
        name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    except Exception as e:  # a library that is missing is no ImportError everywhere
        return Gpu(found, error=describe_error(e))
    return Gpu(found, name)


def try_kernels(xp: Any) -> None:
    """Have CuPy (xp) compile our kernels, and one of them sum rows of ones."""
    keys, out = xp.zeros((1, 1), dtype="uint64"), xp.zeros((1, 4), dtype="float32")
    table = Table(xp.ones((2, 4), dtype="float32"), Hashing(seed=9, num_hashes=3))
    gather_rows(keys, [table], out)
    if float(out.sum()) != 12:
        raise ValueError("the sum of rows by a kernel of ours is wrong")


def is_parser_profiled() -> bool:
    """Tell whether spaCy's parser was compiled with profiling, as below Python 3.12."""
    file_ = import_module("spacy.ml.parser_model").__file__
    return file_ is not None and _PROFILING in Path(file_).read_bytes()


def _get_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def describe_error(error: Exception) -> str:
    """Give an error's type and message."""
    return f"{type(error).__name__}: {error}"
