import pytest

from lab.papers.missing import find_unplanned
from lab.papers.why_attention.layouts import DATASETS, NAMES
from lab.papers.why_attention.missing import GRID, find_missing
from lab.trials.configs import locate_grid
from lab.trials.grid import Grid, read_grid
from lab.trials.results import read_results

from ..test_missing import read_command
from .trials import write_f1


@pytest.fixture
def grid() -> Grid:
    """The grid that we ship."""
    return read_grid(locate_grid(GRID))


def test_the_grid_fills_the_tables(grid):
    assert set(NAMES) <= {(row.embedder, row.variant) for row in grid.rows}
    assert find_unplanned(grid, DATASETS) == ["OntoNotes 5.0"]


def test_all_is_missing_at_first_and_nothing_in_the_end(grid, tmp_path):
    missing = find_missing({}, grid)
    rows = [(row.embedder, row.variant) for row in grid.rows]
    assert [(each.embedder, each.variant) for each in missing] == rows
    tables = {(each.embedder, each.variant): each.tables for each in missing}
    for embedder in ("bilstm_char_cnn", "bilstm_token_ner"):
        assert tables[embedder, "att"] == tables[embedder, "baseline"] == (1, 3, 4)
    assert tables["bilstm_char_cnn", "att_floret"] == (1, 3, 4)
    assert tables["bilstm_ner", "att"] == (1,)
    assert tables["token_ner", "default"] == tables["bilstm_token_ner", "greedy"] == ()
    for each in missing:
        for dataset in each.seeds:
            write_f1(tmp_path, dataset, (each.embedder, each.variant), [0.5] * 3)
    assert find_missing(read_results(tmp_path), grid) == []


def test_the_command_runs_what_is_missing(grid, tmp_path):
    write_f1(tmp_path, "conll2002_es", ("bilstm_ner", "att"), [0.5] * 3)
    for missing in find_missing(read_results(tmp_path), grid):
        name, options = read_command(missing.command)
        trials = read_grid(locate_grid(name)).narrow(**options).expand()
        run = {(trial.dataset, trial.embedder, trial.variant) for trial in trials}
        wanted = {(name, missing.embedder, missing.variant) for name in missing.seeds}
        assert run == wanted
