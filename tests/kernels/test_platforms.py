"""Cross-compilation of the kernels, by the clang of Zig."""

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

#: Targets of the wheels, with clang instead of Microsoft's compiler.
TARGETS = (
    *("x86_64-linux-gnu", "x86_64-linux-musl", "aarch64-linux-gnu"),
    *("x86_64-macos", "aarch64-macos", "x86_64-windows-gnu"),
)

#: Number of checksums that the program prints.
N_PRINTED = 15

pytestmark = pytest.mark.skipif(
    not (HEADERS / "convolution.h").is_file(),
    reason="no sources: the tests run against an installed package",
)


def compile_kernels(compiler: list[str], output: Path, *more: str) -> None:
    """Compile the kernels with the options of setup.py, and without warnings."""
    options = [*load_script(ROOT / "setup.py").OPTIONS["unix"], *more]
    command = [*compiler, *options, "-Wall", "-Wextra", "-Werror", f"-I{HEADERS}"]
    command.append("-Wno-unused-function")
    result = subprocess.run(
        [*command, str(SOURCE), "-o", str(output)], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr


def find_zig(target: str) -> list[str]:
    """Return the compiler command for a target, or skip the test."""
    if find_spec("ziglang") is None:
        pytest.skip(NO_ZIG)
    return [sys.executable, "-m", "ziglang", "c++", "-target", target]


def run_kernels(command: list[str]) -> list[str]:
    """Return the checksums that the program prints."""
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return result.stdout.splitlines()


@pytest.mark.skipif(shutil.which("c++") is None, reason=NO_COMPILER)
def test_native_build(tmp_path):
    # -O1 halves the time; other tests run the optimized build
    compile_kernels(["c++"], tmp_path / "native", "-O1")
    assert len(set(run_kernels([str(tmp_path / "native")]))) == N_PRINTED


@pytest.mark.parametrize("target", TARGETS)
def test_cross_compilation(target, tmp_path):
    compile_kernels([*find_zig(target), "-c"], tmp_path / "kernels.o")
    assert (tmp_path / "kernels.o").stat().st_size > 0


def test_aarch64_equals_native_build(tmp_path):
    zig = find_zig("aarch64-linux-musl")
    emulator = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    if emulator is None:
        pytest.skip(NO_EMULATOR)
    compile_kernels(zig, tmp_path / "aarch64")
    compile_kernels(["c++"], tmp_path / "native")
    printed = run_kernels([emulator, "-cpu", "max", str(tmp_path / "aarch64")])
    assert printed == run_kernels([str(tmp_path / "native")])
