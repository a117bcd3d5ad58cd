"""Installed versions, kernels and devices: whether they work, and were tested."""

import os
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

from ..kernels import compiled
from ..kernels.cuda import gather_rows
from ..kernels.rows import Hashing, Table

PACKAGE = "spacy-hashembeds"

#: The newest versions that the tests ran with. What only adds to one, as 2.5.6 does to
#: 2.5, is as good. setup.cfg has the rest: the Pythons and systems in its classifiers,
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

    @property
    def ok(self) -> bool:
        """True if it is in the range."""
        required = Requirement(self.name + self.required).specifier
        return self.installed is not None and required.contains(self.installed, True)


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
    found = [Version(PACKAGE, own.version, "")]
    for requirement in map(Requirement, own.requires or ()):
        installed, marker = _get_version(requirement.name), requirement.marker
        wanted = {"", *extras} if installed else {""}
        if marker is None or any(marker.evaluate({"extra": one}) for one in wanted):
            required = str(requirement.specifier)
            found.append(Version(requirement.name, installed, required))
    return found


def _get_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def find_untested(versions: list[Version]) -> Iterator[str]:
    """Describe what no test ran with: Python, the system, or versions in our ranges."""
    found = distribution(PACKAGE).metadata.get_all("Classifier") or ()
    tested = {name.split(" :: ")[-1] for name in found}
    python = ".".join(platform.python_version_tuple()[:2])
    for name in {python, platform.system()} - tested:
        yield f"Our tests did not run with {name}: see docs/versions.md."
    for v in versions:
        newest = NEWEST.get(v.name)
        if newest is None or v.installed is None or not v.ok:
            continue
        release = parse(newest).release
        if parse(v.installed).release[: len(release)] > release:
            yield (
                f"Our tests ran with {v.name} {newest} or older, but not with "
                f"{v.installed}. Should anything fail, try: "
                f"pip install '{v.name}=={newest}.*'"
            )


def check_entry_points() -> dict[str, str]:
    """Load all that we register, and return the error of each that does not load."""
    errors = {}
    for entry_point in distribution(PACKAGE).entry_points:
        try:
            entry_point.load()
        except Exception as e:  # whatever a broken installation raises
            errors[f"{entry_point.group}: {entry_point.name}"] = _describe(e)
    return errors


def examine_gpu() -> Gpu:
    """Try our kernels with CuPy, if it is installed."""
    if find_spec("cupy") is None:
        return Gpu()
    try:
        cupy = import_module("cupy")
        try_kernels(cupy)
        name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    except Exception as e:  # a library that is missing is no ImportError everywhere
        return Gpu("unknown", error=_describe(e))
    return Gpu(cupy.__version__, name)


def try_kernels(xp: Any) -> None:
    """Multiply with CuPy (xp), and compile a kernel of ours that sums rows of ones."""
    keys, out = xp.zeros((1, 1), dtype="uint64"), xp.zeros((1, 4), dtype="float32")
    ones = xp.ones((2, 4), dtype="float32")
    table = Table(ones, Hashing(seed=9, num_hashes=3))
    gather_rows(keys, [table], out)
    if float(out.sum()) != 12 or float((ones @ ones.T).sum()) != 16:
        raise ValueError("the sum of rows by a kernel of ours, or a product, is wrong")


def describe_missing_kernels() -> str | None:
    """Describe how to get compiled kernels, or return None if there are some, or if the
    environment asks for none.
    """
    found, error = compiled.find()
    if found is not None or os.environ.get(compiled.SWITCH) == "0":
        return None
    trouble = f"are not in {Path(compiled.__file__).parent}"
    if error is not None:
        trouble = f"can't be used ({_describe(error)})"
    return (
        f"The compiled kernels {trouble}: numpy does their work, which takes longer. "
        f"If {PACKAGE} is installed and this is another copy, run `spacy` in the place "
        "of `python -m spacy`, in another folder and without PYTHONPATH. Otherwise "
        "install a C++ compiler and Python's headers, and then in a clone of the "
        "project: pip install --force-reinstall --no-deps --no-cache-dir --editable ."
    )


def is_parser_profiled() -> bool:
    """Return True if spaCy's parser was compiled with profiling: below Python 3.12."""
    file_ = import_module("spacy.ml.parser_model").__file__
    return file_ is not None and _PROFILING in Path(file_).read_bytes()


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
