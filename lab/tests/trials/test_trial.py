"""Trials of one small pipeline, which is trained once for all tests."""

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
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

from lab.trials import run_trial as run_module
from lab.trials import trial as trial_module
from lab.trials.configs import CONFIGS
from lab.trials.processes import locked
from lab.trials.recorded import find_objection, read_done
from lab.trials.run_trial import check_gpu, run_trial
from lab.trials.trial import Trial, identify
from spacy_hashembeds.analysis.measures import measure_sizes
from spacy_hashembeds.analysis.sizes import (
    bytes_on_disk,
    count_embedding_parameters,
    count_mixing_parameters,
    count_pipeline_parameters,
)
from spacy_hashembeds.corpora.docbin import read_docs
from spacy_hashembeds.evaluation.evaluate import evaluate_pipeline
from spacy_hashembeds.files import write_json
from tests.conftest import SMALL_TRIAL, make_trial

pytestmark = pytest.mark.slow


class FakeTraining:
    """Stands in for the process of `spacy train`: leaves a trained pipeline."""

    def __init__(self, model: Path):
        self.model = model
        self.commands: list[list[str]] = []
        self.error: type[BaseException] | None = None

    def __call__(self, command, *, log, on_output, pass_fds) -> int:
        self.commands.append(command)
        if self.error is not None:
            raise self.error
        output = Path(self.get_option("--output")) / "model-best"
        shutil.copytree(self.model, output, dirs_exist_ok=True)
        return 0

    def get_option(self, name: str) -> str:
        command = self.commands[-1]
        assert command.count(name) == 1
        value = command[command.index(name) + 1]
        return value if name == "--output" else json.loads(value)


@pytest.fixture
def training(trained_root, monkeypatch) -> FakeTraining:
    """Training without work, and no work after it: `trained_root` has had both."""

    def time(loaders, docs, rounds):
        return dict.fromkeys(loaders, 123.0)

    monkeypatch.setattr(run_module, "evaluate_pipeline", lambda *_, **__: {"f": 0.5})
    monkeypatch.setattr(run_module, "measure_words_per_second", time)
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
    assert metrics["dataset"] == "demo"
    assert metrics["embedder"] == "multi_fewer_hash_embed"
    assert metrics["variant"] == "default"
    assert (metrics["seed"], metrics["gpu_id"]) == (0, -1)
    assert metrics["overrides"] == SMALL_TRIAL
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


def test_the_pipeline_is_trained_as_asked(trained_root):
    config = spacy.load(make_trial(trained_root).output / "model-best").config
    assert config["training"]["seed"] == 0
    assert config["nlp"]["lang"] == "en"
    assert config["training"]["max_steps"] == 40
    embed = config["components"]["tok2vec"]["model"]["embed"]
    assert embed["rows"] == [500, 100, 200, 50]


def test_the_log_is_the_output_of_the_training(trained_root):
    log = (make_trial(trained_root).output / "train.log").read_text(encoding="utf8")
    assert "Initialized pipeline" in log
    assert "ENTS_F" in log


# Once, unless something changed


def test_a_trial_that_is_done_is_not_run_again(project, training):
    trial = make_trial(project)
    before = trial.metrics.read_bytes()
    assert run_trial(trial) == (read(trial.metrics), False)
    assert training.commands == []
    assert trial.metrics.read_bytes() == before


def test_another_seed_is_another_trial(project, training):
    before = make_trial(project).metrics.read_bytes()
    trial = make_trial(project, seed=7)
    metrics, is_new = run_trial(trial)
    assert is_new
    assert training.get_option("--training.seed") == 7
    assert metrics["seed"] == 7
    assert trial.metrics.name == "seed7.json"
    assert read(trial.metrics) == metrics
    assert make_trial(project).metrics.read_bytes() == before
    run_trial(trial)
    assert len(training.commands) == 1


def test_a_variant_keeps_its_results_apart(project, training):
    before = make_trial(project).metrics.read_bytes()
    overrides = {**SMALL_TRIAL, "training.dropout": 0.0}
    trial = make_trial(project, variant="no_dropout", overrides=overrides)
    assert run_trial(trial)[0]["variant"] == "no_dropout"
    assert trial.metrics.parent.name == "no_dropout"
    assert "no_dropout" in training.get_option("--output")
    assert make_trial(project).metrics.read_bytes() == before


