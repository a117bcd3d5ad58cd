"""Sweeps: plans, and runs in which a program replaces Python."""

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

from lab.tests.calling import call, check_failure, squeeze, succeed
from lab.tests.trial import make_trial
from lab.trials import sweep as sweep_module
from lab.trials.configs import CONFIGS
from lab.trials.sweep import THREAD_VARIABLES, get_log, plan_sweep, run_sweep
from lab.trials.trial import Trial, identify
from spacy_hashembeds.files import write_json
from tests.training_runs import SMALL


@pytest.fixture
def root(tmp_path) -> Path:
    """A project with two corpora of invalid files."""
    shutil.copytree(CONFIGS, tmp_path / "configs")
    for dataset in ("demo", "wnut17"):
        (tmp_path / "corpus" / dataset).mkdir(parents=True)
        for split in ("train", "dev"):
            path = tmp_path / "corpus" / dataset / f"{split}.spacy"
            path.write_text(f"{dataset} {split}")
    return tmp_path


def make(root: Path, **settings: Any) -> Trial:
    return Trial(dataset="demo", embedder="multi_embed", root=root, **settings)


EMBED = "components.tok2vec.model.embed"


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        (f"{EMBED}.atrs", ["NORM"], "atrs"),
        ("training.max_step", 20, r"no setting 'training\.max_step'"),
        ("training.max_steps", "sixty", "training.max_steps .*valid integer"),
        ("nlp.lang", "xyz", r"\[E048\] Can't import language xyz"),
        (f"{EMBED}.include_static_vectors", True, r"but no paths\.vectors\."),
        ("initialize.before_init.min_freqs", 1, "min_freqs"),
        ("paths.vectors", "no/such/folder", "'no/such/folder' has no vectors"),
        ("corpora.train.max_length", "long", "max_length"),
    ],
)
def test_wrong_settings_are_named(root, setting, value, message):
    trial = make(root, overrides={setting: value})
    with pytest.raises(ValueError, match=r"(?s)^demo/multi_embed.*" + message):
        plan_sweep([trial])


# Runs


PROGRAM = """#!{python}
import json, os, subprocess, sys
assert sys.argv[1:3] == ["-m", "lab.trials"]
settings, force = json.loads(sys.argv[3])
child = subprocess.Popen(["sleep", "300"])
facts = {{"pids": [os.getpid(), child.pid], "force": force, "env": dict(os.environ)}}
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
"""


@pytest.fixture
def program(tmp_path, monkeypatch) -> None:
    """Replace Python by a program that writes its arguments to a file."""
    path = tmp_path / "python"
    path.write_text(PROGRAM.format(python=sys.executable), encoding="utf8")
    path.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(path))
    for name in THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)


def read_note(trial: Trial) -> dict[str, Any]:
    return json.loads((trial.root / f"{trial.seed}.json").read_text())


def is_alive(pid: int) -> bool:
    path = Path(f"/proc/{pid}/stat")
    return path.exists() and path.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def wait_until(is_so) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end, "timeout"
        time.sleep(0.05)


@pytest.mark.usefixtures("program")
def test_failing_trials_do_not_stop_others(root):
    variants = ("default", "fail", "die", "default")
    trials = [make(root, seed=s, variant=name) for s, name in enumerate(variants)]
    ended = [*run_sweep(trials, jobs=2)]
    assert {each.trial.seed: each.error for each in ended} == {
        0: None,
        1: "ValueError: no such setting",
        2: "it was killed by signal 9",
        3: None,
    }
    assert all(each.seconds > 0 for each in ended)
    assert read_note(trials[0])["env"]["OMP_NUM_THREADS"] == "1"
    assert [*run_sweep(trials[1:2], force=True)]
    assert read_note(trials[1])["force"] is True
    assert "OMP_NUM_THREADS" not in read_note(trials[1])["env"]
    assert get_log(trials[1]).read_text(encoding="utf8").count("né\nTraceback\n") == 2


@pytest.mark.usefixtures("program")
def test_an_interrupt_kills_all_processes(root):
    trials = [make(root, seed=seed, variant="long") for seed in range(3)]
    ended = run_sweep(trials, jobs=2)
    notes = [root / f"{seed}.json" for seed in range(3)]

    def interrupt() -> None:
        wait_until(lambda: all(note.exists() for note in notes[:2]))
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt), closing(ended):
        next(ended)
    thread.join()
    pids = [pid for trial in trials[:2] for pid in read_note(trial)["pids"]]
    assert len(pids) == 4
    wait_until(lambda: not any(map(is_alive, pids)))
    assert not notes[2].exists()


# The command

# The first trial is that of `trained_root`.
GRID = f"""
datasets: [demo]
seeds: [0, 1]
overrides: {json.dumps(SMALL)}
trials:
  - {{embedder: multi_fewer_hash_embed}}
  - {{embedder: multi_fewer_hash_embed, variant: wide}}
"""
FOLDER = "demo/multi_fewer_hash_embed"


def test_the_command_runs_unfinished_trials(project, monkeypatch):
    monkeypatch.chdir(project)
    Path("grid.yml").write_text(GRID)
    done = json.loads(make_trial(project).metrics.read_text())
    ran: list[str] = []
    errors: dict[str, str] = {}

    def pretend(trial, **settings):
        error = errors.get(trial.name)
        if error == "interrupt":
            raise KeyboardInterrupt
        ran.append(trial.name.removeprefix(f"{FOLDER}/"))
        if error is None:
            write_json(trial.metrics, {**done, **identify(trial)})
        return error

    monkeypatch.setattr(sweep_module, "run_alone", pretend)
    failing = f"{FOLDER}/wide/seed1"
    planned = succeed("sweep", "grid.yml", "--dry-run").output
    assert planned.count("to run ") == 3
    assert ran == []
    errors[failing] = "interrupt"
    result = call("sweep", "grid.yml")
    assert result.exit_code == 130
    assert "Interrupted: 2 of 3 have ended" in result.output
    assert ran == ["wide/seed0", "default/seed1"]
    errors[failing] = "RuntimeError: `spacy train` failed"
    result = call("sweep", "grid.yml", "--variants", "wide")
    check_failure(result, f"{failing} failed after 0 s [1/1]", "1 of 1 failed")
    end = squeeze(result.output.split(f"Failed: {failing}")[1])
    log = f"training/{failing}/trial.log"
    assert end.startswith(f"RuntimeError: `spacy train` failed. Its log: {log}")
    errors.clear()
    output = squeeze(succeed("sweep", "grid.yml").output)
    assert ran[2:] == ["wide/seed1", "wide/seed1"]
    assert "3 already done, 1 to run" in output
    dev, test = (100 * s["ents_f"] for s in done["scores"].values())
    assert f"{failing} ents_f: dev {dev:.1f}, test {test:.1f}, in 0 s [1/1]" in output
    assert "4 of 4 trials are done" in output
