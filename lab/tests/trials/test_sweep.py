"""Sweeps: what is planned, and how trials are run, by a program that pretends to."""

import json
import os
import shutil
import signal
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lab.trials.configs import CONFIGS
from lab.trials.sweep import THREAD_VARIABLES, Ended, get_log, plan_sweep, run_sweep
from lab.trials.trial import Trial


@pytest.fixture
def root(tmp_path) -> Path:
    """A project with two corpora, which nothing here reads."""
    shutil.copytree(CONFIGS, tmp_path / "configs")
    for dataset in ("demo", "wnut17"):
        (tmp_path / "corpus" / dataset).mkdir(parents=True)
        for split in ("train", "dev"):
            path = tmp_path / "corpus" / dataset / f"{split}.spacy"
            path.write_text(f"{dataset} {split}")
    return tmp_path


def make(root: Path, **settings: Any) -> Trial:
    return Trial(
        **{"dataset": "demo", "embedder": "multi_embed", "root": root} | settings
    )


@pytest.fixture
def trials(root) -> list[Trial]:
    return [make(root, seed=seed) for seed in range(4)]


# What is done and what is not


# What can't be run is told before anything is


def is_unknown(argument: str) -> str:
    """Say what spaCy calls an argument that a function has not, and older spaCy."""
    return f"(unexpected argument: '{argument}'|{argument}: extra fields not permitted)"


EMBED = "components.tok2vec.model.embed"


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        (f"{EMBED}.atrs", ["NORM"], is_unknown("atrs")),
        ("training.max_step", 20, r"no setting 'training\.max_step'"),
        ("training.max_steps", "sixty", "training.max_steps, .*valid integer"),
        ("nlp.lang", "xyz", r"\[E048\] Can't import language xyz"),
        (f"{EMBED}.include_static_vectors", True, r"but no paths\.vectors\."),
        ("training.optimizer.rate", 1, is_unknown("rate")),
        ("initialize.before_init.min_freqs", 1, is_unknown("min_freqs")),
        ("paths.vectors", "no/such/folder", "'no/such/folder' has no vectors"),
        ("paths.vector", "en_core_web_lg", r"no setting 'paths\.vector'"),
        ("corpora.train.max_length", "long", "max_length"),
    ],
)
def test_settings_that_configs_do_not_have(root, setting, value, message):
    trial = make(root, overrides={setting: value})
    with pytest.raises(ValueError, match=r"(?s)^demo/multi_embed.*" + message):
        plan_sweep([trial])


# How trials are run


PROGRAM = """#!{python}
import json, os, subprocess, sys, time
assert sys.argv[1:3] == ["-m", "lab.trials"]
settings, force = json.loads(sys.argv[3])
child = subprocess.Popen(["sleep", "300"])
facts = {{"pids": [os.getpid(), child.pid], "start": time.time(), "force": force}}
facts |= {{"environment": dict(os.environ), "folder": os.getcwd(), **settings}}
path = f"{{settings['root']}}/{{settings['seed']}}.json"
with open(path + ".part", "w") as file:
    json.dump(facts, file)
os.rename(path + ".part", path)
print("né")
if settings["variant"] == "long":
    child.wait()
child.kill()
if settings["variant"] == "fail":
    sys.exit("Traceback\\nValueError: no such setting")
if settings["variant"] == "die":
    os.kill(os.getpid(), 9)
time.sleep(0.3)
print(time.time())
"""


@pytest.fixture
def program(tmp_path, monkeypatch) -> None:
    """Have a program called in the place of Python, which notes what it is told."""
    path = tmp_path / "python"
    path.write_text(PROGRAM.format(python=sys.executable), encoding="utf8")
    path.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(path))
    for name in THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)


def read_note(trial: Trial) -> dict[str, Any]:
    return json.loads((trial.root / f"{trial.seed}.json").read_text())


def run(trials: list[Trial], jobs: int = 2, force: bool = False) -> list[Ended]:
    return list(run_sweep(trials, force=force, jobs=jobs))


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


@pytest.mark.usefixtures("program")
def test_those_that_fail_or_die_leave_the_others_alone(root):
    variants = ("default", "fail", "die", "default")
    trials = [make(root, seed=s, variant=name) for s, name in enumerate(variants)]
    ended = run(trials)
    assert {each.trial.seed: each.error for each in ended} == {
        0: None,
        1: "ValueError: no such setting",
        2: "it was killed by signal 9",
        3: None,
    }
    assert all(each.seconds > 0 for each in ended)
    run(trials[1:2])
    assert get_log(trials[1]).read_text(encoding="utf8").count("né\nTraceback\n") == 2
    assert run([]) == []


@pytest.mark.usefixtures("program")
def test_an_interrupt_kills_all_that_was_started(root):
    trials = [make(root, seed=seed, variant="long") for seed in range(3)]
    ended = run_sweep(trials, jobs=2)
    notes = [root / f"{seed}.json" for seed in range(3)]

    def interrupt() -> None:
        wait_until(lambda: all(note.exists() for note in notes[:2]))
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt), closing(ended):
            next(ended)
    finally:
        signal.signal(signal.SIGINT, before)
        thread.join()
    pids = [pid for trial in trials[:2] for pid in read_note(trial)["pids"]]
    assert len(pids) == 4
    wait_until(lambda: not any(map(is_alive, pids)))
    assert not notes[2].exists()


# On Ray