def change_override(project, monkeypatch):
    return make_trial(project, overrides={**SMALL_TRIAL, "training.dropout": 0.5})


def drop_override(project, monkeypatch):
    overrides = {k: v for k, v in SMALL_TRIAL.items() if k != "training.max_steps"}
    return make_trial(project, overrides=overrides)


def change_config(project, monkeypatch):
    trial = make_trial(project)
    text = trial.config.read_text().replace("dropout = 0.1", "dropout = 0.2")
    trial.config.write_text(text)
    return trial


def change_train(project, monkeypatch):
    corpus = make_trial(project).corpus
    shutil.copy(corpus["dev"], corpus["train"])
    return make_trial(project)


def change_test(project, monkeypatch):
    corpus = make_trial(project).corpus
    shutil.copy(corpus["dev"], corpus["test"])
    return make_trial(project)


def remove_test(project, monkeypatch):
    make_trial(project).corpus["test"].unlink()
    return make_trial(project)


def change_version(project, monkeypatch):
    monkeypatch.setattr(trial_module, "version", lambda package: "0.0.1")
    return make_trial(project)


def remove_metrics(project, monkeypatch):
    make_trial(project).metrics.unlink()
    return make_trial(project)


def read_files(folder: Path) -> dict[Path, bytes]:
    """The files that a trial makes; its lock stays empty."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path: data for path in paths if (data := path.read_bytes())}


def take_a_gpu(project, monkeypatch):
    monkeypatch.setattr(run_module, "gpu_is_available", lambda: True)
    return make_trial(project, gpu_id=0)


OTHER_SETTINGS = [
    (change_override, r"training\.dropout was not set, and is 0\.5\. A run"),
    (drop_override, r"training\.max_steps was 40, and is not set\. A run"),
    (change_config, r"of other settings: the config was another\. A run"),
    (change_train, r"of other settings: the corpus was another\. A run"),
    (change_test, "the corpus was another"),
    (remove_test, "the corpus was another"),
    (take_a_gpu, "of other settings: gpu_id was -1, and is 0"),
]


@pytest.mark.parametrize(("change", "message"), OTHER_SETTINGS)
def test_results_of_other_settings_are_not_replaced(
    project, training, monkeypatch, change, message
):
    before = read_files(project / "metrics"), read_files(project / "training")
    trial = change(project, monkeypatch)
    assert read_done(trial, identify(trial)) is None
    with pytest.raises(FileExistsError, match=message) as error:
        run_trial(trial)
    assert f"'{trial.metrics}' has results of other settings: " in str(error.value)
    assert "another variant, or replace what is there with --force" in str(error.value)
    assert training.commands == []
    assert before == (read_files(project / "metrics"), read_files(project / "training"))


@pytest.mark.parametrize("change", [change_override, change_config, remove_test])
def test_force_replaces_results_of_other_settings(
    project, training, monkeypatch, change
):
    trial = change(project, monkeypatch)
    metrics, is_new = run_trial(trial, force=True)
    assert is_new
    assert len(training.commands) == 1
    # The new results stand in place of the old ones.
    assert read(trial.metrics) == metrics
    assert read_done(trial, identify(trial)) == metrics
    run_trial(trial)
    assert len(training.commands) == 1


def test_force_runs_nothing_that_is_done(project, training):
    assert run_trial(make_trial(project), force=True)[1] is False
    assert training.commands == []


@pytest.mark.parametrize("change", [change_version, remove_metrics])
def test_a_trial_of_the_same_settings_runs_again(
    project, training, monkeypatch, change
):
    trial = change(project, monkeypatch)
    assert read_done(trial, identify(trial)) is None
    metrics, is_new = run_trial(trial)
    assert is_new
    assert read_done(trial, identify(trial)) == metrics
    run_trial(trial)
    assert len(training.commands) == 1


def test_other_vectors_are_other_settings(project):
    folder = project / "vectors"
    nlp = spacy.blank("en")
    for value in (1, 2):
        nlp.vocab.set_vector("word", np.full(3, value, dtype="float32"))
        nlp.to_disk(folder)
        trial = make_trial(project, overrides={"paths.vectors": str(folder)})
        if value == 1:
            write_json(trial.metrics, identify(trial))
    objection = find_objection(trial, identify(trial))
    assert objection is not None
    assert objection.endswith("has results of other settings: the vectors were others")


def test_the_end_of_a_long_list_is_a_setting_too(project, training):
    embed = "components.tok2vec.model.embed"
    attrs = ["NORM", "LOWER", "PREFIX", "SUFFIX", "SHAPE", "ORTH", "IS_TITLE"]

    def make(last: int) -> Trial:
        rows = [500, 500, 100, 100, 50, 500, last]
        overrides = {f"{embed}.attrs": attrs, f"{embed}.rows": rows}
        return make_trial(project, overrides={**SMALL_TRIAL, **overrides})

    write_json(make(10).metrics, identify(make(10)))
    with pytest.raises(FileExistsError, match=rf"settings: {embed}.rows was another\."):
        run_trial(make(11))
    assert training.commands == []


def test_results_that_can_not_be_read_are_not_replaced(project, training):
    """They may be of any settings, and so may the pipeline beside them."""
    trial = make_trial(project)
    trial.metrics.write_bytes(b"\xef\xbb\xbf" + trial.metrics.read_bytes())
    before = read_files(project)
    match = r"seed0\.json' has results that can't be read \(.*BOM"
    with pytest.raises(FileExistsError, match=match) as error:
        run_trial(trial)
    assert "replace what is there with --force" in str(error.value)
    assert read_files(project) == before
    assert training.commands == []
    metrics, is_new = run_trial(trial, force=True)
    assert is_new
    assert read(trial.metrics) == metrics


def test_what_was_done_under_other_versions_says_so(project, training, monkeypatch):
    trial = change_version(project, monkeypatch)
    lines: list[str] = []
    run_trial(trial, on_output=lines.append)
    now = version("numpy")
    assert f"numpy was '{now}', and is '0.0.1'" in lines[0]
    assert lines[0].startswith("Done before, under other versions: ")
    assert "python" not in lines[0]


def test_vectors_trained_anew_under_their_path_are_other_vectors(project):
    folder = project / "vectors"
    nlp = spacy.blank("en")
    nlp.vocab.set_vector("word", np.ones(3, dtype="float32"))
    nlp.to_disk(folder)
    trial = make_trial(project, overrides={"paths.vectors": str(folder)})
    before = identify(trial)
    assert identify(trial) == before
    nlp.vocab.set_vector("word", np.zeros(3, dtype="float32"))
    nlp.to_disk(folder)
    after = identify(trial)
    assert after.pop("vectors_hash") != before.pop("vectors_hash")
    assert after == before
    assert "vectors_hash" not in identify(make_trial(project))


def add_pretraining(project: Path) -> None:
    """Give the config of the trial a [pretraining] section."""
    path = project / "configs" / "multi_fewer_hash_embed.cfg"
    config = load_config(path, interpolate=False)
    other = load_config(CONFIGS / "pretrain_ner.cfg", interpolate=False)
    config["pretraining"] = other["pretraining"]
    config.to_disk(path)


def test_weights_trained_anew_under_their_path_are_other_settings(project):
    add_pretraining(project)
    weights = project / "model-last.bin"
    weights.write_bytes(b"first")
    overrides = {**SMALL_TRIAL, "initialize.init_tok2vec": str(weights)}
    trial = make_trial(project, overrides=overrides)
    before = identify(trial)
    assert identify(trial) == before
    write_json(trial.metrics, before)
    weights.write_bytes(b"second")
    after = identify(trial)
    objection = find_objection(trial, after)
    assert objection is not None
    assert objection.endswith("other settings: the pretrained weights were others")
    assert after.pop("weights_hash") != before.pop("weights_hash")
    assert after == before
    assert "weights_hash" not in identify(make_trial(project))


def test_weights_that_are_not_there(project):
    add_pretraining(project)
    overrides = {"initialize.init_tok2vec": str(project / "none.bin")}
    match = r"'initialize\.init_tok2vec' should be .* no file '.*none\.bin'"
    with pytest.raises(ValueError, match=match):
        identify(make_trial(project, overrides=overrides))


def test_weights_that_nothing_would_load(project):
    """SpaCy looks at them only where there is a [pretraining] section."""
    (project / "model-last.bin").touch()
    overrides = {"initialize.init_tok2vec": str(project / "model-last.bin")}
    match = r"model-last\.bin', but the config has no section \[pretraining\]"
    with pytest.raises(ValueError, match=match):
        identify(make_trial(project, overrides=overrides))


def test_vectors_that_are_none(project):
    trial = make_trial(project, overrides={"paths.vectors": str(project)})
    with pytest.raises(ValueError, match=r"'paths.vectors' should be .* is neither"):
        identify(trial)


def test_a_pipeline_without_vectors_has_none_to_use(project):
    folder = project / "vectors"
    spacy.blank("en").to_disk(folder)
    trial = make_trial(project, overrides={"paths.vectors": str(folder)})
    with pytest.raises(ValueError, match=rf"'{folder}', which has no vectors"):
        identify(trial)


def test_a_corpus_is_read_once_to_tell_whether_a_trial_is_done(
    trained_root, monkeypatch
):
    identified = []

    def count(trial):
        identified.append(trial)
        return identify(trial)

    monkeypatch.setattr(run_module, "identify", count)
    trial = make_trial(trained_root)
    assert run_trial(trial)[1] is False
    assert identified == [trial]


def test_two_processes_do_not_run_one_trial_at_once(project, training):
    """The second waits for the first, and takes its results."""
    trial = make_trial(project)
    lock = trial.output / "trial.lock"
    metrics = trial.metrics.read_bytes()
    trial.metrics.unlink()
    lines: list[str] = []

    def finish(line: str) -> None:
        lines.append(line)
        trial.metrics.write_bytes(metrics)
        other.communicate(b"\n")

    code = (
        "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX)"
    )
    code += "; print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert run_trial(trial, on_output=finish) == (json.loads(metrics), False)
    assert lines == ["Another process runs this trial: waiting for its end."]
    assert training.commands == []


def test_the_training_holds_the_lock_too(project, monkeypatch):
    """Should we be killed, nobody else trains before it has ended."""
    trial = make_trial(project, seed=1)

    def check(command, *, log, on_output, pass_fds) -> int:
        (descriptor,) = pass_fds
        lock = os.stat(trial.output / "trial.lock")
        assert os.path.samestat(os.fstat(descriptor), lock)
        return 1

    monkeypatch.setattr(run_module, "run_command", check)
    with pytest.raises(RuntimeError):
        run_trial(trial)


def test_comments_in_a_config_change_nothing(project, training):
    trial = make_trial(project)
    trial.config.write_text("# Another remark.\n\n" + trial.config.read_text())
    run_trial(trial)
    assert training.commands == []


@pytest.mark.parametrize(("has_test", "split"), [(True, "test"), (False, "dev")])
def test_speed_is_measured_on_the_last_split(
    project, training, monkeypatch, has_test, split
):
    timed = []

    def measure(loaders, docs, rounds):
        timed.append([doc.text for doc in docs])
        return dict.fromkeys(loaders, 123.0)

    monkeypatch.setattr(run_module, "measure_words_per_second", measure)
    trial = make_trial(project, seed=1)
    if not has_test:
        trial.corpus["test"].unlink()
    metrics, _ = run_trial(trial)
    assert metrics["timings"]["words_per_second"] == 123.0
    path = project / "corpus" / "demo" / f"{split}.spacy"
    assert timed == [[doc.text for doc in read_docs(path, Vocab())]]


def test_a_corpus_without_a_test_split_is_scored_on_dev(project, training):
    trial = remove_test(project, None)
    metrics, _ = run_trial(trial, force=True)
    assert list(metrics["scores"]) == ["dev"]
    assert list(metrics["corpus_hashes"]) == ["train", "dev"]
    assert metrics["timings"]["words_per_second"] > 0


def test_results_never_stand_beside_a_pipeline_of_other_settings(project, training):
    """Or they would count again once the settings are as before."""
    trial = make_trial(project)
    other = change_override(project, None)
    training.error = KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        run_trial(other, force=True)
    assert not trial.metrics.exists()
    training.error = None
    assert run_trial(trial)[1]
    assert len(training.commands) == 2


def test_results_stay_if_nothing_is_trained(project, training):
    before = make_trial(project).metrics.read_bytes()
    overrides = {**SMALL_TRIAL, "training.max_step": 60}
    with pytest.raises(ValueError, match=r"no setting 'training\.max_step'"):
        run_trial(make_trial(project, overrides=overrides), force=True)
    assert training.commands == []
    assert make_trial(project).metrics.read_bytes() == before


# Failures


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_interrupted_trial_starts_again(project, training, error):
    trial = make_trial(project, seed=1)
    training.error = error
    with pytest.raises(error):
        run_trial(trial)
    assert not trial.metrics.exists()
    training.error = None
    run_trial(trial)
    assert len(training.commands) == 2
    assert trial.metrics.exists()


def test_a_trial_interrupted_after_training_starts_again(
    project, training, monkeypatch
):
    trial = make_trial(project, seed=1)
    with monkeypatch.context() as context:
        # From here on the pipeline is there, but its results are not.
        context.setattr(run_module, "bytes_on_disk", {}.__getitem__)
        with pytest.raises(KeyError):
            run_trial(trial)
    assert not trial.metrics.exists()
    run_trial(trial)
    assert len(training.commands) == 2


def test_a_failed_training_tells_the_cause_and_names_its_log(project):
    trial = make_trial(project, seed=1)
    trial.corpus["train"].write_bytes(b"nothing")
    lines: list[str] = []
    log = trial.output / "train.log"
    with pytest.raises(RuntimeError, match=r"failed: ValueError: \[E1014\] Error") as e:
        run_trial(trial, on_output=lines.append)
    assert e.value.__notes__ == [f"Its output is in '{log}'."]
    assert not trial.metrics.exists()
    # All that it printed is in the log, and was passed on as it came.
    assert log.read_text(encoding="utf8").splitlines() == lines
    assert any("Traceback" in line for line in lines)


@pytest.mark.parametrize(
    ("returncode", "lines", "cause"),
    [
        (1, ["Traceback", "  File", "ValueError: no GPU"], r"ValueError: no GPU\.\n"),
        (1, ["a.b.CUDAError: x", "more of it", "", "UserWarning: y"], "a.b.CUDAError:"),
        (1, ["KeyError: 1", "During handling", "OSError: 2"], "OSError: 2"),
        (1, ["✘ Config", "training -> dropout  not a number", " "], "training -> drop"),
        (1, ["Error " + "a " * 500], r"Error a .{480,500}\[\.\.\.\]\.\n"),
        (-9, ["0   200   1.0"], r"it was killed by signal 9\."),
        (3, [], r"its exit code is 3\."),
    ],
)
def test_the_cause_is_in_the_last_lines(project, monkeypatch, returncode, lines, cause):
    def fail(command, *, on_output, **settings) -> int:
        for line in lines:
            on_output(line)
        return returncode

    monkeypatch.setattr(run_module, "run_command", fail)
    with pytest.raises(RuntimeError, match="^`spacy train` failed: " + cause):
        run_trial(make_trial(project, seed=1))


def test_a_missing_config(trained_root):
    trial = make_trial(trained_root, embedder="multi_emb")
    message = (
        r"no config 'multi_emb': no file '.*configs/multi_emb\.cfg', .*There are: .*"
        r"multi_embed, multi_fewer_hash_embed, multi_hash_embed, "
    )
    with pytest.raises(FileNotFoundError, match=message):
        run_trial(trial)


def test_from_another_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    message = f"looked for in '{tmp_path}': run the command in the folder that corpus/"
    with pytest.raises(FileNotFoundError, match=rf"no 'corpus/demo/train.*{message}"):
        run_trial(Trial(dataset="demo", embedder="multi_embed"))


def test_without_a_gpu(project, training, monkeypatch):
    monkeypatch.setattr(run_module, "gpu_is_available", lambda: False)
    with pytest.raises(ValueError, match=r"'gpu_id' is 0, but CuPy .* no GPU.*cuda12x"):
        run_trial(make_trial(project, gpu_id=0))
    assert training.commands == []
    assert make_trial(project).metrics.exists()
    check_gpu(-1)
    monkeypatch.setattr(run_module, "gpu_is_available", lambda: True)
    check_gpu(0)


@pytest.mark.parametrize("split", ["train", "dev"])
def test_a_missing_split(project, split):
    trial = make_trial(project)
    trial.corpus[split].unlink()
    message = rf"no '.*{split}\.spacy'.*python -m lab prepare demo -o .*corpus/demo`"
    with pytest.raises(FileNotFoundError, match=message):
        run_trial(trial)


def test_the_language_of_an_own_corpus_must_be_said(project, training):
    shutil.copytree(project / "corpus/demo", project / "corpus/own")
    trial = make_trial(project, dataset="own")
    message = r"language of corpus 'own' is unknown.* --nlp\.lang de"
    with pytest.raises(ValueError, match=message):
        run_trial(trial)
    assert training.commands == []
    overrides = {**SMALL_TRIAL, "nlp.lang": "de"}
    run_trial(make_trial(project, dataset="own", overrides=overrides))
    assert training.get_option("--nlp.lang") == "de"


def test_the_language_is_that_of_the_dataset(project, training):
    shutil.copytree(project / "corpus/demo", project / "corpus/conll2002_es")
    run_trial(make_trial(project, dataset="conll2002_es"))
    assert training.get_option("--nlp.lang") == "es"
    train = Path(training.get_option("--paths.train"))
    assert train == project / "corpus/conll2002_es/train.spacy"


@pytest.mark.parametrize("name", ["dataset", "embedder", "variant"])
@pytest.mark.parametrize("value", ["../other", "a/b", "", ".hidden", "a b", "a" * 101])
def test_names_are_those_of_files(name, value):
    names = {"dataset": "demo", "embedder": "multi_embed", name: value}
    with pytest.raises(ValueError, match=rf"'{name}' should be up to 100 .* but is '"):
        Trial(**names)


@pytest.mark.parametrize(
    ("setting", "instead"),
    [
        ("training.seed", "'seed'"),
        ("system.seed", "'seed'"),
        ("paths.train", "'dataset'"),
        ("corpora.train.path", "'dataset'"),
        ("corpora.dev.path", "'dataset'"),
        ("paths.dev", "'data"),
    ],
)
def test_settings_of_the_trial_itself_are_no_overrides(setting, instead):
    """Otherwise its results would say something else than what was run."""
    message = rf"sets {setting}: give .*{instead}"
    with pytest.raises(ValueError, match=message):
        Trial(dataset="demo", embedder="multi_embed", overrides={setting: 1})


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_seeds_are_those_of_numpy(seed):
    with pytest.raises(ValueError, match=f"should be from 0 to 4294967295.* {seed}"):
        Trial(dataset="demo", embedder="multi_embed", seed=seed)


def test_there_is_no_gpu_below_the_cpu():
    with pytest.raises(ValueError, match=r"'gpu_id' should be .* but is -2\."):
        Trial(dataset="demo", embedder="multi_embed", gpu_id=-2)


def test_spacy_gets_the_settings_as_they_are(project, training, monkeypatch):
    monkeypatch.setattr(run_module, "check_config", lambda trial: None)
    values = ["10", "true", "--x", "é", 10, True, None, [1, "a"]]
    settings = {f"training.x{n}": value for n, value in enumerate(values)}
    overrides = {**SMALL_TRIAL, **settings}
    run_trial(make_trial(project, variant="odd", overrides=overrides))
    arguments = training.commands[-1][5:]  # after python -m spacy train CONFIG
    start = arguments.index("--gpu-id") + 2
    parsed = parse_config_overrides(arguments[start:])
    found = [parsed[name] for name in settings]
    assert found == values
    assert list(map(type, found)) == list(map(type, values))


def test_a_corpus_that_changes_while_a_trial_runs(project, training, monkeypatch):
    """What it was trained on then is not known: nothing is recorded."""
    trial = make_trial(project, seed=1)

    def change(*args, **kwargs) -> int:
        change_train(project, None)
        return training(*args, **kwargs)

    monkeypatch.setattr(run_module, "run_command", change)
    with pytest.raises(RuntimeError, match="corpus demo changed while the trial ran"):
        run_trial(trial)
    assert not trial.metrics.exists()


def test_a_config_that_changed_while_a_trial_waited(project, training, monkeypatch):
    trial = make_trial(project, seed=1)

    @contextmanager
    def locked_for_long(path, *, on_wait):
        with locked(path, on_wait=on_wait) as lock:
            change_config(project, None)
            yield lock

    monkeypatch.setattr(run_module, "locked", locked_for_long)
    metrics, _ = run_trial(trial)
    assert metrics["config_hash"] == identify(trial)["config_hash"]


def test_a_trial_of_token_ner_runs(tiny_corpus, tmp_path):
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "demo").symlink_to(tiny_corpus)
    trial = make_trial(tmp_path, embedder="token_ner")
    results, is_new = run_trial(trial)
    assert is_new
    assert results["scores"]["test"]["ents_f"] > 0.3
    assert results["scores"]["test"]["ents_unseen_support"] > 0
