"""Kernels compiled for systems and processors that are not at hand, by clang.

Zig brings clang with the headers of them all. For aarch64 there is an emulator: what is
printed there has to be what is printed here, to the bit.
"""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from spacy_hashembeds.kernels import compiled

from ..conftest import ROOT, load_script
from ..left_out import NO_COMPILER, NO_EMULATOR, NO_ZIG

HEADERS = Path(compiled.__file__).parent
SOURCE = Path(__file__).parent / "print_kernels.cpp"

#: Those of the wheels, but for Microsoft's compiler in place of Windows' clang.
TARGETS = (
    *("x86_64-linux-gnu", "x86_64-linux-musl", "aarch64-linux-gnu"),
    *("x86_64-macos", "aarch64-macos", "x86_64-windows-gnu"),
)

#: How many checksums the program prints.
N_PRINTED = 15

pytestmark = pytest.mark.skipif(
    not (HEADERS / "convolution.h").is_file(),
    reason="no sources: the tests run against an installed package",
)


def compile_kernels(compiler: list[str], output: Path, *more: str) -> None:
    """Compile them as setup.py does, with no warning."""
    options = [*load_script(ROOT / "setup.py").OPTIONS["unix"], *more]
    command = [*compiler, *options, "-Wall", "-Wextra", "-Werror", f"-I{HEADERS}"]
    command.append("-Wno-unused-function")
    result = subprocess.run(
        [*command, str(SOURCE), "-o", str(output)], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr


def find_zig(target: str) -> list[str]:
    """Find the command of clang for a target, or skip the test."""
    if find_spec("ziglang") is None:
        pytest.skip(NO_ZIG)
    return [sys.executable, "-m", "ziglang", "c++", "-target", target]


def run_kernels(command: list[str]) -> list[str]:
    """Run them: checksums of numbers, in order."""
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return result.stdout.splitlines()


@pytest.mark.skipif(shutil.which("c++") is None, reason=NO_COMPILER)
def test_they_compile_here_and_all_run(tmp_path):
    # in half the time: other tests run what setup.py has made
    compile_kernels(["c++"], tmp_path / "here", "-O1")
    assert len(set(run_kernels([str(tmp_path / "here")]))) == N_PRINTED


@pytest.mark.parametrize("target", TARGETS)
def test_they_compile_for(target, tmp_path):
    compile_kernels([*find_zig(target), "-c"], tmp_path / "kernels.o")
    assert (tmp_path / "kernels.o").stat().st_size > 0


def test_on_aarch64_they_make_the_numbers_of_this_machine(tmp_path):
    zig = find_zig("aarch64-linux-musl")
    emulator = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    if emulator is None:
        pytest.skip(NO_EMULATOR)
    compile_kernels(zig, tmp_path / "aarch64")
    compile_kernels(["c++"], tmp_path / "here")
    printed = run_kernels([emulator, "-cpu", "max", str(tmp_path / "aarch64")])
    assert printed == run_kernels([str(tmp_path / "here")])
