"""Tables of results: what is put into them, and what damaged ones say."""

import json
from pathlib import Path
from typing import Any

import pytest

from lab.tests.recorded import write_result
from lab.trials.collected import collect_results
from lab.trials.results import read_results


@pytest.fixture
def metrics(tmp_path) -> Path:
    """Results of five trials of two corpora."""
    folder = tmp_path / "metrics"
    for seed in (10, 2):
        write_result(folder, "anem", "multi_hash_embed", "default", seed)
    write_result(folder, "anem", "multi_embed", "wide", model="é\u2028\ud800")
    write_result(folder, "anem", "multi_embed", "default", scores={"dev": {"x": 1e-7}})
    write_result(folder, "wnut17", "multi_embed", "default")
    return folder


@pytest.fixture
def tables(metrics, tmp_path) -> Path:
    """The same trials in tables."""
    assert collect_results(metrics, tmp_path / "tables") == (5, 0, 0)
    return tmp_path / "tables"


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def get_recorded(folder: Path) -> list[list[dict[str, Any]]]:
    groups = read_results(folder)
    return [[dict(result.recorded) for result in groups[key]] for key in groups]


def test_a_table_has_what_was_recorded_in_order(metrics, tables):
    assert sorted(path.name for path in tables.iterdir()) == [
        "anem.jsonl",
        "wnut17.jsonl",
    ]
    lines = read_lines(tables / "anem.jsonl")
    names = [f"{x['embedder']}/{x['variant']}/seed{x['seed']}" for x in lines]
    assert names == [
        *("multi_embed/default/seed0", "multi_embed/wide/seed0"),
        *("multi_hash_embed/default/seed2", "multi_hash_embed/default/seed10"),
    ]
    files = [metrics / "anem" / f"{name}.json" for name in names]
    # keys too are in the order in which they were written
    assert [*map(json.dumps, lines)] == [path.read_text() for path in files]
    assert get_recorded(tables) == get_recorded(metrics)


def test_a_trial_that_is_added_is_a_line(metrics, tables):
    before = (tables / "anem.jsonl").read_bytes().splitlines(keepends=True)
    untouched = (tables / "wnut17.jsonl").stat().st_mtime_ns
    new = metrics.with_name("new")
    write_result(new, "anem", "multi_hash_embed", "default", 3)
    assert collect_results(new, tables) == (1, 0, 0)
    after = (tables / "anem.jsonl").read_bytes().splitlines(keepends=True)
    assert after[:3] + after[4:] == before
    assert (tables / "wnut17.jsonl").stat().st_mtime_ns == untouched
    assert collect_results(metrics, tables) == (0, 0, 5)
    assert (tables / "anem.jsonl").read_bytes() == b"".join(after)


def test_only_force_replaces_other_results(metrics, tables):
    before = {path: path.read_bytes() for path in tables.iterdir()}
    write_result(metrics, "anem", "new", "default")
    path = write_result(
        metrics, "wnut17", "multi_embed", "default", scores={"dev": {"ents_f": 0.1}}
    )
    message = (
        rf"1 results in '{metrics}' are other .* as '{path}': '.*wnut17\.jsonl', "
        r"line 1, has others\. Replace them with --force"
    )
    with pytest.raises(FileExistsError, match=message):
        collect_results(metrics, tables)
    assert before == {path: path.read_bytes() for path in tables.iterdir()}
    assert collect_results(metrics, tables, force=True) == (1, 1, 4)
    assert read_lines(tables / "wnut17.jsonl") == [json.loads(path.read_text())]


def test_results_that_can_not_be_compared_are_not_collected(metrics, tables):
    new = metrics.with_name("new")
    write_result(new, "anem", "new", "default", corpus_hashes={"train": "x"})
    with pytest.raises(ValueError, match=r"new/.*', line 1, are results on different"):
        collect_results(new, tables)
    with pytest.raises(FileNotFoundError, match=r"no results of trials in '.*gone'"):
        collect_results(metrics.with_name("gone"), tables)


def test_a_table_that_has_a_trial_twice_is_left(metrics, tables):
    path = tables / "anem.jsonl"
    first, *others = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + first.replace(b"1e-07", b"1e-06") + b"".join(others))
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"line 2, .*line 1, hold results of the same"):
        collect_results(metrics, tables, force=True)
    assert path.read_bytes() == before


REMEDY = "Remove the line, run the trial again, and `python -m lab collect` it"
BROKEN = "should hold the results of a trial, but is damaged or of another kind:"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"", f"{BROKEN} Expecting value.*{REMEDY}"),
        (b'{"dataset": "anem"}', f"{BROKEN} 'embedder': Field required.*{REMEDY}"),
        (b"\x89PNG", f"{BROKEN} .* can't decode byte 0x89.*{REMEDY}"),
        ("other", rf"should be of anem, but holds the results of 'wnut17/m.*{REMEDY}"),
        ("first", r"and '.*anem\.jsonl', line 1, hold results of the same trial"),
    ],
)
def test_a_damaged_line_is_named(line, message, tables):
    path = tables / "anem.jsonl"
    lines = path.read_bytes().splitlines()
    others = {"first": lines[0], "other": (tables / "wnut17.jsonl").read_bytes()}
    lines[2] = others.get(line, line).strip()
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(ValueError, match=f"^'{path}', line 3, {message}") as error:
        read_results(tables)
    assert len(str(error.value)) < 500 + len(str(path))


def test_a_trial_is_not_counted_twice(metrics, tables):
    path = tables.joinpath("wnut17/multi_embed/default/seed0.json")
    path.parent.mkdir(parents=True)
    (metrics / path.relative_to(tables)).rename(path)
    message = rf"'.*wnut17\.jsonl', line 1, and '{path}' hold results of the same trial"
    with pytest.raises(ValueError, match=message):
        read_results(tables)
