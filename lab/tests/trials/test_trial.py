"""Trials of one small pipeline, which is trained once for all tests."""

import hashlib
import json
import os
import platform
import shutil
from contextlib import contextmanager
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.cli._util import parse_config_overrides
from spacy.util import load_config
from spacy.vocab import Vocab

from lab.tests.trial import make_trial
from lab.trials import run_trial as run_module
from lab.trials.configs import CONFIGS
from lab.trials.processes import locked
from lab.trials.run_trial import check_gpu, run_trial
from lab.trials.scores import evaluate_pipeline
from lab.trials.sizes import (
    count_embedding_parameters,
    count_mixing_parameters,
    count_pipeline_parameters,
    measure_sizes,
)
from lab.trials.trial import Trial, identify
from spacy_hashembeds.acceleration.timing import Speed
from spacy_hashembeds.corpora.docbin import read_docs
from spacy_hashembeds.evaluation.evaluate import evaluate
from spacy_hashembeds.files import bytes_on_disk
from tests.training import SMALL

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

    monkeypatch.setattr(run_module, "evaluate_pipeline", lambda *_, **__: {"f": 0.5})
    monkeypatch.setattr(run_module, "score_joined", lambda *_, **__: {})
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
        assert scores == evaluate_pipeline(*args)
    assert 0 < metrics["scores"]["test"]["ents_f"] < 1  # else this would say little
    nlp = spacy.load(model)
    evaluation = evaluate(nlp, folder / "test.spacy", samples=10, join=10)
    joined, found = evaluation["joined"], metrics["joined"]["test"]
    assert list(found) == ["1", "2", "5", "10", "40"]
    for key in ("ents_p", "ents_r", "ents_f"):
        assert found["10"][key] == joined[key]
    assert found["1"]["ents_f"] == metrics["scores"]["test"]["ents_f"]
    assert metrics["sizes"] == {
        "embedding_parameters": count_embedding_parameters(nlp),
        "mixing_parameters": count_mixing_parameters(nlp),
        "tables": measure_sizes(nlp, folder / "train.spacy"),
        "pipeline_parameters": count_pipeline_parameters(nlp),
        "bytes_on_disk": bytes_on_disk(model),
    }
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


@pytest.mark.parametrize("change", [{"seed": 7}, {"variant": "other"}])
def test_seeds_and_variants_are_kept_apart(project, training, change):
    before = make_trial(project).metrics.read_bytes()
    trial = make_trial(project, **change)
    metrics, is_new = run_trial(trial)
    assert is_new
    assert training.get_option("--training.seed") == trial.seed
    assert training.get_option("--output") == str(trial.output)
    assert change.items() <= metrics.items()
    assert read(trial.metrics) == metrics
    assert make_trial(project).metrics.read_bytes() == before
    run_trial(trial)
    assert len(training.commands) == 1


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


def test_vectors_trained_anew_under_their_path_are_other_vectors(project):
    folder = project / "vectors"
    nlp = spacy.blank("en")
    nlp.to_disk(folder)
    trial = make_trial(project, overrides={"paths.vectors": str(folder)})
    found = []
    for value in (1, 1, 2):
        nlp.vocab.set_vector("word", np.full(3, value, dtype="float32"))
        nlp.to_disk(folder)
        found.append(identify(trial))
    hashes = [identity.pop("vectors_hash") for identity in found]
    assert hashes[0] == hashes[1] != hashes[2]
    assert found[0] == found[2]
    assert "vectors_hash" not in identify(make_trial(project))


def test_weights_trained_anew_under_their_path_are_other_settings(project):
    """They may be those of each seed."""
    (project / "weights0.bin").write_bytes(b"first")
    name = str(project / "weights${training.seed}.bin")
    settings = {"overrides": {**SMALL, "initialize.init_tok2vec": name}}
    # without this section, spaCy does not look at them
    with pytest.raises(ValueError, match=r"0\.bin', .* section \[pretraining\]"):
        identify(make_trial(project, **settings))
    path = make_trial(project).config
    config = load_config(path, interpolate=False)
    other = load_config(CONFIGS / "pretrain_ner.cfg", interpolate=False)
    config["pretraining"] = other["pretraining"]
    config.to_disk(path)
    for seed, data in ((0, b"first"), (1, b"first"), (1, b"second")):
        (project / f"weights{seed}.bin").write_bytes(data)
        identity = identify(make_trial(project, seed=seed, **settings))
        assert identity["weights_hash"] == hashlib.sha256(data).hexdigest()
    assert "weights_hash" not in identify(make_trial(project))
    message = r"'initialize\.init_tok2vec' is '.*2\.bin', but should be a file"
    with pytest.raises(ValueError, match=message):
        identify(make_trial(project, seed=2, **settings))


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


def test_the_training_holds_the_lock_too(project, monkeypatch):
    """Should we be killed, nobody else trains before it has ended."""

    def train(command, log, *, on_output, pass_fds) -> str:
        (lock,) = pass_fds
        path = Path(command[command.index("--output") + 1], "trial.lock")
        assert os.path.samestat(os.fstat(lock), path.stat())
        return "no"

    monkeypatch.setattr(run_module, "run_command", train)
    message = r"failed: no\. Its output is in '.*train\.log"
    with pytest.raises(RuntimeError, match=message):
        run_trial(make_trial(project, seed=1))


