import json
import re
from functools import partial
from pathlib import Path

import pytest
from click import unstyle

from lab.tests.trial import make_trial
from lab.trials import sweep as sweep_module
from lab.trials.trial import identify
from spacy_hashembeds.files import write_json
from tests.training_runs import SMALL

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


class FakeRunner:
    """Pretends to run trials."""

    def __init__(self, done: dict):
        self.done = done
        self.errors: dict[str, str] = {}
        self.ran: list[str] = []

    def __call__(self, trial, **settings):
        error = self.errors.get(trial.name)
        if error == "interrupt":
            raise KeyboardInterrupt
        self.ran.append(trial.name)
        if error is None:
            write_json(trial.metrics, {**self.done, **identify(trial)})
        return error


@pytest.fixture
def runner(in_project, monkeypatch) -> FakeRunner:
    fake = FakeRunner(json.loads(make_trial(in_project).metrics.read_text()))
    monkeypatch.setattr(sweep_module, "run_alone", fake)
    return fake


def test_a_sweep_runs_what_is_not_done(runner):
    result = run("grid.yml")
    names = ["wide/seed0", "default/seed1", "wide/seed1"]
    assert runner.ran == [f"{FOLDER}/{name}" for name in names]
    assert "1 done before, 3 to run" in result.output
    dev, test = (100 * s["ents_f"] for s in runner.done["scores"].values())
    for name in names:
        line = f"{FOLDER}/{name} ents_f: dev {dev:.1f}, test {test:.1f}, in 0 s ["
        assert line in unstyle(result.output)
    assert re.findall(r"\[(\d/\d)\]", result.output) == ["1/3", "2/3", "3/3"]
    assert "4 of 4 trials are done" in result.output
    result = run("grid.yml")
    assert len(runner.ran) == 3
    assert "4 done before, 0 to run" in result.output


def test_failures_are_named_at_the_end(runner):
    name = f"{FOLDER}/default/seed1"
    runner.errors = {name: "RuntimeError: `spacy train` failed"}
    result = call("sweep", "grid.yml")
    check_failure(result, f"{name} failed after 0 s [2/3]")
    assert len(runner.ran) == 3
    end = squeeze(result.output.split(f"Failed: {name}")[1])
    log = f"training/{name}/trial.log"
    assert end.startswith(f"RuntimeError: `spacy train` failed. Its log: {log}")
    assert "1 of 3 failed The same command tries them again." in end.replace("✘ ", "")
    runner.errors.clear()
    runner.ran.clear()
    run("grid.yml")
    assert runner.ran == [name]


def test_an_interrupted_sweep_says_how_to_go_on(runner):
    runner.errors = {f"{FOLDER}/default/seed1": "interrupt"}
    result = call("sweep", "grid.yml")
    assert result.exit_code == 130
    assert "Interrupted: 1 of 3 have ended" in result.output
    assert "The same command goes on from here." in result.output
    runner.errors.clear()
    run("grid.yml")
    assert "4 of 4 trials are done" in run("grid.yml").output


# For real
