from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from lab.papers import PAPERS
from lab.papers.missing import find_missing, read_grids
from lab.papers.paper import REPORT, read_paper
from lab.trials.configs import locate_grid
from lab.trials.grid import read_grid
from lab.trials.results import TrialKey, read_results

from .trials import fill, write_accuracies, write_f1

HASH, FEWER, LOOKUP = "multi_hash_embed", "multi_fewer_hash_embed", "multi_embed"


class Missing(NamedTuple):
    datasets: str
    tables: str
    command: str


def find(paper: str, root: Path | None = None) -> Mapping[str, Missing]:
    """Find what is missing by EMBEDDER/VARIANT."""
    about = read_paper(paper)
    groups = {} if root is None else read_results(root)
    tables = fill(paper, root).values()
    rows = find_missing(about, groups, tables, read_grids(about)).rows
    found = {"/".join(row.stub[:2]): Missing(*row.stub[2:]) for row in rows}
    assert len(found) == len(rows)
    return found


def run(command: str) -> set[TrialKey]:
    """Find the trials that a command runs."""
    program, option, module, sweep, grid, *options = command.split()
    assert (program, option, module, sweep) == ("python", "-m", "lab", "sweep")
    pairs = zip(options[::2], options[1::2], strict=True)
    chosen = {name.removeprefix("--"): value.split(",") for name, value in pairs}
    trials = read_grid(locate_grid(grid)).narrow(**chosen).expand()
    return {TrialKey(each.dataset, each.embedder, each.variant) for each in trials}


@pytest.mark.parametrize(
    ("paper", "trials", "datasets", "tables"),
    [
        (REPORT, f"{HASH}/default", "all 6", "1, 2, 3, 9, 11, 13, 15"),
        (REPORT, f"{HASH}/orth", "CoNLL nl, AnEM", "2, 3"),
        (REPORT, f"{FEWER}/seed9", "all 6", "seed 9"),
        ("hash-embeddings", "hash_ngram_textcat/default", "Small AG's News", "2, 3"),
        ("why-attention", "bilstm_char_cnn/att", "WNUT 2017, CoNLL es", "1, 3, 4"),
        ("why-attention", "bilstm_char_cnn/baseline_floret", "WNUT 2017", "1, 3, 4"),
        ("why-attention", "token_ner/default", "WNUT 2017, CoNLL es", "overview"),
        ("hashformers", f"{FEWER}/default", "all 2", "2, 3"),
    ],
)
def test_all_is_missing_at_first(paper, trials, datasets, tables):
    missing = find(paper)[trials]
    assert (missing.datasets, missing.tables) == (datasets, tables)


@pytest.mark.parametrize(
    ("paper", "n"),
    [(REPORT, 24), ("hash-embeddings", 14), ("why-attention", 16), ("hashformers", 10)],
)
def test_each_command_runs_what_is_missing_until_nothing_is(paper, n, tmp_path):
    write = write_accuracies if paper == "hash-embeddings" else write_f1
    missing = find(paper)
    assert len(missing) == n
    filled = {number for each in missing.values() for number in each.tables.split(", ")}
    numbers = {str(number) for number in (1, 2, 3, *range(7, 18))}
    assert filled == {
        REPORT: {*numbers, "seed 9"},
        "why-attention": {"1", "3", "4", "overview"},
    }.get(paper, {"2", "3"})
    about = read_paper(paper)
    names = {name: dataset for dataset, name in about.datasets.items()}
    for trials, each in missing.items():
        listed = each.datasets.split(", ")
        wanted = {names[name] for name in listed if name in names} or {*names.values()}
        for dataset in wanted:
            write(tmp_path, dataset, trials, [0.1] * 3)
        if trials.split("/")[1].startswith("rows"):
            # OntoNotes is licensed: its rows can't be shipped
            wanted -= {"ontonotes"}
        run_on = {key.dataset for key in run(each.command)}
        # all of them, or of a grid with others just these
        assert {"/".join(key[1:]) for key in run(each.command)} == {trials}
        assert wanted <= run_on
        assert not (run_on - wanted) & set(about.datasets)
    assert find(paper, tmp_path) == {}


def test_what_is_there_in_part_is_named_with_its_command(tmp_path):
    write_f1(tmp_path, "anem", f"{LOOKUP}/default", [0.1] * 3)
    write_f1(tmp_path, "wnut17", f"{LOOKUP}/default", [0.1] * 2)
    missing = find(REPORT, tmp_path)[f"{LOOKUP}/default"]
    assert missing.datasets == (
        "CoNLL es, CoNLL nl, WNUT2017 (2 of 3 seeds there), Archeology, OntoNotes"
    )
    assert missing.command == (
        "python -m lab sweep main --datasets "
        "conll2002_es,conll2002_nl,wnut17,archaeology,ontonotes --embedders "
        "multi_embed --variants default"
    )
    assert {key.dataset for key in run(missing.command)} == {
        *("conll2002_es", "conll2002_nl", "wnut17", "archaeology", "ontonotes")
    }
    # one more or one less would be told as progress
    assert len(find(REPORT, tmp_path)) == len(find(REPORT))


@pytest.mark.parametrize("paper", PAPERS)
def test_the_grids_train_what_has_a_name(paper):
    about = read_paper(paper)
    rows = [
        "/".join(row[:2]) for grid in read_grids(about).values() for row in grid.rows
    ]
    assert set(about.trials) <= set(rows)
    assert set(about.needed) <= set(rows)
    if paper == "hash-embeddings":
        assert {about.name_trials(row) for row in rows} == set(about.trials.values())
