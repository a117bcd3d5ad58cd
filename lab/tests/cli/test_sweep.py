import json
import re
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from click import unstyle

from lab.tests.trial import make_trial
from lab.trials import run_trial as run_module
from lab.trials import sweep as sweep_module
from lab.trials.trial import identify
from spacy_hashembeds.files import write_json
from tests.training import SMALL

from ..calling import call, check_failure, squeeze, succeed

# Its first trial is the one that was run in the project.
GRID = f"""
datasets: [demo]
seeds: [0, 1]
overrides: {json.dumps(SMALL)}
trials:
  - {{embedder: multi_fewer_hash_embed}}
  - {{embedder: multi_fewer_hash_embed, variant: wide}}
"""
FOLDER = "demo/multi_fewer_hash_embed"


run = partial(succeed, "sweep")


@pytest.fixture
def in_project(project, monkeypatch) -> Path:
    """A project with a grid, of which one trial was run, as the working directory."""
    monkeypatch.chdir(project)
    Path("grid.yml").write_text(GRID)
    return project


class FakeExecutor:
    """Stands in for both executors: pretends to run trials, one by one."""

    def __init__(self, done: dict):
        self.done = done
        self.settings: dict[str, object] = {}
        self.errors: dict[str, str] = {}
        self.ran: list[str] = []

    @contextmanager
    def __call__(self, **settings):
        self.settings = settings
        yield self.run, 1

    def run(self, trial):
        error = self.errors.get(trial.name)
        if error == "interrupt":
            raise KeyboardInterrupt
        self.ran.append(trial.name)
        if error is None:
            write_json(trial.metrics, {**self.done, **identify(trial)})
        return error


@pytest.fixture
def executor(in_project, monkeypatch) -> FakeExecutor:
    fake = FakeExecutor(json.loads(make_trial(in_project).metrics.read_text()))
    monkeypatch.setattr(sweep_module, "run_here", fake)
    monkeypatch.setattr(sweep_module, "run_on_ray", fake)
    monkeypatch.setattr(sweep_module, "import_ray", lambda: None)
    return fake


def test_a_dry_run_lists_what_is_done_and_what_is_not(executor):
    result = run("grid.yml", "--dry-run")
    lines = [" ".join(line.split()[1:]) for line in unstyle(result.output).splitlines()]
    assert lines == [
        f"done {FOLDER}/default/seed0",
        f"to run {FOLDER}/wide/seed0",
        f"to run {FOLDER}/default/seed1",
        f"to run {FOLDER}/wide/seed1",
        "1 done, 3 to run",
        "is what has results of the same settings in the folder metrics.",
    ]
    assert executor.ran == []


def test_a_dry_run_says_what_it_replaces(executor, in_project):
    path = make_trial(in_project).metrics
    metrics = json.loads(path.read_text())
    metrics["versions"]["spacy"] = "3.8.0"
    path.write_text(json.dumps(metrics))
    result = run("grid.yml", "--dry-run")
    why = "versions.spacy was '3.8.0', and is "
    assert f"to run {FOLDER}/default/seed0 {why}" in squeeze(result.output)


def test_a_sweep_runs_what_is_not_done(executor):
    result = run("grid.yml", "--jobs", "3")
    names = ["wide/seed0", "default/seed1", "wide/seed1"]
    assert executor.ran == [f"{FOLDER}/{name}" for name in names]
    assert executor.settings == {"jobs": 3, "force": False}
    assert "1 done before, 3 to run" in result.output
    dev, test = (100 * s["ents_f"] for s in executor.done["scores"].values())
    for name in names:
        line = f"{FOLDER}/{name} ents_f: dev {dev:.1f}, test {test:.1f}, in 0 s ["
        assert line in unstyle(result.output)
    assert re.findall(r"\[(\d/\d)\]", result.output) == ["1/3", "2/3", "3/3"]
    assert "4 of 4 trials are done" in result.output
    result = run("grid.yml")
    assert len(executor.ran) == 3
    assert "4 done before, 0 to run" in result.output


