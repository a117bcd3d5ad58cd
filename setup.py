"""What setup.cfg can't say: README.md as an index shows it, and compiled kernels.

There, links to files of this repository lead nowhere. And where kernels can't be
compiled, numpy does their work.
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
#: Where Cython writes.
TRANSLATED = Path("build/cython")
#: The name of the environment variable that says whether kernels are compiled, and
#: used: see kernels/compiled.py.
SWITCH = "SPACY_HASHEMBEDS_COMPILED"

#: What is rounded stays as it is written, but roots set no errno.
OPTIONS = {
    "unix": ["-std=c++17", "-O3", "-g0", "-ffp-contract=off", "-fno-math-errno"],
    "msvc": ["/std:c++17", "/O2", "/fp:precise"],
}

_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^]]*)\]\((?P<path>(?!\w+:|#)[^)]+)\)")


def read_source(path: Path) -> str | None:
    """Read the address of the repository, `Source` among the project's URLs."""
    config = ConfigParser()
    config.read(path, encoding="utf8")
    lines = config.get("metadata", "project_urls", fallback="").splitlines()
    urls = dict(re.split(r"\s*=\s*", line, maxsplit=1) for line in lines if line)
    return urls.get("Source")


def make_page(readme: str, source: str | None) -> str:
    """Let links lead to the repository, or, without its address, say what they name.

    readme (str): The text of README.md.
    source (str, optional): The address of the repository.
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
    """Compiles the kernels, with the compiler's own options.

    What is optional, as they are, is left out where that fails, unless somebody asks
    for nothing else.
    """

    def build_extension(self, ext: Extension) -> None:
        """Compile them.

        RAISES (CompileError): If Cython is not there, or can't translate them.
        """
        ext.optional = "build_ext" not in self.distribution.commands
        built = Path(self.get_ext_fullpath(ext.name))
        built.unlink(missing_ok=True)
        check_cython()
        try:
            self._compile(ext)
        except Exception:
            # one that was compiled of other sources should not be taken for it
            (KERNELS / built.name).unlink(missing_ok=True)
            raise

    def _compile(self, ext: Extension) -> None:
        self.force = True  # a build that was killed leaves parts that look new
        ext.sources = translate(ext)
        kind = "msvc" if self.compiler.compiler_type == "msvc" else "unix"
        ext.extra_compile_args = OPTIONS[kind]
        super().build_extension(ext)


def check_cython() -> None:
    """Check that Cython is there: without pip, or its isolation, it may not be.

    RAISES (CompileError): If it is not.
    """
    try:
        import Cython  # noqa: F401
    except ImportError as error:
        raise CompileError(
            f"can't import Cython ({error}). Run `pip install --no-deps --editable .`, "
            "which brings it along, or `pip install cython` first. Kernels that were "
            "compiled before are left as they are."
        ) from error


def translate(ext: Extension) -> list[str]:
    """Translate Cython to C++. RETURNS (list[str]): The files."""
    from Cython.Build import cythonize
    from Cython.Compiler.Errors import CompileError as CythonError

    # headers that are copied there are copied again only if they look newer
    shutil.rmtree(TRANSLATED, ignore_errors=True)
    try:
        (translated,) = cythonize([ext], build_dir=str(TRANSLATED), force=True)
    except (CythonError, ValueError) as error:
        raise CompileError(str(error)) from error
    return translated.sources


def find_extensions() -> list[Extension]:
    """Say what is to be compiled, if anything should be."""
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
