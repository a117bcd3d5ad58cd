"""Trials of a small pipeline, which is trained once for all tests."""

import fcntl
import hashlib
import json
import platform
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path

import pytest
import spacy

from lab.tests.calling import call, check_failure, read_cells, squeeze, succeed
from lab.tests.trial import make_trial
from lab.trials import run_trial as run_module
from lab.trials.run_trial import run_trial
from lab.trials.scores import score_pipeline
from lab.trials.sizes import measure_sizes
from lab.trials.trial import PACKAGES, Trial
from spacy_hashembeds.acceleration.timing import Spread
from spacy_hashembeds.tools.evaluate.evaluate import evaluate
from tests.training_runs import SMALL

pytestmark = pytest.mark.slow


@pytest.fixture
def commands(trained_root, monkeypatch) -> list[list[str]]:
    """Commands of trainings, which copy the pipeline of `trained_root`."""
    commands = []
    model = make_trial(trained_root).output / "model-best"

    def train(command, log, *, on_output, pass_fds) -> str | None:
        commands.append(command)
        if "bare" in str(command):
            return "no space left"
        output = Path(command[command.index("--output") + 1])
        shutil.copytree(model, output / "model-best", dirs_exist_ok=True)
        return None

    def measure(loaders, docs, rounds):
        return dict.fromkeys(loaders, Spread(123.0, (123.0, 123.0)))

    monkeypatch.setattr(run_module, "score_pipeline", lambda *_, **__: ({"f": 1}, {}))
    monkeypatch.setattr(run_module, "measure_speeds", measure)
    monkeypatch.setattr(run_module, "run_command", train)
    return commands


def read(path: Path):
    return json.loads(path.read_text(encoding="utf8"))


def test_results_have_their_inputs_and_scores_of_the_best_pipeline(trained_root):
    trial, folder = make_trial(trained_root), trained_root / "corpus" / "demo"
    name = "demo/multi_fewer_hash_embed/default/seed0"
    assert trial.metrics == trained_root / f"metrics/{name}.json"
    metrics, train = read(trial.metrics), folder / "train.spacy"
    names = {"dataset": "demo", "embedder": "multi_fewer_hash_embed"}
    settings = {"variant": "default", "seed": 0, "gpu_id": -1, "overrides": SMALL}
    assert {**names, **settings}.items() <= metrics.items()
    assert len(metrics["config_hash"]) == 64
    assert metrics["corpus_hashes"] == {
        split: hashlib.sha256((folder / f"{split}.spacy").read_bytes()).hexdigest()
        for split in ("train", "dev", "test")
    }
    versions = {package: version(package) for package in PACKAGES}
    assert metrics["versions"] == {"python": platform.python_version(), **versions}
    model = Path(metrics["model"])
    assert model == trial.output / "model-best"
    assert list(metrics["scores"]) == ["dev", "test"]
    for split, scores in metrics["scores"].items():
        expected = score_pipeline(model, folder / f"{split}.spacy", train)
        assert (scores, metrics["joined"][split]) == expected
    assert 0 < metrics["scores"]["test"]["ents_f"] < 1
    evaluation = evaluate(spacy.load(model), folder / "test.spacy", samples=10, join=10)
    joined, found = evaluation["joined"], metrics["joined"]["test"]
    assert list(found) == ["1", "2", "5", "10", "40"]
    for key in ("ents_p", "ents_r", "ents_f"):
        assert found["10"][key] == joined[key]
    assert found["1"]["ents_f"] == metrics["scores"]["test"]["ents_f"]
    sizes, tables, mix = metrics["sizes"], 32 * 850, 3 * 32 * (4 * 32 + 1) + 2 * 32
    assert sizes == measure_sizes(model, train)
    files = [path for path in model.rglob("*") if path.is_file()]
    assert sizes["bytes_on_disk"] == sum(len(path.read_bytes()) for path in files)
    assert sizes["embedding_parameters"] == tables + mix
    assert sizes["mixing_parameters"] == mix
    assert sum(table["parameters"] for table in sizes["tables"]) == tables
    assert metrics["timings"].keys() == {"train_seconds", "words_per_second"}
    assert all(value > 0 for value in metrics["timings"].values())


