from dataclasses import replace

import pytest

from lab.papers.hash_embeddings.layouts import (
    BAG_OF_WORDS,
    DATASETS,
    EMBEDDINGS,
    HASH,
    STANDARD,
    TABLE_2,
    TRICK,
    name_trials,
)
from lab.papers.hash_embeddings.missing import (
    find_missing,
    read_paper_grid,
)
from lab.papers.missing import find_unplanned
from lab.trials.configs import locate_grid
from lab.trials.grid import Grid, read_grid
from lab.trials.results import read_results

from ..test_missing import read_command
from .trials import write_accuracies


@pytest.fixture
def grid() -> Grid:
    """The grid that we ship."""
    return read_paper_grid()


@pytest.fixture
def larger(grid) -> Grid:
    """The same on some of the paper's datasets, and on one of somebody's own."""
    datasets = ["ag_news", "yelp_full", "mine"]
    rows = [
        row._replace(overrides={dataset: {} for dataset in datasets})
        for row in grid.rows
    ]
    return replace(grid, datasets=datasets, rows=rows)


def test_the_grid_fills_the_tables(grid):
    trained = {(row.embedder, row.variant) for row in grid.rows}
    assert {column.source[:2] for column in TABLE_2.columns} <= trained
    assert set(EMBEDDINGS) <= trained
    # all that it trains has a name
    names = [name_trials(row.embedder, row.variant) for row in grid.rows]
    assert len(set(names)) == len(names)
    assert not [name for name in names if "_" in name]


def test_all_is_missing_at_first_and_nothing_in_the_end(larger, tmp_path):
    missing = find_missing({}, larger)
    rows = [(row.embedder, row.variant) for row in larger.rows]
    assert [(each.embedder, each.variant) for each in missing] == rows
    assert {each.datasets for each in missing} == {"all 2"}
    tables = {(each.embedder, each.variant): each.tables for each in missing}
    assert tables[HASH] == tables[TRICK] == tables[STANDARD] == (2, 3)
    assert tables[BAG_OF_WORDS] == tables["textcat_bow", "default_fifth"] == (3,)
    for each in missing:
        for dataset in each.seeds:
            trials = (each.embedder, each.variant)
            write_accuracies(tmp_path, dataset, trials, [0.5] * 3)
    assert find_missing(read_results(tmp_path), larger) == []


def test_what_is_missing_is_named_with_its_command(larger, tmp_path):
    write_accuracies(tmp_path, "ag_news", HASH, [0.5] * 3)
    write_accuracies(tmp_path, "yelp_full", HASH, [0.5])
    (missing, *_) = find_missing(read_results(tmp_path), larger)
    assert missing.datasets == "Yelp Full (1 of 3 seeds there)"
    assert missing.command == (
        "python -m lab sweep ngrams --datasets yelp_full --embedders "
        "hash_ngram_textcat --variants default"
    )


def test_the_command_runs_what_is_missing(grid):
    for missing in find_missing({}, grid):
        name, options = read_command(missing.command)
        trials = read_grid(locate_grid(name)).narrow(**options).expand()
        run = {(trial.dataset, trial.embedder, trial.variant) for trial in trials}
        wanted = {(name, missing.embedder, missing.variant) for name in missing.seeds}
        assert run == wanted


def test_datasets_without_trials_in_the_grid_are_named(grid, larger):
    assert find_unplanned(grid, DATASETS) == list(DATASETS.values())[:7]
    names = set(DATASETS.values()) - set(find_unplanned(larger, DATASETS))
    assert names == {"AG's News", "Yelp Full"}


def test_a_grid_in_the_project_wins(grid, tmp_path, monkeypatch):
    folder = tmp_path / "configs/grids"
    folder.mkdir(parents=True)
    text = locate_grid("ngrams").read_text()
    text = text.replace("datasets: [ag_news_small]", "datasets: [dbpedia]")
    (folder / "ngrams.yml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert {each.datasets for each in find_missing({}, read_paper_grid())} == {
        "DBPedia"
    }
    assert "DBPedia" not in find_unplanned(read_paper_grid(), DATASETS)
