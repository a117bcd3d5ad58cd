"""Sweeps: what is planned, and how trials are run, by a program that pretends to."""

import json
import multiprocessing
import os
import re
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy

from lab.trials import sweep as sweep_module
from lab.trials.configs import CONFIGS
from lab.trials.sweep import (
    THREAD_VARIABLES,
    Ended,
    get_log,
    plan_sweep,
    run_here,
    run_on_ray,
    run_sweep,
)
from lab.trials.trial import Trial, hash_files, identify
from spacy_hashembeds.files import write_json


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


def finish(trial: Trial) -> None:
    """Record results, as a trial that was run does."""
    write_json(trial.metrics, {**identify(trial), "scores": {"dev": {"ents_f": 0.5}}})


def get_seeds(plan) -> tuple[list[int], list[int]]:
    done = [trial.seed for trial in plan.done]
    return done, [trial.seed for trial, _ in plan.pending]


# What is done and what is not


def test_corpora_and_pipelines_are_read_once_for_all_seeds(root, monkeypatch):
    """A grid may have thousands."""
    done: list[Any] = []
    for name, function in (("hash_files", hash_files), ("check_config", id)):

        def note(*args, function=function):
            done.append(args)
            return function(*args)

        monkeypatch.setattr(sweep_module, name, note)
    changed = [make(root, seed=s, overrides={"training.dropout": 0.2}) for s in (0, 1)]
    plan = plan_sweep([*(make(root, seed=seed) for seed in range(30)), *changed])
    assert len(plan.pending) == 32
    assert len(done) == 2 + 2  # two splits, two configs


def test_results_of_other_settings_are_all_named_and_stay(root):
    trials = [make(root, seed=seed) for seed in range(8)]
    for trial in trials[:7]:
        finish(trial)
    (root / "corpus/demo/train.spacy").write_text("changed")
    trials[0].metrics.write_text("{")
    with pytest.raises(ValueError, match=r"with --force\.\nAnd 2 more\.$") as error:
        plan_sweep(trials)
    message = str(error.value)
    assert f"'{trials[0].metrics}' has results of other settings: they can't" in message
    for trial in trials[1:5]:
        assert f"'{trial.metrics}' has results of other settings: corpus_h" in message
    plan = plan_sweep(trials, force=True)
    assert get_seeds(plan) == ([], [*range(8)])
    differences = ["corpus_hashes.train was another"]
    assert [d for _, d in plan.pending[1:]] == [differences] * 6 + [[]]


# What can't be run is told before anything is


def test_all_missing_corpora_are_named_at_once(root):
    datasets = ("demo", "anem", "ontonotes", "wnut17", "own")
    trials = [make(root, dataset=name, seed=s) for name in datasets for s in (0, 1)]
    with pytest.raises(ValueError, match=r"^anem/.* can't be run\. There is") as error:
        plan_sweep(trials)
    commands = re.findall("Make it with `(.*?)`", str(error.value))
    assert commands == [
        f"python -m lab prepare anem -o {root}/corpus/anem",
        f"python -m lab prepare ontonotes -o {root}/corpus/ontonotes",
        "spacy hashembeds prepare",
    ]
    assert f"It was looked for in '{root}': run the" in str(error.value)


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


def test_a_config_without_paths_is_refused(root):
    path = make(root).config
    text = re.sub(r"(?s)\[paths\].*?(?=\[system\])", "", path.read_text())
    path.write_text(re.sub(r"\$\{paths\.\w+\}", "null", text))
    with pytest.raises(ValueError, match=r"multi_embed.*paths"):
        plan_sweep([make(root)])


