"""Parts of setup.cfg that need code: the page of the package index, and kernels.

The index can't resolve the README's relative links. Kernels that can't be compiled are
replaced by numpy.
"""

import os
import re
import shutil
from configparser import ConfigParser
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

ROOT = Path(__file__).parent

KERNELS = Path("spacy_hashembeds/kernels")
#: The output folder of Cython.
TRANSLATED = Path("build/cython")
#: Environment variable: "0" disables kernels. See kernels/compiled.py.
SWITCH = "SPACY_HASHEMBEDS_COMPILED"

#: Compilers must not change rounding. Square roots need not set errno.
OPTIONS = {
    "unix": ["-std=c++17", "-O3", "-g0", "-ffp-contract=off", "-fno-math-errno"],
    "msvc": ["/std:c++17", "/O2", "/fp:precise"],
}

_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^]]*)\]\((?P<path>(?!\w+:|#)[^)]+)\)")


def read_source(path: Path) -> str | None:
    """Read the URL of the repository, `Source` in `project_urls`."""
    config = ConfigParser()
    config.read(path, encoding="utf8")
    lines = config.get("metadata", "project_urls", fallback="").splitlines()
    urls = dict(re.split(r"\s*=\s*", line, maxsplit=1) for line in lines if line)
    return urls.get("Source")


def make_page(readme: str, source: str | None) -> str:
    """Replace relative links by links to the repository, or by names of files.

    readme (str): The text of README.md.
    source (str, optional): The URL of the repository.
    RETURNS (str): The text for a package index.
    """

    def replace(link: re.Match[str]) -> str:
        text, path = link["text"], link["path"]
        if source is not None:
            kind = "raw" if link["image"] else "blob"
            return f"{link['image']}[{text}]({source}/{kind}/main/{path})"
        if link["image"]:
            return f"*({text}: {path} in the sources.)*"
        file, _, _ = path.partition("#")
        return text if file in text else f"{text} ({file} in the sources)"

    return _LINK.sub(replace, readme)


class BuildKernels(build_ext):
    """Compile the kernels with options of the compiler.

    Kernels are optional, except in `build_ext`.
    """

    def build_extension(self, ext: Extension) -> None:
        """Compile the kernels.

        RAISES (CompileError): If Cython is missing, or fails.
        """
        ext.optional = "build_ext" not in self.distribution.commands
        built = Path(self.get_ext_fullpath(ext.name))
        built.unlink(missing_ok=True)
        check_cython()
        try:
            self._compile(ext)
        except Exception:
            # do not keep a kernel that was compiled from other sources
            (KERNELS / built.name).unlink(missing_ok=True)
            raise

    def _compile(self, ext: Extension) -> None:
        self.force = True  # a killed build leaves incomplete files with new dates
        ext.sources = translate(ext)
        kind = "msvc" if self.compiler.compiler_type == "msvc" else "unix"
        ext.extra_compile_args = OPTIONS[kind]
        super().build_extension(ext)


def check_cython() -> None:
    """Check that Cython is installed, which build isolation by pip ensures.

    RAISES (CompileError): If Cython is missing.
    """
    try:
        import Cython  # noqa: F401
    except ImportError as error:
        raise CompileError(
            f"can't import Cython ({error}). Run `pip install --no-deps --editable .`, "
            "which installs it, or `pip install cython` first. Existing kernels have "
            "not been changed."
        ) from error


def translate(ext: Extension) -> list[str]:
    """Translate Cython to C++. RETURNS (list[str]): The files."""
    from Cython.Build import cythonize
    from Cython.Compiler.Errors import CompileError as CythonError

    # Cython would copy only headers with newer dates
    shutil.rmtree(TRANSLATED, ignore_errors=True)
    try:
        (translated,) = cythonize([ext], build_dir=str(TRANSLATED), force=True)
    except (CythonError, ValueError) as error:
        raise CompileError(str(error)) from error
    return translated.sources


def find_extensions() -> list[Extension]:
    """Return the extension to compile, if any."""
    if os.environ.get(SWITCH) == "0":
        return []
    kernels = Extension(
        "spacy_hashembeds.kernels._compiled",
        [str(KERNELS / "_compiled.pyx")],
        include_dirs=[str(KERNELS)],
        depends=list(map(str, KERNELS.glob("*.h"))),
        language="c++",
        optional=True,
    )
    return [kernels]


if __name__ == "__main__":
    setup(
        cmdclass={"build_ext": BuildKernels},
        ext_modules=find_extensions(),
        long_description=make_page(
            (ROOT / "README.md").read_text(encoding="utf8"),
            read_source(ROOT / "setup.cfg"),
        ),
        long_description_content_type="text/markdown",
    )
