import json
import re
from functools import partial
from pathlib import Path

import pytest

from lab.tests.trial import make_trial
from lab.trials import run_trial as run_module
from tests.training_runs import SMALL

from ..calling import call, succeed

SETTINGS = [part for key, value in SMALL.items() for part in (f"--{key}", str(value))]
TRIAL = ["demo", "multi_fewer_hash_embed", *SETTINGS]


run = partial(succeed, "trial")


@pytest.fixture
def in_project(project, monkeypatch) -> Path:
    """A project in which one trial was run, as the working directory."""
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def commands(in_project, monkeypatch) -> list[list[str]]:
    """The trainings that were started, all of which fail."""
    commands = []

    def fail(command, log, **settings):
        commands.append(command)
        return "no space left"

    monkeypatch.setattr(run_module, "run_command", fail)
    return commands


def test_scores_speed_and_size_are_printed(in_project, commands):
    path = make_trial(in_project).metrics
    metrics = json.loads(path.read_text())
    metrics["scores"]["dev"] |= {"ents_f": None, "ents_support": 0}
    path.write_text(json.dumps(metrics))
    result = run(*TRIAL)
    rows = [re.split(" {2,}", line.strip()) for line in result.output.splitlines()]
    assert ["Split", "Scored", "Number", "P", "R", "F"] in rows
    for kind, prefix in (("all", "ents"), ("unseen", "ents_unseen")):
        scores = metrics["scores"]["test"]
        percents = [f"{100 * scores[f'{prefix}_{key}']:.1f}" for key in "prf"]
        support = str(scores[f"{prefix}_support"])
        assert ["test", f"{kind} entities", support, *percents] in rows
    assert any(
        row[:3] == ["dev", "all entities", "0"] and row[-1] == "-" for row in rows
    )
    shown = " ".join(result.output.split())
    assert f"{metrics['timings']['words_per_second']:,.0f} words/s" in shown
    assert f"{metrics['sizes']['bytes_on_disk'] / 1e6:.2f} MB on disk" in shown
    lines = re.sub(r"\x1b\[[\d;]*m", "", result.output).splitlines()
    assert max(map(len, lines)) <= 80
    assert commands == []


def test_options_reach_the_training(commands):
    options = ["--seed", "5", "--variant", "bare", "--training.dropout", "0.0"]
    call("trial", "demo", "multi_embed", *options, "--nlp.lang=de")
    (command,) = commands
    config, _, output, *settings = command[command.index("train") + 1 :]
    assert config == "configs/multi_embed.cfg"
    assert output == "training/demo/multi_embed/bare/seed5"
    pairs = dict(zip(settings[::2], settings[1::2], strict=True))
    assert pairs == {
        "--gpu-id": "-1",
        "--paths.train": '"corpus/demo/train.spacy"',
        "--paths.dev": '"corpus/demo/dev.spacy"',
        "--training.seed": "5",
        "--training.dropout": "0.0",
        "--nlp.lang": '"de"',
    }
