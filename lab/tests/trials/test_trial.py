"""Trials of one small pipeline, which is trained once for all tests."""

import hashlib
import json
import platform
import shutil
from contextlib import contextmanager
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

import pytest
import spacy

from lab.tests.trial import make_trial
from lab.trials import run_trial as run_module
from lab.trials.processes import locked
from lab.trials.run_trial import run_trial
from lab.trials.scores import score_pipeline
from lab.trials.sizes import count_pipeline_parameters, measure_sizes
from spacy_hashembeds.acceleration.timing import Speed
from spacy_hashembeds.tools.evaluate.evaluate import evaluate
from tests.training_runs import SMALL

pytestmark = pytest.mark.slow


class FakeTraining:
    """Stands in for the process of `spacy train`: leaves a trained pipeline."""

    def __init__(self, model: Path):
        self.model = model
        self.commands: list[list[str]] = []
        self.error: type[BaseException] | None = None

    def __call__(self, command, log, *, on_output, pass_fds) -> None:
        self.commands.append(command)
        if self.error is not None:
            raise self.error
        output = Path(self.get_option("--output")) / "model-best"
        shutil.copytree(self.model, output, dirs_exist_ok=True)

    def get_option(self, name: str) -> str:
        command = self.commands[-1]
        assert command.count(name) == 1
        value = command[command.index(name) + 1]
        return value if name == "--output" else json.loads(value)


@pytest.fixture
def training(trained_root, monkeypatch) -> FakeTraining:
    """Training without work, and no work after it: `trained_root` has had both."""

    def time(loaders, docs, rounds):
        return dict.fromkeys(loaders, Speed(123.0, (123.0, 123.0)))

    monkeypatch.setattr(run_module, "score_pipeline", lambda *_, **__: ({"f": 1}, {}))
    monkeypatch.setattr(run_module, "measure_speeds", time)
    fake = FakeTraining(make_trial(trained_root).output / "model-best")
    monkeypatch.setattr(run_module, "run_command", fake)
    return fake


def read(path: Path):
    return json.loads(path.read_text(encoding="utf8"))


# What is recorded


def test_results_say_what_they_depend_on(trained_root):
    trial = make_trial(trained_root)
    assert trial.name == "demo/multi_fewer_hash_embed/default/seed0"
    assert trial.metrics == (
        trained_root / "metrics/demo/multi_fewer_hash_embed/default/seed0.json"
    )
    metrics = read(trial.metrics)
    names = {"dataset": "demo", "embedder": "multi_fewer_hash_embed"}
    settings = {"variant": "default", "seed": 0, "gpu_id": -1, "overrides": SMALL}
    assert {**names, **settings}.items() <= metrics.items()
    assert len(metrics["config_hash"]) == 64
    folder = trained_root / "corpus" / "demo"
    assert metrics["corpus_hashes"] == {
        split: hashlib.sha256((folder / f"{split}.spacy").read_bytes()).hexdigest()
        for split in ("train", "dev", "test")
    }
    packages = ("spacy-hashembeds", "spacy", "thinc", "numpy")
    expected = {package: version(package) for package in packages}
    assert metrics["versions"] == {"python": platform.python_version(), **expected}
    assert datetime.fromisoformat(metrics["finished"]).utcoffset() is not None


def test_results_are_those_of_the_best_pipeline(trained_root):
    metrics = read(make_trial(trained_root).metrics)
    model = Path(metrics["model"])
    assert model == make_trial(trained_root).output / "model-best"
    folder = trained_root / "corpus" / "demo"
    assert list(metrics["scores"]) == ["dev", "test"]
    for split, scores in metrics["scores"].items():
        args = (model, folder / f"{split}.spacy", folder / "train.spacy")
        assert (scores, metrics["joined"][split]) == score_pipeline(*args)
    assert 0 < metrics["scores"]["test"]["ents_f"] < 1  # else this would say little
    nlp = spacy.load(model)
    evaluation = evaluate(nlp, folder / "test.spacy", samples=10, join=10)
    joined, found = evaluation["joined"], metrics["joined"]["test"]
    assert list(found) == ["1", "2", "5", "10", "40"]
    for key in ("ents_p", "ents_r", "ents_f"):
        assert found["10"][key] == joined[key]
    assert found["1"]["ents_f"] == metrics["scores"]["test"]["ents_f"]
    sizes = metrics["sizes"]
    assert sizes == measure_sizes(model, folder / "train.spacy")
    assert sizes["pipeline_parameters"] == count_pipeline_parameters(nlp)
    files = [path for path in model.rglob("*") if path.is_file()]
    assert sizes["bytes_on_disk"] == sum(len(path.read_bytes()) for path in files)
    tables, mix = 32 * (500 + 100 + 200 + 50), 3 * 32 * (4 * 32 + 1) + 2 * 32
    assert metrics["sizes"]["embedding_parameters"] == tables + mix
    assert metrics["sizes"]["mixing_parameters"] == mix
    assert sum(table["parameters"] for table in metrics["sizes"]["tables"]) == tables
    assert metrics["timings"].keys() == {"train_seconds", "words_per_second"}
    assert all(value > 0 for value in metrics["timings"].values())


