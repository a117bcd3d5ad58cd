"""Calls in processes. The functions that are called stand in for trials."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from lab.trials import executors
from lab.trials.executors import (
    THREAD_VARIABLES,
    run_local,
    run_on_ray,
)

ROOT = Path(__file__).parents[3]


# What is called, in other processes


def note(path: Path) -> None:
    """Leave a note of who ran, with which threads."""
    threads = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    facts = {"pid": os.getpid(), "session": os.getsid(0), "threads": threads}
    path.write_text(json.dumps(facts))


def misbehave(path: Path) -> None:
    """Do what the name of a file says, after a note."""
    with path.open("a") as file:
        file.write(f"{os.getpid()}\n")
    if "fail" in path.name:
        raise ValueError("no such setting")
    if "die" in path.name:
        os.kill(os.getpid(), signal.SIGKILL)
    if "exit" in path.name:
        sys.exit(3)
    if "once" in path.name and len(path.read_text().split()) == 1:
        os.kill(os.getpid(), signal.SIGKILL)


def overlap(path: Path) -> None:
    """Note when it ran."""
    start = time.time()
    time.sleep(0.5)
    path.write_text(json.dumps([start, time.time()]))


def work_for_long(path: Path) -> None:
    """Start a process, as a trial does, and wait for it."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    temporary = path.with_suffix(".part")
    temporary.write_text(f"{os.getpid()} {process.pid}")
    temporary.rename(path)
    if "die" in path.name:
        os.kill(os.getpid(), signal.SIGKILL)
    process.wait()


def fail_or_work_for_long(path: Path) -> None:
    (misbehave if "fail" in path.name else work_for_long)(path)


def start(run, function, paths: list[Path], **settings):
    defaults = {"jobs": 1, "on_start": lambda path: None, "on_wait": lambda: None}
    return run(function, paths, **{**defaults, **settings})


def collect(
    run, function, paths: list[Path], **settings
) -> tuple[dict[str, str | None], list[str]]:
    """Run an executor to its end; give the errors, and names in the order of start."""
    started: list[str] = []

    def on_start(path: Path) -> None:
        started.append(path.name)

    calls = start(run, function, paths, on_start=on_start, **settings)
    return {path.name: error for path, error in calls}, started


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until(is_so, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it did not come to be"
        time.sleep(0.05)


def check_ended(path: Path) -> None:
    """See that neither the worker nor what it started is alive."""
    pids = [int(pid) for pid in path.read_text().split()]
    assert len(pids) == 2
    wait_until(lambda: not any(map(is_alive, pids)))


@contextmanager
def interrupt_at(path: Path) -> Iterator[None]:
    """Press Ctrl-C, so to say, as soon as a file is there."""
    code = f"""
        import os, pathlib, signal, time
        while not pathlib.Path({str(path)!r}).exists():
            time.sleep(0.05)
        os.kill({os.getpid()}, signal.SIGINT)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)]):
        yield


@pytest.fixture(params=["local", "ray"])
def run(request):
    if request.param == "ray":
        request.getfixturevalue("ray_cluster")
        return run_on_ray
    return run_local


@pytest.fixture(scope="module")
def ray_cluster() -> Iterator[None]:
    """A cluster on this machine, whose processes end with these tests."""
    ray = pytest.importorskip("ray", reason="the extra ray is not installed")
    with pytest.MonkeyPatch.context() as context:
        # Nothing is told about this cluster, nor asked of another one.
        context.setenv("RAY_USAGE_STATS_ENABLED", "0")
        context.delenv("RAY_ADDRESS", raising=False)
        ray.init(
            address="local",
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
        )
    yield
    ray.shutdown()


# Both executors


def test_those_that_fail_or_die_leave_the_others_alone(run, tmp_path):
    paths = [tmp_path / name for name in ("a", "fail", "die", "once", "b")]
    errors, started = collect(run, misbehave, paths, jobs=2)
    assert started == [path.name for path in paths]
    assert errors.keys() == set(started)
    assert errors["a"] is None
    assert errors["b"] is None
    assert errors["fail"] == "ValueError: no such setting"
    attempts = {name: len((tmp_path / name).read_text().split()) for name in errors}
    if run is run_local:
        assert errors["die"] == errors["once"] == "Its process died with exit code -9."
        assert set(attempts.values()) == {1}
    else:
        assert "WorkerCrashedError" in str(errors["die"])
        assert errors["once"] is None
        assert attempts == {"a": 1, "fail": 1, "die": 2, "once": 2, "b": 1}


def test_each_call_has_a_process_of_its_own_with_one_thread(run, tmp_path, monkeypatch):
    for name in THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    paths = [tmp_path / name for name in "ab"]
    assert collect(run, note, paths, jobs=2)[0] == {"a": None, "b": None}
    notes = [json.loads(path.read_text()) for path in paths]
    assert len({note["pid"] for note in notes} | {os.getpid()}) == 3
    for note_ in notes:
        assert note_["threads"] == dict.fromkeys(THREAD_VARIABLES, "1")
    assert not set(THREAD_VARIABLES) & set(os.environ)


def test_no_more_run_at_once_than_there_are_jobs(run, tmp_path):
    paths = [tmp_path / name for name in "ab"]
    errors, started = collect(run, overlap, paths, jobs=1)
    assert errors == {"a": None, "b": None}
    assert started == ["a", "b"]
    times = [json.loads(path.read_text()) for path in paths]
    for (_, end), (start, _) in pairwise(times):
        assert end <= start


def test_nothing_to_do(run):
    assert collect(run, note, [], jobs=2) == ({}, [])


@pytest.fixture
def heard_interrupts() -> Iterator[None]:
    """Have Ctrl-C heard: a shell starts what runs in the background without."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard_interrupts")