def test_vectors_and_paths_may_be_used_where_they_are_given(root):
    nlp = spacy.blank("en")
    nlp.vocab.set_vector("word", np.ones(3, dtype="float32"))
    nlp.to_disk(root / "vectors")
    overrides = {"paths.vectors": str(root / "vectors"), "paths.own": "x"}
    overrides |= {f"{EMBED}.include_static_vectors": True, "paths.init_tok2vec": None}
    trial = make(root, overrides=overrides)
    text = trial.config.read_text().replace("[paths]", "[paths]\nown = null")
    trial.config.write_text(text)
    assert plan_sweep([trial]).pending


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
    return list(run_sweep(trials, partial(run_here, force=force, jobs=jobs)))


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
def test_a_process_gets_the_trial_as_it_is(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    overrides = {"training.x": [1, None, "é"], "nlp.lang": "de"}
    trial = make(root, seed=3, overrides=overrides, gpu_id=1)
    run([trial], force=True)
    note = read_note(trial)
    assert (note["force"], note["folder"]) == (True, str(tmp_path))
    settings = {key: note[key] for key in ("dataset", "embedder", "seed", "gpu_id")}
    settings |= {"overrides": note["overrides"], "variant": note["variant"]}
    assert Trial(**settings, root=Path(note["root"])) == trial
    path = note["environment"]["PYTHONPATH"].split(os.pathsep)
    assert path[0] == str(CONFIGS.parent)


@pytest.mark.parametrize(
    ("jobs", "set_", "expected"), [(1, None, None), (2, None, "1"), (2, "3", "3")]
)
@pytest.mark.usefixtures("program")
def test_several_at_once_have_one_thread_each(
    trials, monkeypatch, jobs, set_, expected
):
    if set_:
        monkeypatch.setenv("OMP_NUM_THREADS", set_)
    run(trials[:1], jobs=jobs)
    environment = read_note(trials[0])["environment"]
    assert environment.get("OMP_NUM_THREADS") == expected
    assert environment.get("MKL_NUM_THREADS") == (None if jobs == 1 else "1")
    assert "MKL_NUM_THREADS" not in os.environ


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.usefixtures("program")
def test_as_many_run_at_once_as_there_are_jobs(trials, jobs):
    run(trials[:2], jobs=jobs)
    starts = [read_note(trial)["start"] for trial in trials[:2]]
    ends = [float(get_log(t).read_text("utf8").split()[-1]) for t in trials[:2]]
    assert (max(starts) < min(ends)) == (jobs == 2)


@pytest.mark.usefixtures("program")
def test_an_interrupt_kills_all_that_was_started(root):
    trials = [make(root, seed=seed, variant="long") for seed in range(3)]
    ended = run_sweep(trials, partial(run_here, force=False, jobs=2))
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


def start_ray() -> None:
    """Nothing is told about this cluster, nor asked of another one."""
    import ray

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.pop("RAY_ADDRESS", None)
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
    )


@pytest.fixture(scope="module")
def on_ray() -> Iterator[Callable[..., Any]]:
    """Calls a function in a process of its own, with a cluster: Ray now and then
    crashes as it ends, and would take the process of all tests with it."""
    pytest.importorskip("ray", reason="the extra ray is not installed")
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, spawn, initializer=start_ray) as pool:
        yield lambda function, *args: pool.submit(function, *args).result()


def sweep_trials_that_die(root: Path) -> dict[str, str | None]:
    def run_alone(trial, *, folder, force):  # in a worker of Ray's
        import os

        with (folder / f"{trial.variant}.txt").open("a") as file:
            file.write(f"{force}\n")
        if trial.variant == "die":
            os.kill(os.getpid(), 9)
        return "no" if trial.variant == "fail" else None

    os.chdir(root)
    sweep_module._run_alone = run_alone
    trials = [make(root, variant=name) for name in ("default", "fail", "die")]
    executor = partial(run_on_ray, force=True, jobs=None, num_gpus=0)
    return {each.trial.variant: each.error for each in run_sweep(trials, executor)}


def test_trials_run_on_ray(root, on_ray):
    errors = on_ray(sweep_trials_that_die, root)
    assert "WorkerCrashedError" in str(errors["die"])
    assert (errors["default"], errors["fail"]) == (None, "no")
    notes = {name: (root / f"{name}.txt").read_text() for name in errors}
    # one that dies is tried once more
    assert notes == {name: "True\n" * (1 + (name == "die")) for name in errors}


def sweep_on_a_gpu(trials: list[Trial]) -> None:
    list(run_sweep(trials, partial(run_on_ray, force=False, jobs=1, num_gpus=1)))


def test_ray_is_not_waited_for_in_vain(trials, on_ray):
    with pytest.raises(ValueError, match="needs a GPU, but the Ray cluster has none"):
        on_ray(sweep_on_a_gpu, trials)