# Once, unless something changed


def test_a_trial_that_is_done_is_not_run_again(project, training):
    trial = make_trial(project)
    before = trial.metrics.read_bytes()
    trial.config.write_text("# Another remark.\n\n" + trial.config.read_text())
    for force in (False, True):
        assert run_trial(trial, force=force) == (read(trial.metrics), False)
    assert training.commands == []
    assert trial.metrics.read_bytes() == before


def change_override(project, monkeypatch):
    return make_trial(project, overrides={**SMALL, "training.dropout": 0.5})


def change_config(project, monkeypatch):
    trial = make_trial(project)
    text = trial.config.read_text().replace("dropout = 0.1", "dropout = 0.2")
    trial.config.write_text(text)
    return trial


def change_train(project, monkeypatch):
    corpus = make_trial(project).corpus
    shutil.copy(corpus["dev"], corpus["train"])
    return make_trial(project)


def take_a_gpu(project, monkeypatch):
    monkeypatch.setattr(run_module, "gpu_is_available", lambda: True)
    return make_trial(project, gpu_id=0)


def read_files(folder: Path) -> dict[Path, bytes]:
    """The files that a trial makes; its lock stays empty."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path: data for path in paths if (data := path.read_bytes())}


OTHER_SETTINGS = [
    (change_override, r"overrides\.training\.dropout was not set, and is 0\.5"),
    (change_config, r"settings: config_hash was another\. A run"),
    (change_train, r"settings: corpus_hashes\.train was another\. A run"),
    (take_a_gpu, r"settings: gpu_id was -1, and is 0"),
]


@pytest.mark.parametrize(("change", "message"), OTHER_SETTINGS)
def test_only_force_replaces_results_of_other_settings(
    project, training, monkeypatch, change, message
):
    trial = change(project, monkeypatch)
    before = read_files(project)
    with pytest.raises(FileExistsError, match=message):
        run_trial(trial)
    assert training.commands == []
    assert before == read_files(project)
    lines: list[str] = []
    metrics, is_new = run_trial(trial, force=True, on_output=lines.append)
    assert is_new
    assert lines[0].startswith("Replaces earlier results: ")
    assert read(trial.metrics) == metrics
    assert run_trial(trial) == (metrics, False)
    assert len(training.commands) == 1


@pytest.mark.parametrize("is_same", [True, False])
def test_two_processes_do_not_run_one_trial_at_once(
    project, training, monkeypatch, is_same
):
    """The second waits for the first, and takes its results, if they are the same."""
    trial = make_trial(project)
    metrics = trial.metrics.read_bytes()
    trial.metrics.unlink()

    @contextmanager
    def lock_for_long(path, *, on_wait):
        assert path == trial.output / "trial.lock"
        with locked(path, on_wait=on_wait) as lock:
            on_wait()
            trial.metrics.write_bytes(metrics)
            if not is_same:
                change_config(project, None)
            yield lock

    monkeypatch.setattr(run_module, "locked", lock_for_long)
    lines: list[str] = []
    if is_same:
        results = run_trial(trial, on_output=lines.append)
        assert results == (json.loads(metrics), False)
    else:
        with pytest.raises(FileExistsError, match="config_hash was another"):
            run_trial(trial, on_output=lines.append)
    assert lines == ["Another process runs this trial: waiting for its end."]
    assert training.commands == []


# Failures
