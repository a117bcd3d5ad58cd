import re

import pytest

from lab.trials.configs import CONFIGS
from lab.trials.grid import Grid, read_grid
from lab.trials.run_trial import check_config
from lab.trials.trial import Trial
from tests.conftest import ROOT, TORCH_CONFIGS

GRIDS = sorted((CONFIGS / "grids").glob("*.yml"))

EMBED = "components.tok2vec.model.embed"

# Symbols seen 10 times or more (NORM, PREFIX, SUFFIX, SHAPE): test_real_corpora.py
# counts them.
SYMBOLS = {
    "wnut17": [687, 85, 743, 128],
    "anem": [759, 82, 600, 74],
    "conll2002_es": [2635, 80, 1147, 88],
    "conll2002_nl": [1850, 77, 1070, 97],
    "archaeology": [3134, 102, 1496, 175],
}

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


def test_overrides_of_the_grid_are_those_of_all_its_trials(read):
    overrides = "{nlp.lang: de, training: {dropout: 0}}"
    trials = "[{embedder: a}, {embedder: b, overrides: {b.c: 1}}]"
    rows = read(grid(trials, overrides=overrides)).rows
    shared = {"nlp.lang": "de", "training.dropout": 0}
    assert [row.overrides for row in rows] == [
        {"x": shared, "y": shared},
        {"x": {**shared, "b.c": 1}, "y": {**shared, "b.c": 1}},
    ]


@pytest.mark.parametrize(
    ("choice", "left"),
    [
        ({}, 10),
        ({"datasets": ["wnut17"]}, 4),
        ({"seeds": [7]}, 5),
        ({"embedders": ["multi_embed"]}, 6),
        ({"variants": ["vectors", "small"]}, 6),
        ({"variants": ["default"], "datasets": ["anem"], "seeds": [0]}, 1),
    ],
)
def test_a_grid_can_be_narrowed(read, choice, left):
    grid = read(EXAMPLE)
    trials = grid.narrow(**choice).expand()
    assert len(trials) == left
    every = grid.expand()
    assert trials == [trial for trial in every if trial in trials]
    for name, values in choice.items():
        assert {getattr(trial, name[:-1]) for trial in trials} == set(values)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"datasets": ["demo"]}, "'demo' is not in .* Its datasets are: wnut17, anem"),
        ({"seeds": [1]}, "1 is not in the grid. Its seeds are: 0, 7."),
        ({"embedders": ["x"]}, "'x' .* Its embedders are: multi_embed, multi_hash_emb"),
        ({"variants": ["x"]}, r"'x' .* Its variants are: default, small, vectors\."),
        ({"variants": ["vectors"], "datasets": ["wnut17"]}, "No trial of the grid is"),
    ],
)
def test_a_choice_of_nothing_is_an_error(read, choice, message):
    with pytest.raises(ValueError, match=message):
        read(EXAMPLE).narrow(**choice)


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
        ("", "It should have keys, but is"),
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
            "'vectors.lg', which a, default uses, should have y, but has ['x'].",
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


@pytest.mark.parametrize(
    ("grid", "variant", "divisor"),
    [
        ("main", "rows100", 1),
        ("rows", "rows100", 1),
        ("rows", "rows20", 5),
        ("rows", "rows10", 10),
        ("vectors", "rows100_vectors", 1),
        ("floret", "rows100_floret", 1),
        ("floret", "rows10_floret", 10),
    ],
)
def test_adjusted_rows_are_parts_of_the_symbols(grid, variant, divisor):
    trials = read_grid(CONFIGS / "grids" / f"{grid}.yml").expand()
    found = [trial for trial in trials if trial.variant == variant]
    datasets = ["wnut17"] if grid == "floret" else list(SYMBOLS)
    assert {(t.dataset, t.embedder) for t in found} == {
        (dataset, "multi_hash_embed") for dataset in datasets
    }
    for trial in found:
        rows = [int(n / divisor) for n in SYMBOLS[trial.dataset]]
        assert trial.overrides[f"{EMBED}.rows"] == rows
