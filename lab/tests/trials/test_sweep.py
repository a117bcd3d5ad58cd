"""Sweeps of trials that an executor of our own pretends to run."""

import hashlib
import json
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy

from lab.trials import progress as progress_module
from lab.trials import sweep as sweep_module
from lab.trials import trial as trial_module
from lab.trials.configs import CONFIGS
from lab.trials.progress import Progress
from lab.trials.sweep import (
    attempt_trial,
    check_configs,
    get_log,
    plan_sweep,
    run_sweep,
)
from lab.trials.trial import (
    Identifier,
    Trial,
    hash_corpus,
    identify,
    load_trial_config,
)
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


@pytest.fixture
def trials(root) -> list[Trial]:
    return [make(root, seed=seed) for seed in range(4)]


def make(root: Path, **settings: Any) -> Trial:
    defaults = {"dataset": "demo", "embedder": "multi_embed", "root": root}
    return Trial(**{**defaults, **settings})


def finish(trial: Trial, seconds: float = 1.0) -> None:
    """Record results, as a trial that was run does."""
    scores = {"dev": {"ents_f": 0.5}}
    timings = {"train_seconds": seconds}
    metrics = {**identify(trial), "scores": scores, "timings": timings}
    write_json(trial.metrics, metrics)


class FakeExecutor:
    """Runs trials one by one. Those that fail say why, by seed."""

    def __init__(self, errors: dict[int, str] | None = None):
        self.errors = errors or {}
        self.ran: list[int] = []
        self.is_closed = False
        self.force: bool | None = None
        self.interrupt_at: int | None = None

    def __call__(self, function, items, *, on_start, on_wait):
        assert function.func is attempt_trial
        self.force = function.keywords["force"]
        try:
            for trial in items:
                on_start(trial)
                on_wait()
                if trial.seed == self.interrupt_at:
                    raise KeyboardInterrupt
                self.ran.append(trial.seed)
                error = self.errors.get(trial.seed)
                if error is None:
                    finish(trial)
                yield trial, error
        finally:
            self.is_closed = True


def sweep(trials: list[Trial], executor: FakeExecutor):
    return run_sweep(plan_sweep(trials), executor=executor)


def read_failure(trial: Trial) -> dict[str, str]:
    return json.loads((trial.output / "failure.json").read_text())


# What is done and what is not


def test_what_is_done_is_not_run_again(trials):
    finish(trials[1])
    plan = plan_sweep(trials)
    assert [trial.seed for trial, _ in plan.done] == [1]
    assert [pending.trial.seed for pending in plan.pending] == [0, 2, 3]
    executor = FakeExecutor()
    finished = run_sweep(plan, executor=executor)
    assert executor.ran == [0, 2, 3]
    assert [ended.trial for ended in finished] == [trials[0], *trials[2:]]
    assert all(ended.results["scores"]["dev"]["ents_f"] == 0.5 for ended in finished)
    plan = plan_sweep(trials)
    assert (len(plan.done), len(plan.pending)) == (4, 0)
    assert run_sweep(plan, executor=FakeExecutor()) == []


def test_configs_and_corpora_are_read_once_for_all_seeds(root, monkeypatch):
    """A grid may have thousands."""
    read: list[Any] = []
    for name in ("load_config", "hash_corpus"):
        function = getattr(trial_module, name)

        def note(*args, function=function, **kwargs):
            read.append(args)
            return function(*args, **kwargs)

        monkeypatch.setattr(trial_module, name, note)
    counts = []
    for n_seeds in (1, 30):
        read.clear()
        plan = plan_sweep([make(root, seed=seed) for seed in range(n_seeds)])
        assert len(plan.pending) == n_seeds
        counts.append(len(read))
    assert counts[0] == counts[1]


def test_other_settings_are_not_read_as_if_they_were_the_same(root):
    others = [
        {},
        {"seed": 1},
        {"dataset": "wnut17", "overrides": {"nlp.lang": "de"}},
        {"dataset": "wnut17"},
        {"embedder": "multi_fewer_hash_embed"},
        {"overrides": {"training.dropout": 0.2}},
    ]
    trials = [make(root, **settings) for settings in others]
    plan = plan_sweep(trials)
    for trial, identity, _ in plan.pending:
        assert identity == identify(trial)
        text = load_trial_config(trial).to_str(interpolate=False)
        expected = hashlib.sha256(text.encode("utf8")).hexdigest()
        assert identity["config_hash"] == expected
        assert identity["corpus_hashes"] == hash_corpus(trial)