@pytest.mark.parametrize(("has_test", "split"), [(True, "test"), (False, "dev")])
def test_speed_is_measured_on_the_last_split(
    project, training, monkeypatch, has_test, split
):
    timed = []

    def measure(loaders, docs, rounds):
        timed.append([doc.text for doc in docs])
        return dict.fromkeys(loaders, Speed(123.0, (123.0, 123.0)))

    monkeypatch.setattr(run_module, "measure_speeds", measure)
    trial = make_trial(project, seed=1)
    if not has_test:
        trial.corpus["test"].unlink()
    metrics, _ = run_trial(trial)
    assert metrics["timings"]["words_per_second"] == 123.0
    path = project / "corpus" / "demo" / f"{split}.spacy"
    assert timed == [[doc.text for doc in read_docs(path, Vocab())]]
    splits = ["dev", "test"] if has_test else ["dev"]
    assert list(metrics["scores"]) == splits
    assert list(metrics["corpus_hashes"]) == ["train", *splits]


def test_results_never_stand_beside_a_pipeline_of_other_settings(project, training):
    """Or they would count again once the settings are as before."""
    trial = make_trial(project)
    training.error = KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        run_trial(change_override(project, None), force=True)
    assert not trial.metrics.exists()
    training.error = None
    assert run_trial(trial)[1]
    assert len(training.commands) == 2


# Failures


def test_results_stay_if_nothing_is_trained(project, training, monkeypatch):
    before = make_trial(project).metrics.read_bytes()
    overrides = {**SMALL, "training.max_step": 60}
    with pytest.raises(ValueError, match=r"no setting 'training\.max_step'"):
        run_trial(make_trial(project, overrides=overrides), force=True)
    monkeypatch.setattr(run_module, "gpu_is_available", lambda: False)
    with pytest.raises(ValueError, match=r"'gpu_id' is 0, but CuPy .* no GPU.*cuda12x"):
        run_trial(make_trial(project, gpu_id=0), force=True)
    check_gpu(-1)
    assert training.commands == []
    assert make_trial(project).metrics.read_bytes() == before


def test_the_language_of_an_own_corpus_must_be_said(project, training):
    shutil.copytree(project / "corpus/demo", project / "corpus/own")
    message = r"language of corpus 'own' is unknown.* --nlp\.lang de"
    with pytest.raises(ValueError, match=message):
        run_trial(make_trial(project, dataset="own"))
    assert training.commands == []
    overrides = {**SMALL, "nlp.lang": "de"}
    run_trial(make_trial(project, dataset="own", overrides=overrides))
    assert training.get_option("--nlp.lang") == "de"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        *(
            ({name: "../other"}, rf"'{name}' should be up to 100 .* but is '\.\./other")
            for name in ("dataset", "embedder", "variant")
        ),
        *(
            ({"variant": name}, "'variant' should be up to 100 letters")
            for name in ("", ".hidden", "a" * 101)
        ),
        ({"overrides": {"training.seed": 1}}, "sets training.seed: give 'seed'"),
        ({"overrides": {"paths.dev": "x"}}, "sets paths.dev: give another 'dataset'"),
        ({"overrides": {"corpora.train.path": "x"}}, "give another 'dataset'"),
        ({"seed": -1}, r"should be 0 to 4294967295, but is -1\."),
        ({"seed": 2**32}, r"should be 0 to 4294967295, but is 4294967296\."),
        ({"gpu_id": -2}, r"'gpu_id' should be .* but is -2\."),
    ],
)
def test_settings_that_a_trial_can_not_have(settings, message):
    with pytest.raises(ValueError, match=message):
        Trial(**{"dataset": "demo", "embedder": "multi_embed", **settings})


def test_spacy_gets_the_settings_as_they_are(project, training, monkeypatch):
    monkeypatch.setattr(run_module, "check_config", lambda trial: None)
    values = ["10", "true", "--x", "é", 10, True, None, [1, "a"]]
    settings = {f"training.x{n}": value for n, value in enumerate(values)}
    overrides = {**SMALL, **settings}
    run_trial(make_trial(project, variant="odd", overrides=overrides))
    arguments = training.commands[-1][5:]  # after python -m spacy train CONFIG
    start = arguments.index("--gpu-id") + 2
    parsed = parse_config_overrides(arguments[start:])
    found = [parsed[name] for name in settings]
    assert found == values
    assert list(map(type, found)) == list(map(type, values))


def test_a_corpus_that_changes_while_a_trial_runs(project, training, monkeypatch):
    """Nothing is recorded, since nobody knows on what it was trained."""
    trial = make_trial(project, seed=1)

    def change(*args, **kwargs) -> None:
        change_train(project, None)
        training(*args, **kwargs)

    monkeypatch.setattr(run_module, "run_command", change)
    with pytest.raises(RuntimeError, match="corpus demo changed while the trial ran"):
        run_trial(trial)
    assert not trial.metrics.exists()