@pytest.mark.parametrize(
    ("args", "settings"),
    [
        ([], {"jobs": 1}),
        (["--executor", "ray"], {"jobs": None, "num_gpus": 0}),
        (["--executor", "ray", "-j", "5", "--gpu-id", "0"], {"jobs": 5, "num_gpus": 1}),
    ],
)
def test_executors(executor, args, settings):
    # Seed 0 was run on the CPU.
    run("grid.yml", "--seeds", "1", *args)
    assert executor.settings == {"force": False, **settings}
    metrics = json.loads(Path("metrics", FOLDER, "wide/seed1.json").read_text())
    assert metrics["gpu_id"] == (0 if "--gpu-id" in args else -1)


def test_only_force_replaces_results_of_other_settings(executor):
    Path("grid.yml").write_text(GRID.replace('max_steps": 40', 'max_steps": 41'))
    check_failure(call("sweep", "grid.yml"), "training.max_steps was 40, and is 41")
    run("grid.yml", "--force")
    assert executor.settings["force"] is True
    assert len(executor.ran) == 4


def test_a_part_of_the_grid(executor):
    part = ["--datasets", "demo", "--embedders", "multi_fewer_hash_embed"]
    run("grid.yml", *part, "--variants", "wide", "--seeds", "1")
    assert executor.ran == [f"{FOLDER}/wide/seed1"]
    run("grid.yml", "--variants", "wide, default")
    assert len(executor.ran) == 3


def test_a_split_with_nothing_to_score_does_not_end_the_sweep(executor):
    executor.done["scores"]["dev"]["ents_f"] = None  # neither gold nor predicted
    result = run("grid.yml")
    assert "ents_f: dev -, test " in result.output


def test_failures_are_named_at_the_end(executor):
    name = f"{FOLDER}/default/seed1"
    executor.errors = {name: "RuntimeError: `spacy train` failed"}
    result = call("sweep", "grid.yml")
    check_failure(result, f"{name} failed after 0 s [2/3]")
    assert len(executor.ran) == 3
    end = squeeze(result.output.split(f"Failed: {name}")[1])
    log = f"training/{name}/trial.log"
    assert end.startswith(f"RuntimeError: `spacy train` failed. Its log: {log}")
    assert "1 of 3 failed The same command tries them again." in end.replace("✘ ", "")
    executor.errors.clear()
    executor.ran.clear()
    run("grid.yml")
    assert executor.ran == [name]


def test_an_interrupted_sweep_says_how_to_go_on(executor):
    executor.errors = {f"{FOLDER}/default/seed1": "interrupt"}
    result = call("sweep", "grid.yml")
    assert result.exit_code == 130
    assert "Interrupted: 1 of 3 have ended" in result.output
    assert "The same command goes on from here." in result.output
    executor.errors.clear()
    run("grid.yml")
    assert "4 of 4 trials are done" in run("grid.yml").output


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["none.yml"], "There is no grid 'none.yml'."),
        (["grid.yml", "--executor", "slurm"], "'local' or 'ray', but is 'slurm'."),
        (
            ["grid.yml", "--executor", "ray", "--gpu-id", "1"],
            "--gpu-id should be 0 or -1 with --executor ray, but is 1",
        ),
        (["grid.yml", "--gpu-id", "0"], "'gpu_id' is 0, but CuPy is not"),
    ],
)
def test_errors_are_told_without_a_traceback(executor, monkeypatch, args, message):
    monkeypatch.setattr(run_module, "gpu_is_available", lambda: False)
    check_failure(call("sweep", *args), "Can't run the sweep", message)
    assert executor.ran == []


def test_without_ray_only_ray_is_missing(in_project, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    result = call("sweep", "grid.yml", "--executor", "ray", "--dry-run")
    check_failure(result, "pip install 'spacy-hashembeds[ray]'")


# For real


@pytest.mark.slow
def test_a_sweep_of_an_own_corpus(in_project):
    Path("corpus/demo").rename("corpus/mine")
    grid = GRID.replace("[demo]", "[mine]")
    grid = grid.replace("overrides: {", 'overrides: {"nlp.lang": "en", ')
    Path("grid.yml").write_text(grid)
    run("grid.yml", "--seeds", "0", "--variants", "wide")
    # The trial differs from that of the project in names only.
    name = "mine/multi_fewer_hash_embed/wide/seed0"
    metrics = json.loads(Path("metrics", f"{name}.json").read_text())
    done = json.loads(make_trial(in_project).metrics.read_text())
    assert metrics["scores"] == done["scores"]
    assert "ENTS_F" in Path("training", name, "trial.log").read_text(encoding="utf8")