# Repeated runs


CHANGED = {**SMALL, "training.dropout": 0.5}


def change_config(trial: Trial) -> Trial:
    text = trial.config.read_text().replace("dropout = 0.1", "dropout = 0.2")
    trial.config.write_text(text)
    return trial


def change_train(trial: Trial) -> Trial:
    shutil.copy(trial.corpus["dev"], trial.corpus["train"])
    return trial


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (partial(replace, overrides=CHANGED), r"dropout was not set, and is 0\.5"),
        (change_config, r"settings: config_hash .*\. A run"),
        (change_train, r"settings: corpus_hashes\.train .*\. A run"),
        (partial(replace, gpu_id=0), r"settings: gpu_id was -1, and is 0"),
    ],
)
def test_only_force_replaces_results_of_other_settings(
    project, commands, monkeypatch, change: Callable[[Trial], Trial], message
):
    monkeypatch.setattr(run_module, "gpu_is_available", lambda: True)
    trial = make_trial(project)
    trial.config.write_text("# Another remark.\n\n" + trial.config.read_text())
    before = read(trial.metrics)
    assert run_trial(trial, force=True) == (before, False)
    trial = change(trial)
    with pytest.raises(FileExistsError, match=message):
        run_trial(trial)
    assert (commands, read(trial.metrics)) == ([], before)
    lines: list[str] = []
    metrics, is_new = run_trial(trial, force=True, on_output=lines.append)
    assert is_new
    assert lines[0].startswith("Replaces earlier results: ")
    assert read(trial.metrics) == metrics
    assert run_trial(trial) == (metrics, False)
    assert len(commands) == 1


def test_a_trial_waits_for_another_process_that_runs_it(project, commands):
    trial = make_trial(project)
    metrics = trial.metrics.read_bytes()
    trial.metrics.unlink()
    lock = (trial.output / "trial.lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    with lock, ThreadPoolExecutor() as pool:
        waiting = pool.submit(run_trial, trial)
        time.sleep(0.5)
        trial.metrics.write_bytes(metrics)
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert waiting.result(timeout=60) == (json.loads(metrics), False)
    assert commands == []


def test_scores_speed_and_size_are_printed(project, commands, monkeypatch):
    monkeypatch.chdir(project)
    path = make_trial(project).metrics
    metrics = read(path)
    metrics["scores"]["dev"] |= {"ents_f": None, "ents_support": 0}
    path.write_text(json.dumps(metrics))
    settings = [x for key, value in SMALL.items() for x in (f"--{key}", str(value))]
    result = succeed("trial", "demo", "multi_fewer_hash_embed", *settings)
    rows = read_cells(result.output)
    assert any(row[0] == "dev" and row[1].endswith(" - (0)") for row in rows)
    scores, cells = metrics["scores"]["test"], ["test"]
    for prefix in ("ents", "ents_seen", "ents_unseen"):
        percents = " ".join(f"{100 * scores[f'{prefix}_{key}']:.1f}" for key in "prf")
        cells.append(f"{percents} ({scores[f'{prefix}_support']})")
    assert cells in rows
    shown = squeeze(result.output)
    assert f"{metrics['timings']['words_per_second']:,.0f} words/s" in shown
    assert f"{metrics['sizes']['bytes_on_disk'] / 1e6:.2f} MB on disk" in shown
    assert commands == []


def test_options_reach_the_training(project, commands, monkeypatch):
    monkeypatch.chdir(project)
    options = ["--seed", "5", "--variant", "bare", "--training.dropout", "0.0"]
    failed = call("trial", "demo", "multi_embed", *options, "--nlp.lang=de")
    check_failure(failed, "no space left")
    (command,) = commands
    config, _, output, *settings = command[command.index("train") + 1 :]
    assert config == "configs/multi_embed.cfg"
    assert output == "training/demo/multi_embed/bare/seed5"
    assert dict(zip(settings[::2], settings[1::2], strict=True)) == {
        "--gpu-id": "-1",
        "--paths.train": '"corpus/demo/train.spacy"',
        "--paths.dev": '"corpus/demo/dev.spacy"',
        "--training.seed": "5",
        "--training.dropout": "0.0",
        "--nlp.lang": '"de"',
    }
