from itertools import product

import pytest

from lab.papers.hashformers.layouts import BASELINE, DATASETS, NAMES
from lab.papers.hashformers.missing import (
    BASELINE_GRID,
    GRID,
    find_missing,
)
from lab.trials.configs import locate_grid
from lab.trials.grid import read_grid
from lab.trials.results import read_results

from ..test_missing import read_command
from .trials import LSH_PROJ, write_f1


def test_all_is_missing_at_first_and_nothing_in_the_end(tmp_path):
    missing = find_missing({})
    assert [(each.embedder, each.variant) for each in missing] == list(NAMES)
    assert {each.tables for each in missing} == {(2, 3)}
    datasets = [each.datasets for each in missing]
    # the grid of the baseline has others too
    assert datasets == ["CoNLL es, WNUT 2017", *["all 2"] * 9]
    for trials, dataset in product(NAMES, DATASETS):
        write_f1(tmp_path, dataset, trials, [0.5] * 3)
    assert find_missing(read_results(tmp_path)) == []


def test_what_is_there_in_part_is_named(tmp_path):
    write_f1(tmp_path, "wnut17", LSH_PROJ, [0.5, 0.5])
    write_f1(tmp_path, "conll2002_es", LSH_PROJ, [0.5] * 3)
    (missing,) = [
        each
        for each in find_missing(read_results(tmp_path))
        if each.variant == LSH_PROJ.variant
    ]
    assert missing.datasets == "WNUT 2017 (2 of 3 seeds there)"
    assert missing.command == (
        "python -m lab sweep hashformers --datasets wnut17 --embedders "
        "hash_former_embed --variants lsh_proj"
    )


@pytest.mark.parametrize("name", [BASELINE_GRID, GRID])
def test_the_commands_run_what_is_missing_and_nothing_else(name):
    try:
        grid = read_grid(locate_grid(name))
    except FileNotFoundError:
        pytest.skip(f"the grid '{name}' is not there yet")
    commands = {read_command(each.command)[0]: [] for each in find_missing({})}
    for missing in find_missing({}):
        named, options = read_command(missing.command)
        commands[named].append((missing, options))
    assert list(commands) == [BASELINE_GRID, GRID]
    for missing, options in commands[name]:
        run = {
            (trial.dataset, trial.embedder, trial.variant)
            for trial in grid.narrow(**options).expand()
        }
        trials = (missing.embedder, missing.variant)
        assert run == {(dataset, *trials) for dataset in DATASETS}
        assert (name == BASELINE_GRID) == (trials == BASELINE)