def test_an_interrupt_ends_all_that_was_started(run, tmp_path):
    paths = [tmp_path / name for name in ("first", "second")]
    calls = start(run, work_for_long, paths)
    with pytest.raises(KeyboardInterrupt), closing(calls), interrupt_at(paths[0]):
        next(calls)
    check_ended(paths[0])
    assert not paths[1].exists()


def test_what_is_not_collected_is_ended(run, tmp_path):
    paths = [tmp_path / name for name in ("fail", "long")]
    calls = start(run, fail_or_work_for_long, paths, jobs=2)
    with closing(calls):
        assert next(calls) == (paths[0], "ValueError: no such setting")
        wait_until(paths[1].exists)
    check_ended(paths[1])


# On this machine


def test_what_a_call_started_does_not_outlive_it(tmp_path):
    path = tmp_path / "die"
    (_, error), *_ = start(run_local, work_for_long, [path])
    assert error == "Its process died with exit code -9."
    check_ended(path)


def test_the_exit_code_of_a_call_that_exits_is_its_own(tmp_path):
    ((_, error),) = start(run_local, misbehave, [tmp_path / "exit"])
    assert error == "Its process died with exit code 3."


def test_nothing_outlives_us(tmp_path):
    """Killed, we can't clean up: those that we started see it and end themselves."""
    path = tmp_path / "long"
    code = f"""
        from pathlib import Path
        from lab.tests.trials.test_executors import run_local, start, work_for_long
        if __name__ == "__main__":
            list(start(run_local, work_for_long, [Path({str(path)!r})]))
    """
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(code))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, script], env=environment) as process:
        try:
            wait_until(path.exists)
        finally:
            process.kill()
    check_ended(path)


def test_one_at_a_time_may_have_all_threads(tmp_path, monkeypatch):
    for name in THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    collect(run_local, note, [tmp_path / "a"], jobs=1)
    threads = json.loads((tmp_path / "a").read_text())["threads"]
    assert threads == dict.fromkeys(THREAD_VARIABLES)


def test_the_number_of_threads_can_be_said(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    collect(run_local, note, [tmp_path / "a"], jobs=2)
    threads = json.loads((tmp_path / "a").read_text())["threads"]
    assert threads["OMP_NUM_THREADS"] == "3"
    assert threads["MKL_NUM_THREADS"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "3"


@pytest.mark.parametrize("jobs", [0, -1])
def test_there_must_be_a_job(tmp_path, jobs):
    with pytest.raises(ValueError, match=f"'jobs' should be 1 or more, but is {jobs}"):
        collect(run_local, note, [tmp_path / "a"], jobs=jobs)


def test_on_windows_nothing_is_started(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(OSError, match=r"should run on Linux.*Run them in WSL"):
        collect(run_local, note, [tmp_path / "a"])
    assert not (tmp_path / "a").exists()


def test_one_is_told_that_it_takes_time(tmp_path, monkeypatch):
    monkeypatch.setattr(executors, "_TICK_SECONDS", 0.05)
    ticks = []
    calls = start(run_local, overlap, [tmp_path / "a"], on_wait=lambda: ticks.append(1))
    assert list(calls) == [(tmp_path / "a", None)]
    assert len(ticks) > 3


# On Ray


@pytest.mark.usefixtures("ray_cluster")
def test_ray_works_in_our_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    errors, _ = collect(run_on_ray, note, [Path("a")], jobs=None)
    assert errors == {"a": None}
    assert (tmp_path / "a").exists()


@pytest.mark.usefixtures("ray_cluster")
def test_ray_is_not_waited_for_in_vain(tmp_path):
    message = r"needs 1 CPU and 1 GPUs, but the Ray cluster has 2 and 0\."
    with pytest.raises(ValueError, match=message):
        collect(run_on_ray, note, [tmp_path / "a"], jobs=1, num_gpus=1)
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    ("resources", "num_gpus", "room"),
    [
        ({"CPU": 8.0}, 0, 8),
        ({"CPU": 8.0, "GPU": 2.0}, 0, 8),
        ({"CPU": 8.0, "GPU": 2.0}, 1, 2),
        ({"CPU": 1.0, "GPU": 4.0}, 1, 1),
    ],
)
def test_calls_need_cpus_and_perhaps_gpus(resources, num_gpus, room):
    assert executors._count_room(resources, num_gpus) == room


def test_without_ray(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install 'spacy-hashembeds\[ray\]'"):
        collect(run_on_ray, note, [tmp_path / "a"], jobs=1)
