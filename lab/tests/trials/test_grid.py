import re
from dataclasses import replace

import pytest

from lab.trials.configs import CONFIGS
from lab.trials.grid import narrow, read_grid
from lab.trials.run_trial import check_config
from lab.trials.trial import Trial
from tests.conftest import ROOT, TORCH_CONFIGS

GRIDS = sorted((CONFIGS / "grids").glob("*.yml"))

EMBED = "components.tok2vec.model.embed"


EXAMPLE = """
datasets: [wnut17, anem]
seeds: [0, 7]
overrides: {training.patience: 5, training.dropout: 0.1}
vectors:
  spacy: {wnut17: en_core_web_lg, anem: assets/vectors/anem}
trials:
  - embedder: multi_embed
  - embedder: multi_hash_embed
    variant: small
    overrides: {training.dropout: 0.2, training: {optimizer: {learn_rate: 1e-2}}}
    per_dataset:
      wnut17: {components.tok2vec.model.embed.rows: [1, 2, 3, 4]}
      anem: {components: {tok2vec.model.embed.rows: [5, 6, 7, 8]}}
  - embedder: multi_embed
    variant: vectors
    datasets: [anem]
    vectors: spacy
"""


@pytest.fixture
def read(tmp_path):
    def read(text: str) -> list[Trial]:
        path = tmp_path / "grid.yml"
        path.write_text(text)
        return read_grid(path, gpu_id=3)

    return read


def test_trials_are_ordered_by_seed_and_dataset(read):
    trials = read(EXAMPLE)
    assert {trial.gpu_id for trial in trials} == {3}
    of_seed = [
        "wnut17/multi_embed/default",
        "wnut17/multi_hash_embed/small",
        "anem/multi_embed/default",
        "anem/multi_hash_embed/small",
        "anem/multi_embed/vectors",
    ]
    names = [f"{name}/seed{seed}" for seed in (0, 7) for name in of_seed]
    assert [trial.name for trial in trials] == names
    chosen = {"dataset": ["anem"], "variant": ["small", "vectors"], "seed": ["7"]}
    kept = [trial.name for trial in narrow(trials, chosen)]
    assert kept == [names[8], names[9]]
    for wrong in ({"seed": ["1"]}, {"dataset": ["wnut17"], "variant": ["vectors"]}):
        with pytest.raises(ValueError, match="the grid"):
            narrow(trials, wrong)


def test_overrides_of_trials_and_datasets_are_merged(read):
    trials = {trial.name: trial for trial in read(EXAMPLE)}
    common = {"training.patience": 5, "training.dropout": 0.1}
    assert trials["wnut17/multi_embed/default/seed0"].overrides == common
    for dataset, rows in {"wnut17": [1, 2, 3, 4], "anem": [5, 6, 7, 8]}.items():
        assert trials[f"{dataset}/multi_hash_embed/small/seed7"].overrides == {
            "training.patience": 5,
            "training.dropout": 0.2,
            "training.optimizer.learn_rate": 0.01,
            f"{EMBED}.rows": rows,
        }
    assert trials["anem/multi_embed/vectors/seed0"].overrides == {
        **common,
        "paths.vectors": "assets/vectors/anem",
        f"{EMBED}.include_static_vectors": True,
    }


def grid(trial="{embedder: a}", **settings) -> str:
    """Write a grid of one trial, with settings in YAML."""
    settings = {"datasets": "[x, y]", "trials": f"[{trial}]", **settings}
    return "\n".join(f"{key}: {value}" for key, value in settings.items())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "grid.yml"),
        ("datasets: [x]", "trials"),
        (grid(seed="[1]"), "seed"),
        (grid(datasets="[x, x]"), "x/a/default/seed0"),
        (grid(seeds="[true]"), "seeds"),
        (grid("{embedder: a, overrides: &o {b: *o}}"), "grid.yml"),
        (grid("{embedder: a, datasets: [z]}"), "'z' is not in the grid"),
        (grid("{embedder: a}, {embedder: a, datasets: [y]}"), "y/a/default/seed0"),
        (grid("{embedder: a, per_dataset: {x: {b.c: 1}}}"), "'per_dataset' of a"),
        (grid("{embedder: a, per_dataset: {x: {}, y: {}, z: {}}}"), "keys x, y"),
        (grid("{embedder: a, vectors: lg}"), "'lg' is not in the grid"),
        (grid("{embedder: a, vectors: lg}", vectors="{lg: {x: b}}"), "'vectors'"),
    ],
)
def test_errors_name_the_mistake(read, text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read(text)


# The grids of the project


FIVE_SEEDS = ("joined", "joined_longer", "labelled", "commands", "ladder")
MOST_SEEDS = dict.fromkeys(FIVE_SEEDS, 5) | {"noise": 8}


def test_equal_variants_of_grids_have_equal_overrides():
    """Otherwise one grid would overwrite the results of another."""
    overrides: dict[str, object] = {}
    for path in GRIDS:
        for trial in read_grid(path):
            assert overrides.setdefault(trial.name, trial.overrides) == trial.overrides
            assert trial.seed in range(MOST_SEEDS.get(path.stem, 3))


@pytest.mark.parametrize(
    "needs_torch", [False, pytest.param(True, marks=pytest.mark.torch)]
)
def test_overrides_name_settings_of_configs(needs_torch, tmp_path):
    """The test needs no corpora and vectors."""
    vectors = tmp_path / "vectors"
    vectors.touch()
    trials = {}
    for trial in (trial for path in GRIDS for trial in read_grid(path, root=ROOT)):
        overrides = dict(trial.overrides)
        if "paths.vectors" in overrides:
            overrides["paths.vectors"] = str(vectors)
        if (trial.config in TORCH_CONFIGS) is needs_torch:
            trials[trial.embedder, trial.variant] = replace(
                trial, dataset="wnut17", seed=0, overrides=overrides
            )
    assert len(trials) >= 4
    for trial in trials.values():
        check_config(trial)