def test_files_that_a_config_names_by_the_seed_are_those_of_each(root):
    """As weights are that were pretrained from several seeds."""
    name = "${paths.weights}/${training.seed}.bin"
    overrides = {"initialize.init_tok2vec": name, "paths.weights": str(root)}
    path = root / "configs" / "pretrain_ner.cfg"
    path.write_text(path.read_text().replace("[paths]\n", "[paths]\nweights = null\n"))
    for seed in range(2):
        (root / f"{seed}.bin").write_bytes(bytes([seed]))
    trials = [
        make(root, embedder="pretrain_ner", overrides=overrides, seed=seed)
        for seed in range(2)
    ]
    identifier = Identifier()
    for seed, trial in enumerate(trials):
        expected = hashlib.sha256(bytes([seed])).hexdigest()
        assert identifier.identify(trial)["weights_hash"] == expected
    with pytest.raises(ValueError, match=r"no file '.*/2\.bin'"):
        identifier.identify(replace(trials[0], seed=2))


def test_half_written_results_are_neither_done_nor_replaced(trials):
    finish(trials[0])
    text = trials[0].metrics.read_text()
    trials[0].metrics.write_text(text[: len(text) // 2])
    match = r"^'.*seed0\.json' has results that can't be read \(.*with --force\.$"
    with pytest.raises(FileExistsError, match=match):
        plan_sweep(trials)
    plan = plan_sweep(trials, force=True)
    assert (len(plan.done), len(plan.pending)) == (0, 4)


def test_results_of_something_else_are_not_replaced(root, trials):
    finish(trials[0])
    finish(trials[1])
    (root / "corpus/demo/train.spacy").write_text("changed")
    with pytest.raises(FileExistsError) as error:
        plan_sweep(trials)
    message = str(error.value)
    for trial in trials:
        objection = "has results of other settings: the corpus was another."
        assert (f"'{trial.metrics}' {objection}" in message) == (trial in trials[:2])
    assert "Give your settings another variant, or" in message
    plan = plan_sweep(trials, force=True)
    assert len(plan.pending) == 4
    executor = FakeExecutor()
    run_sweep(plan, executor=executor)
    assert executor.force
    assert len(plan_sweep(trials).done) == 4


def test_results_of_many_other_settings_are_not_named_at_length(root):
    trials = [make(root, seed=seed) for seed in range(8)]
    for trial in trials:
        finish(trial)
    (root / "corpus/demo/train.spacy").write_text("changed")
    with pytest.raises(FileExistsError, match=r"seed4\.json' has [^.]*\. And 3 more\."):
        plan_sweep(trials)


def test_a_sweep_goes_on_after_an_upgrade(trials, monkeypatch):
    finish(trials[0])
    monkeypatch.setattr(trial_module, "version", lambda package: "9.9")
    executor = FakeExecutor()
    sweep(trials, executor)
    assert executor.ran == [0, 1, 2, 3]
    assert executor.force is False


def test_an_interrupted_sweep_goes_on_where_it_stopped(trials):
    executor = FakeExecutor()
    executor.interrupt_at = 2
    with pytest.raises(KeyboardInterrupt):
        sweep(trials, executor)
    assert executor.ran == [0, 1]
    assert executor.is_closed
    executor = FakeExecutor()
    sweep(trials, executor)
    assert executor.ran == [2, 3]


def test_executors_are_stopped_when_we_fail(trials):
    executor = FakeExecutor()

    def fail(progress: Progress) -> None:
        if progress.finished:
            raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        run_sweep(plan_sweep(trials), executor=executor, on_progress=fail)
    assert executor.is_closed
    assert executor.ran == [0]


# Failures


def test_a_failed_trial_is_recorded_and_the_others_go_on(trials):
    executor = FakeExecutor({1: "ValueError: no"})
    finished = sweep(trials, executor)
    assert executor.ran == [0, 1, 2, 3]
    assert [ended.error for ended in finished] == [None, "ValueError: no", None, None]
    assert finished[1].results is None
    record = read_failure(trials[1])
    assert record.pop("finished").endswith("+00:00")
    assert record == {
        "trial": "demo/multi_embed/default/seed1",
        "error": "ValueError: no",
        "log": str(get_log(trials[1])),
    }
    assert not (trials[0].output / "failure.json").exists()
    # It is tried again, and the record goes when it is no longer true.
    (pending,) = plan_sweep(trials).pending
    assert (pending.trial, pending.error) == (trials[1], "ValueError: no")
    executor = FakeExecutor()
    sweep(trials, executor)
    assert executor.ran == [1]
    assert not (trials[1].output / "failure.json").exists()


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"error', '{"error": ' + "[" * 10**5 + "]" * 10**5 + "}"]
)
def test_a_damaged_record_of_a_failure_is_none(trials, text):
    path = trials[0].output / "failure.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert plan_sweep(trials).pending[0].error is None


