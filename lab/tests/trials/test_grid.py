import re

import pytest

from lab.trials.configs import CONFIGS
from lab.trials.grid import Grid, read_grid
from lab.trials.run_trial import check_config
from lab.trials.trial import Trial
from tests.conftest import ROOT, TORCH_CONFIGS

GRIDS = sorted((CONFIGS / "grids").glob("*.yml"))

EMBED = "components.tok2vec.model.embed"


EXAMPLE = """
datasets: [wnut17, anem]
seeds: [0, 7]
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
    def read(text: str) -> Grid:
        path = tmp_path / "grid.yml"
        path.write_text(text)
        return read_grid(path)

    return read


def names(trials: list[Trial]) -> list[str]:
    return [trial.name for trial in trials]


# What a grid says


def test_trials_come_seed_by_seed_and_dataset_by_dataset(read):
    assert names(read(EXAMPLE).expand()) == [
        "wnut17/multi_embed/default/seed0",
        "wnut17/multi_hash_embed/small/seed0",
        "anem/multi_embed/default/seed0",
        "anem/multi_hash_embed/small/seed0",
        "anem/multi_embed/vectors/seed0",
        "wnut17/multi_embed/default/seed7",
        "wnut17/multi_hash_embed/small/seed7",
        "anem/multi_embed/default/seed7",
        "anem/multi_hash_embed/small/seed7",
        "anem/multi_embed/vectors/seed7",
    ]


def test_overrides_are_those_of_the_trial_and_of_the_dataset(read):
    trials = {trial.name: trial for trial in read(EXAMPLE).expand()}
    assert trials["wnut17/multi_embed/default/seed0"].overrides == {}
    for dataset, rows in {"wnut17": [1, 2, 3, 4], "anem": [5, 6, 7, 8]}.items():
        assert trials[f"{dataset}/multi_hash_embed/small/seed7"].overrides == {
            "training.dropout": 0.2,
            "training.optimizer.learn_rate": 0.01,
            f"{EMBED}.rows": rows,
        }
    assert trials["anem/multi_embed/vectors/seed0"].overrides == {
        "paths.vectors": "assets/vectors/anem",
        f"{EMBED}.include_static_vectors": True,
    }


# Mistakes


def grid(trials="[{embedder: a}]", **settings) -> str:
    """The text of a grid; what it has is given as YAML."""
    settings = {"datasets": "[x, y]", "trials": trials, **settings}
    return "\n".join(f"{key}: {value}" for key, value in settings.items())


def of_a(entry: str, **settings: str) -> str:
    """The text of a grid that trains `a` alone."""
    return grid(f"[{{embedder: a, {entry}}}]", **settings)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "is no grid of trials. Invalid YAML"),
        ("", "valid dictionary"),
        ("datasets: [x]", "'trials': Field required"),
        (grid(seed="[1]"), "'seed': Extra inputs are not permitted"),
        (grid(datasets="[]"), "'datasets': List should have at least 1 item"),
        (grid(datasets="[x, x]"), "'datasets': 'x' is there 2 times"),
        (grid(seeds="[true]"), "'seeds.0': Input should be a valid integer"),
        (grid(seeds="[0, 0]"), "'seeds': 0 is there 2 times"),
        (grid("[]"), "'trials': List should have at least 1 item"),
        (of_a("overrides: &o {b: *o}"), "maximum recursion depth exceeded"),
        (of_a("datasets: [z]"), "'z' is not in the grid. Its datasets are: x, y."),
        (
            grid("[{embedder: a}, {embedder: a, datasets: [y], overrides: {b.c: 1}}]"),
            "a has the variant 'default' 2 times for y. Give other overrides another",
        ),
        (of_a("per_dataset: {x: {b.c: 1}}"), "should have the keys x, y, but has"),
        (
            of_a("datasets: [x], per_dataset: {x: {b.c: 1}, y: {}}"),
            "should have the keys x, but has ['x', 'y'].",
        ),
        (of_a("overrides: {dropout: 1}"), "a, default: 'dropout' is no setting;"),
        (of_a("overrides: {b.c: 1, b: {c: 2}}"), "a, default sets b.c 2 times."),
        (of_a("overrides: {b.c: {}}"), "a, default: 'b.c' is {}, which sets nothing."),
        (of_a("vectors: lg"), "'lg' is not in the grid. Its vectors are: none."),
        (
            of_a("vectors: lg", vectors="{lg: {x: b}}"),
            "'vectors.lg' of a, default should have the keys x, y, but has ['x'].",
        ),
        (of_a("overrides: {b.c: 1}", overrides="{b.c: 2}"), "sets b.c 2 times."),
    ],
)
def test_mistakes_are_named(read, tmp_path, text, message):
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        read(text)
    assert str(error.value).startswith(
        f"'{tmp_path / 'grid.yml'}' is no grid of trials."
    )


# The grids of the report


MOST_SEEDS = {"noise": 8, "joined": 5, "joined_longer": 5, "labelled": 5}


def test_grids_agree_on_what_a_variant_is():
    """Or one would overwrite the results of another."""
    overrides: dict[str, object] = {}
    for path in GRIDS:
        for trial in read_grid(path).expand():
            assert overrides.setdefault(trial.name, trial.overrides) == trial.overrides
            assert trial.seed in range(MOST_SEEDS.get(path.stem, 3))
            assert trial.config.parent.name == "configs"


@pytest.mark.parametrize(
    ("needs_torch", "n_at_least"),
    [(False, 20), pytest.param(True, 4, marks=pytest.mark.torch)],
)
def test_overrides_name_settings_that_configs_have(needs_torch, n_at_least, tmp_path):
    """Also those of trials that can't be run here, for want of corpora and vectors."""
    vectors = tmp_path / "vectors"
    vectors.touch()
    trials = {}
    for path in GRIDS:
        for trial in read_grid(path).expand(root=ROOT):
            overrides = dict(trial.overrides)
            if "paths.vectors" in overrides:
                overrides["paths.vectors"] = str(vectors)
            settings = {"overrides": overrides, "dataset": "wnut17", "root": ROOT}
            settings |= {"embedder": trial.embedder, "variant": trial.variant}
            if (trial.config in TORCH_CONFIGS) is needs_torch:
                trials[trial.embedder, trial.variant] = Trial(**settings)
    assert len(trials) >= n_at_least
    for trial in trials.values():
        check_config(trial)
