"""`benchmarks/gpu.sh`, with a Python that only notes what it is asked to run."""

import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from benchmarks._shrink_wheels import shrink

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "gpu.sh"

#: Fails at what FAILING names, after it has done half of it.
PYTHON = """#!/usr/bin/env bash
echo "$PYTHONPATH: $*" >> "$CALLS"
echo "this is $1 $2"
case "$*" in *"benchmarks gpu"*) echo '{"copy": 1}' > "${@: -1}";; esac
case "$*" in *"$FAILING"*) exit 3;; esac
"""

pytestmark = pytest.mark.skipif(
    shutil.which("bash") is None or os.name == "nt", reason="there is no bash here"
)


@pytest.fixture
def run(tmp_path):
    python, calls = tmp_path / "python", tmp_path / "calls"
    python.write_text(PYTHON)
    python.chmod(0o755)
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "one.whl").touch()

    def run_script(*args: str, failing: str = "nothing"):
        env = {**os.environ, "PYTHON": str(python), "CALLS": str(calls)}
        env.update(WHEELS=str(tmp_path / "wheels"), FAILING=failing)
        command = ["bash", str(SCRIPT), *args]
        done = subprocess.run(
            command, env=env, cwd=tmp_path, capture_output=True, text=True
        )
        lines = calls.read_text().splitlines() if calls.exists() else []
        return done, [line for line in lines if "--version" not in line]

    return run_script


def test_wheels_are_installed_then_tests_run_then_the_benchmark(run, tmp_path):
    done, (install, tests, benchmark) = run("out")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "-m pip install --quiet --no-index --no-deps --target" in install
    assert install.endswith("wheels/one.whl")
    packages = install.split("--target ")[1].split()[0]
    assert tests.startswith(f"{packages}: -m pytest ")
    assert tests.endswith(" tests/gpu -m gpu -q")
    output = tmp_path / "out" / "gpu.json"
    assert benchmark == f"{packages}: -m benchmarks gpu --output {output}"
    assert not Path(packages).exists(), "nothing is left behind"
    log = (tmp_path / "out" / "gpu.log").read_text()
    assert log == done.stdout
    for module in ("pip", "pytest", "benchmarks"):
        assert f"this is -m {module}\n" in log


@pytest.mark.parametrize("failing", ["tests/gpu", "benchmarks gpu"])
def test_what_was_done_stays_when_a_step_fails(run, tmp_path, failing):
    done, calls = run("out", failing=failing)
    assert done.returncode == 1
    assert len(calls) == 3, "the other step runs all the same"
    assert (tmp_path / "out" / "gpu.json").read_text() == '{"copy": 1}\n'
    assert "exit status 3" in (tmp_path / "out" / "gpu.log").read_text()


def test_nothing_runs_where_nothing_could_be_installed(run, tmp_path):
    done, calls = run("out", failing="pip")
    assert done.returncode == 1
    assert len(calls) == 1
    assert "make it with 'make gpu-wheels'" in done.stdout
    assert (tmp_path / "out" / "gpu.log").read_text() == done.stdout


def test_a_folder_for_the_results_is_asked_for(run):
    done, calls = run()
    assert (done.returncode, calls) == (2, [])
    assert done.stderr == "Usage: bash benchmarks/gpu.sh OUT\n"


def test_wheels_are_made_smaller_and_stay_what_they_are(tmp_path):
    wheel = tmp_path / "a-1.0-py3-none-any.whl"
    far = os.urandom(50_000)  # to repeat it is too far back for deflate
    contents = {"a/library.so": far * 2, "a/run.sh": b"echo\n"}
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
        archive.getinfo("a/run.sh").external_attr = 0o755 << 16
    size = wheel.stat().st_size
    shrink(wheel)
    assert wheel.stat().st_size < size
    assert [path.name for path in tmp_path.iterdir()] == [wheel.name]
    with zipfile.ZipFile(wheel) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == contents
        assert archive.getinfo("a/run.sh").external_attr == 0o755 << 16