def test_a_record_of_a_failure_is_not_shown_at_length(trials):
    path = trials[0].output / "failure.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"error": "no" * 10**6}))
    assert plan_sweep(trials).pending[0].error == "no" * 250


def test_a_trial_that_left_no_results_has_failed(root, trials):
    class Changing(FakeExecutor):
        def __call__(self, *args, **kwargs):
            for ended in super().__call__(*args, **kwargs):
                (root / "corpus/demo/dev.spacy").write_text("changed")
                identity = identify(trials[0])
                write_json(trials[0].metrics, {**identity, "scores": {}})
                yield ended

    (finished,) = sweep(trials[:1], Changing())
    assert "changed while it ran" in str(finished.error)
    assert read_failure(trials[0])["error"] == finished.error


def test_the_output_of_a_trial_is_in_its_log(root, monkeypatch, capfd):
    trial = make(root)

    def run_trial(trial, force, on_output):
        assert force is False
        on_output("epoch 1")
        sys.stdout.write("from a library\n")
        raise RuntimeError("`spacy train` failed")

    monkeypatch.setattr(sweep_module, "run_trial", run_trial)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="`spacy train` failed"):
            attempt_trial(trial)
    log = get_log(trial).read_text()
    for text in ("demo/multi_embed/default/seed0\n", "\nepoch 1\n", "from a library\n"):
        assert log.count(text) == 2
    assert (
        log.count("Traceback") == log.count("\nRuntimeError: `spacy train` fail") == 2
    )
    assert capfd.readouterr() == ("", "")


# What can't be run is told before anything is


def test_all_missing_corpora_are_named_at_once(root):
    datasets = ("demo", "anem", "ontonotes", "wnut17")
    trials = [make(root, dataset=dataset) for dataset in datasets]
    with pytest.raises(FileNotFoundError) as error:
        plan_sweep(trials)
    message = str(error.value)
    assert message.startswith("There is no training corpus of anem, ontonotes. ")
    assert f"`python -m lab prepare anem -o {root}/corpus/anem`" in message
    assert "or leave it out: --datasets demo,wnut17. " in message
    assert f"looked for in '{root}': run the command in the folder" in message


def test_an_embedder_without_config(root):
    with pytest.raises(FileNotFoundError, match=r"no config 'multi_emb'"):
        plan_sweep([make(root), make(root, embedder="multi_emb")])


def test_a_dataset_without_language(root):
    shutil.copytree(root / "corpus/demo", root / "corpus/own")
    message = r"own/multi_embed/default/seed0 can't be run\. The language of .* unknown"
    with pytest.raises(ValueError, match=message):
        plan_sweep([make(root, dataset="own")])
    overrides = {"nlp.lang": "de"}
    assert plan_sweep([make(root, dataset="own", overrides=overrides)]).pending


def is_unknown(argument: str) -> str:
    """Say what spaCy calls an argument that a function has not, and older spaCy."""
    return f"(unexpected argument: '{argument}'|{argument}: extra fields not permitted)"


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("components.tok2vec.model.embed.atrs", ["NORM"], is_unknown("atrs")),
        ("components.tok2vec.model.embed.attrs", ["NROM"], "NROM"),
        ("components.tagger.x", 1, "can't be run"),
        ("training.max_step", 20, r"no setting 'training\.max_step'"),
        (
            "training.max_steps",
            "sixty",
            r"which overrides training\.max_steps, can't be used\. "
            r"max_steps: (Input should be|value is not) a valid integer\.$",
        ),
        ("nlp.lang", "xyz", r"\[E048\] Can't import language xyz"),
        (
            "components.tok2vec.model.embed.include_static_vectors",
            True,
            r"has include_static_vectors = true, but no paths\.vectors\.",
        ),
        ("training.optimizer.rate", 1, is_unknown("rate")),
        ("initialize.before_init.min_freqs", 1, is_unknown("min_freqs")),
        ("initialize.vocab", 1, r"no setting 'initialize\.vocab'"),
        ("paths.vectors", "no/such/folder", "'no/such/folder' is neither"),
        (
            "paths.vector",
            "en_core_web_lg",
            r"has no 'paths\.vector', only dev, init_",
        ),
        ("corpora.train.max_lenght", 100, is_unknown("max_lenght")),
        ("corpora.train.max_length", "long", "max_length"),
    ],
)
def test_settings_that_configs_do_not_have(root, setting, value, message):
    trial = make(root, overrides={setting: value})
    with pytest.raises(ValueError, match=r"(?s)demo/multi_embed.*" + message):
        plan_sweep([make(root), trial])


