"""Compiled kernels: whether they are there, and in use."""

import json
import os
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import Distribution, distributions
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ..kernels import compiled
from ..kernels.convolution import PRECISIONS, name_instructions
from .installation import PACKAGE, describe_error

COMPILED, NUMPY = "compiled", "numpy"


@dataclass(frozen=True)
class Kernels:
    """The kernels of our layers on the CPU."""

    #: "compiled" or "numpy".
    in_use: str
    #: Whether there are compiled ones that can be used; if not, why not.
    are_there: bool
    error: str | None
    #: The instructions for products of fewer bits, by precision, or None.
    instructions: dict[str, str | None]


def examine_kernels() -> Kernels:
    """Find the kernels."""
    there, error = compiled.find()
    return Kernels(
        in_use=NUMPY if compiled.kernels is None else COMPILED,
        are_there=there is not None,
        error=None if error is None else describe_error(error),
        instructions={name: name_instructions(name) for name in PRECISIONS[1:]},
    )


def advise_on_kernels(kernels: Kernels) -> list[str]:
    """Say how to get compiled kernels, or to use them."""
    if kernels.in_use == COMPILED:
        return []
    if kernels.are_there:
        return [
            f"Compiled kernels are there, but {compiled.SWITCH} is "
            f"{os.environ.get(compiled.SWITCH)} in the environment. Without it, they "
            "are used."
        ]
    folder = Path(compiled.__file__).parent
    if kernels.error is not None:
        trouble = f"The compiled kernels can't be used ({kernels.error})"
    else:
        trouble = f"There are no compiled kernels in {folder}"
    trouble += ": numpy does their work, which takes longer"
    if (other := _find_other_copy(folder)) is not None:
        return [
            f"{trouble}. Another copy of {PACKAGE}, installed in {other}, has them, "
            "but Python found this one first. Work in another folder and without "
            "PYTHONPATH, run `spacy` in the place of `python -m spacy`, or install "
            "this copy with: pip install --editable ."
        ]
    return [
        f"{trouble}. To have them, install a C++ compiler and Python's headers, and "
        "then in a clone of the project: pip install --force-reinstall --no-deps "
        "--no-cache-dir --editable ."
    ]


def _find_other_copy(own: Path) -> Path | None:
    """Find where a copy is installed that has compiled kernels, and is not this one."""
    names = [f"_compiled{suffix}" for suffix in EXTENSION_SUFFIXES]
    for found in distributions(name=PACKAGE):
        root = _locate(found)
        folder = root / own.relative_to(own.parents[1])
        has_kernels = any((folder / name).is_file() for name in names)
        if has_kernels and folder.resolve() != own.resolve():
            return root
    return None


def _locate(found: Distribution) -> Path:
    origin = json.loads(found.read_text("direct_url.json") or "{}")
    if origin.get("dir_info", {}).get("editable"):
        return Path(url2pathname(urlsplit(origin["url"]).path))
    return Path(str(found.locate_file("")))
