import pytest

from lab.papers.layouts import DATASET_NAMES
from lab.papers.missing import find_missing
from lab.trials.configs import locate_grid
from lab.trials.grid import read_grid
from lab.trials.results import read_results

from ..trials.test_results import write_seeds

HASH, FEWER, LOOKUP = "multi_hash_embed", "multi_fewer_hash_embed", "multi_embed"


def find(groups, embedder, variant):
    (found,) = [
        missing
        for missing in find_missing(groups)
        if (missing.embedder, missing.variant) == (embedder, variant)
    ]
    return found


def test_all_is_missing_at_first():
    missing = find_missing({})
    names = [(m.embedder, m.variant) for m in missing]
    assert len(names) == len(set(names))
    assert find({}, HASH, "default").tables == (1, 2, 3, 9, 11, 13, 15)
    assert find({}, HASH, "default").seeds == dict.fromkeys(DATASET_NAMES, 0)
    assert find({}, HASH, "orth").tables == (2, 3)
    assert find({}, HASH, "orth").seeds == {"conll2002_nl": 0, "anem": 0}
    assert find({}, HASH, "rows20").seeds == {"conll2002_es": 0, "archaeology": 0}
    assert find({}, LOOKUP, "vectors").tables == (7, 8, 12, 16)
    assert find({}, HASH, "fasttext").tables == (17,)
    assert {n for m in missing for n in m.tables} == {1, 2, 3, *range(7, 18)}


def test_three_seeds_are_enough_and_fewer_are_counted(tmp_path):
    write_seeds(tmp_path, "anem", LOOKUP, "default", [0.1, 0.2, 0.3])
    write_seeds(tmp_path, "wnut17", LOOKUP, "default", [0.1, 0.2])
    missing = find(read_results(tmp_path), LOOKUP, "default")
    assert "anem" not in missing.seeds
    assert missing.seeds["wnut17"] == 2
    assert missing.seeds["ontonotes"] == 0


def test_seed_9_is_missing_like_the_others(tmp_path):
    assert find({}, FEWER, "seed9").seeds == dict.fromkeys(DATASET_NAMES, 0)
    write_seeds(tmp_path, "demo", LOOKUP, "default", [0.1])
    write_seeds(tmp_path, "wnut17", LOOKUP, "default", [0.1])
    groups = read_results(tmp_path)
    # one more or one less would be told as progress
    assert len(find_missing(groups)) == len(find_missing({}))
    write_seeds(tmp_path, "anem", FEWER, "seed9", [0.1, 0.2, 0.3])
    missing = find(read_results(tmp_path), FEWER, "seed9")
    assert missing.seeds == dict.fromkeys(set(DATASET_NAMES) - {"anem"}, 0)
    assert missing.tables == ()


def test_the_grid_that_is_named_has_the_trials(tmp_path):
    write_seeds(tmp_path, "anem", LOOKUP, "default", [0.1])
    for missing in find_missing(read_results(tmp_path)):
        path = locate_grid(missing.grid)
        rows = {(row.embedder, row.variant): row for row in read_grid(path).rows}
        row = rows[missing.embedder, missing.variant]
        # OntoNotes is licensed: its rows can't be shipped
        assert set(missing.seeds) - {"ontonotes"} <= set(row.overrides)


def read_command(command: str) -> tuple[str, dict[str, list[str]]]:
    """The grid and the options of a command."""
    program, group, sweep, grid, *options = command.split()
    assert (program, group, sweep) == ("spacy", "hashembeds", "sweep")
    pairs = zip(options[::2], options[1::2], strict=True)
    return grid, {name.removeprefix("--"): value.split(",") for name, value in pairs}


def test_the_command_runs_what_is_missing(tmp_path):
    """In the datasets' own names."""
    write_seeds(tmp_path, "anem", LOOKUP, "default", [0.1] * 3)
    write_seeds(tmp_path, "ontonotes", LOOKUP, "default", [0.1])
    for missing in find_missing(read_results(tmp_path)):
        grid, options = read_command(missing.command)
        trials = read_grid(locate_grid(grid)).narrow(**options).expand()
        run = {(trial.dataset, trial.embedder, trial.variant) for trial in trials}
        wanted = {(name, missing.embedder, missing.variant) for name in missing.seeds}
        if missing.variant.startswith("rows100"):
            # its rows could not be counted
            wanted -= {("ontonotes", missing.embedder, missing.variant)}
        assert run == wanted


def test_the_command_names_no_datasets_where_all_are_missing():
    grid = "min_freq"
    assert find({}, LOOKUP, "min_freq5").command == (
        f"python -m lab sweep {grid} --embedders multi_embed --variants min_freq5"
    )


def test_nothing_is_missing_in_the_end(tmp_path):
    for missing in find_missing({}):
        for dataset in missing.seeds:
            write_seeds(tmp_path, dataset, missing.embedder, missing.variant, [0.1] * 3)
    assert find_missing(read_results(tmp_path)) == []
    with pytest.raises(ValueError, match="not enough values"):
        find(read_results(tmp_path), HASH, "default")
