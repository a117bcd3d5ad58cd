import pytest

from spacy_hashembeds.experiments.grid import read_grid
from spacy_hashembeds.experiments.layouts import DATASET_NAMES
from spacy_hashembeds.experiments.missing import find_missing
from spacy_hashembeds.experiments.results import read_results

from ..conftest import ROOT
from .test_results import write_seeds

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


def test_seed_9_is_missing_where_we_are_at_work(tmp_path):
    assert not any(missing.variant == "seed9" for missing in find_missing({}))
    for dataset in ("anem", "wnut17", "demo"):
        write_seeds(tmp_path, dataset, LOOKUP, "default", [0.1])
    write_seeds(tmp_path, "anem", FEWER, "seed9", [0.1, 0.2, 0.3])
    missing = find(read_results(tmp_path), FEWER, "seed9")
    assert missing.seeds == {"wnut17": 0}
    assert missing.tables == ()


def test_the_grid_that_is_named_has_the_trials(tmp_path):
    write_seeds(tmp_path, "anem", LOOKUP, "default", [0.1])
    for missing in find_missing(read_results(tmp_path)):
        path = ROOT / missing.grid
        rows = {(row.embedder, row.variant): row for row in read_grid(path).rows}
        row = rows[missing.embedder, missing.variant]
        # OntoNotes is licensed: its rows can't be shipped
        assert set(missing.seeds) - {"ontonotes"} <= set(row.overrides)


def test_nothing_is_missing_in_the_end(tmp_path):
    for missing in find_missing({}):
        for dataset in missing.seeds:
            write_seeds(tmp_path, dataset, missing.embedder, missing.variant, [0.1] * 3)
    for dataset in DATASET_NAMES:
        write_seeds(tmp_path, dataset, FEWER, "seed9", [0.1] * 3)
    assert find_missing(read_results(tmp_path)) == []
    with pytest.raises(ValueError, match="not enough values"):
        find(read_results(tmp_path), HASH, "default")