def test_rows_that_do_not_match_attributes(root):
    overrides = {"components.tok2vec.model.embed.rows": [1, 2, 3]}
    trial = make(root, embedder="multi_hash_embed", variant="r", overrides=overrides)
    message = (
        r"demo/multi_hash_embed/r/seed0, which overrides .*\.embed\.rows, can't be "
        "used. Mismatched lengths: 3 vs 4"
    )
    with pytest.raises(ValueError, match=message):
        plan_sweep([trial])


def test_vectors_may_be_used_where_they_are_given(root):
    nlp = spacy.blank("en")
    nlp.vocab.set_vector("word", np.ones(3, dtype="float32"))
    nlp.to_disk(root / "vectors")
    use = "components.tok2vec.model.embed.include_static_vectors"
    overrides = {"paths.vectors": str(root / "vectors"), use: True}
    assert plan_sweep([make(root, overrides=overrides)]).pending


def test_a_config_needs_paths(root):
    trial = make(root)
    text = re.sub(r"(?s)\[paths\].*?(?=\[system\])", "", trial.config.read_text())
    trial.config.write_text(re.sub(r"\$\{paths\.\w+\}", "null", text))
    with pytest.raises(ValueError, match=r"multi_embed.* has no section \[paths\]"):
        plan_sweep([trial])


def test_paths_may_be_those_of_the_config_or_of_spacy(root):
    trial = make(root, overrides={"paths.own": "x", "paths.init_tok2vec": None})
    text = trial.config.read_text().replace("[paths]", "[paths]\nown = null")
    trial.config.write_text(text)
    assert plan_sweep([trial]).pending


def test_a_config_is_made_once_for_all_seeds(root, trials, monkeypatch):
    made: list[Trial] = []
    monkeypatch.setattr(sweep_module, "check_config", made.append)
    other = make(root, overrides={"training.dropout": 0.2})
    check_configs([*trials, other])
    assert made == [trials[0], other]


# How long it takes


@pytest.fixture
def clock(monkeypatch) -> Callable[[float], None]:
    """A clock to set."""
    now = [0.0]
    for module in (sweep_module, progress_module):
        monkeypatch.setattr(module, "monotonic", lambda: now[0])
    return lambda seconds: now.__setitem__(0, seconds)


def test_nothing_is_known_before_a_trial_has_ended(root):
    progress = Progress(waiting=[make(root)])
    assert progress.estimate_seconds_left() is None


def test_time_is_estimated_from_the_trials_most_alike(root):
    progress = Progress(waiting=[make(root, seed=9)])
    progress.learn(make(root, dataset="wnut17", embedder="multi_hash_embed"), 80)
    assert progress.estimate_seconds_left() == 80  # another dataset
    progress.learn(make(root, embedder="multi_hash_embed"), 40)
    assert progress.estimate_seconds_left() == 40  # another embedder
    progress.learn(make(root, seed=1), 10)
    progress.learn(make(root, seed=2, variant="small"), 20)
    assert progress.estimate_seconds_left() == 15
    progress.waiting = [make(root, dataset="anem")]
    assert progress.estimate_seconds_left() == 37.5  # the mean of all


def test_time_goes_by_as_trials_run_side_by_side(root, clock):
    trials = [make(root, seed=seed) for seed in range(4)]
    progress = Progress(waiting=trials[2:])
    progress.running = {trial.name: (trial, 0.0) for trial in trials[:2]}
    progress.learn(trials[0], 100)
    assert progress.estimate_seconds_left() == 200
    clock(40)
    assert progress.estimate_seconds_left() == 160
    clock(130)  # longer than was thought
    assert progress.estimate_seconds_left() == 100
    progress.waiting = []
    progress.running.popitem()
    clock(60)
    assert progress.estimate_seconds_left() == 40
    progress.running.clear()
    assert progress.estimate_seconds_left() == 0


def test_progress_is_told_as_it_is_made(trials, clock):
    finish(trials[0], seconds=30)
    seen = []

    def note(progress: Progress) -> None:
        counts = [len(progress.waiting), len(progress.running), len(progress.finished)]
        seen.append((*counts, progress.estimate_seconds_left()))
        clock(10 * len(progress.finished))

    run_sweep(
        plan_sweep(trials[:3]),
        executor=FakeExecutor({2: "ValueError: no"}),
        on_progress=note,
    )
    assert seen == [
        *[(1, 1, 0, 60), (1, 1, 0, 60)],  # started, still running
        (1, 0, 1, 15),  # it took no time: the mean is 15 s
        *[(0, 1, 1, 15), (0, 1, 1, 15)],
        (0, 0, 2, 0),
    ]
