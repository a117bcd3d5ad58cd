"""docs/results.md, with the trials behind it in lab/results/."""

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from scipy.stats import t as student

from lab.papers.multi_hash_embeddings import FEWER, HASH, LOOKUP
from lab.papers.page import make_page, write_page
from lab.trials.results import (
    ABLATION,
    ATTENTION,
    Groups,
    PartScore,
    TrialKey,
    find_misnamed,
    read_results,
    select_task,
)
from spacy_hashembeds.evaluation.bootstrap import Draws, compare_scores
from spacy_hashembeds.evaluation.counts import score_counts
from spacy_hashembeds.evaluation.tasks import NER
from tests.conftest import ROOT

from .trials.test_results import write_categories

PAGE = ROOT / "docs" / "results.md"
FOLDER = ROOT / "lab" / "results"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script that fills the page."""
    return import_module("lab.pages.results")


def test_the_tables_of_the_page_are_those_of_the_trials(script):
    page = PAGE.read_text(encoding="utf8")
    measured = map(script.read_measured, (script.PAIRS, script.MISSPELLINGS))
    tables = script.make_tables(read_results(FOLDER), *measured)
    assert script.fill(page, tables) == page


def test_the_p_values_of_the_page_are_those_of_the_counts(script):
    pairs = import_module("lab.pages.pairs")
    assert pairs.compare_pairs(read_results(FOLDER)) == script.read_measured(
        script.PAIRS
    )


def test_the_pipelines_that_evaluate_compares_are_those_of_the_counts():
    pairs = import_module("lab.pages.pairs")
    groups = read_results(FOLDER)
    ours, theirs = (
        pairs.read_counts(groups[TrialKey("wnut17", embedder, "steps2400")])[0]
        for embedder in ("multi_embed", "multi_hash_embed")
    )
    page = PAGE.with_name("evaluate.md").read_text(encoding="utf8")
    shown = [line.split() for line in page.splitlines()]
    found = compare_scores(ours, theirs, Draws(samples=5000, seed=0))[0]
    both = [100 * score_counts(counts.sum(axis=0)[0]) for counts in (ours, theirs)]
    for key, score, other in zip("prf", *both, strict=True):
        tested = getattr(found, key)
        low, high = (100 * bound for bound in tested.interval)
        row = f"{score:.2f} {other:.2f} {score - other:+.2f} {low:.1f}..{high:.1f}"
        for kind in ("All", "Unseen"):
            expected = [kind, key.upper(), *row.split(), f"{tested.p_value:.4f}"]
            assert expected in shown


def read_entities() -> Groups:
    """The trials that were scored on entities."""
    return select_task(read_results(FOLDER), NER)


def test_a_table_follows_the_trials(script):
    groups = read_entities()
    key = next(iter(groups))
    first = groups[key][0]
    first.scores["test"]["ents_f"] = 0.123456
    table = script.make_table("trials", {key: [first]})
    assert "| 12.3 |" in table


def test_a_page_without_a_place_for_a_table_is_refused(script):
    with pytest.raises(ValueError, match="one place for the table 'trials'"):
        script.fill("# Results\n", {"trials": "| a |"})


def test_trials_without_a_name_in_the_table_are_refused(script):
    groups = read_results(FOLDER)
    key, results = next(iter(groups.items()))
    other = key._replace(variant="mine")
    with pytest.raises(ValueError, match=f"{key.dataset}/{key.embedder}/mine has no"):
        script.make_tables({other: results})


def test_text_classifiers_have_a_table_of_their_own(script, tmp_path):
    write_categories(tmp_path, "ag_news_small", "textcat_bow", "default")
    groups = read_results(FOLDER)
    entities = {
        key: groups[key] for key in groups if key.dataset in script.PLAN["corpora"]
    }
    tables = script.make_tables({**entities, **read_results(tmp_path)})
    without = script.make_tables(entities)
    changed = [name for name in tables if tables[name] != without[name]]
    assert changed == ["text classification"]
    assert "spaCy's `TextCatBOW` (`textcat_bow`)" in tables["text classification"]


def list_keys(script: ModuleType, table: str) -> list[TrialKey]:
    """List what a table may have of WNUT 2017."""
    rows = script.TABLES[table]["rows"]
    return [TrialKey("wnut17", *trials.split("/")) for trials in rows]


def test_tables_of_equal_size_are_compared(script):
    results = next(iter(read_entities().values()))
    keys = list_keys(script, "equal sizes") + list_keys(script, "where weights begin")
    tables = script.make_tables(dict.fromkeys(keys, results))
    lines = tables["equal sizes"].splitlines()
    assert len(lines) == 2 + 10
    assert lines[2].startswith("| WNUT 2017 | as lookup with min_freq 2 | hash, 2 ")
    begin = [line.split(" | ")[1] for line in tables["where weights begin"].split("\n")]
    assert begin == ["weights begin", "---", "near 0", "at 1"]


def test_parameters_of_tables_are_those_that_trials_record(script):
    result = next(iter(read_entities().values()))[0]
    # older trials: 1,311,072 less what mixes tables of 12,500 rows
    for n, mixing, expected in ((12, 5, 7), (1_311_072, None, 12_500 * 96)):
        result = replace(result, embedding_parameters=n, mixing_parameters=mixing)
        assert script.count_table_parameters(result) == expected


def make_seeds(*f1: float, **key: str) -> dict[TrialKey, list[Any]]:
    """Trials with so many seeds, of these scores."""
    result = next(iter(read_entities().values()))[0]
    key = {"dataset": "wnut17", "variant": "steps2400", **key}
    scores: list[Mapping[str, Any]] = [{"test": {"ents_f": value}} for value in f1]
    results = [replace(result, seed=i, scores=s) for i, s in enumerate(scores)]
    return {TrialKey(**key): results}


def test_seeds_are_apart_by_their_deviation(script):
    groups = make_seeds(0.10, 0.14, 0.12, embedder=HASH)
    groups |= make_seeds(0.3, embedder=LOOKUP)
    again = make_seeds(0.105, 0.13, embedder=HASH, variant="steps2400_again")
    first, second = script.make_table("noise", {**groups, **again}).splitlines()[2:]
    name, *cells = first.strip("| ").split(" | ")[1:]
    assert name == "hash, 4 hashes (`multi_hash_embed`)"
    assert cells == ["3", "12.0", "2.0", "10.0", "14.0", "1.0"]
    none = script.NONE
    cells = second.strip("| ").split(" | ")[2:]
    assert cells == ["1", "30.0", none, "30.0", "30.0", none]


def test_means_have_to_be_apart_by_t_of_the_deviations_in_common(script):
    groups = make_seeds(0.10, 0.14, 0.12, embedder=HASH)
    groups |= make_seeds(0.30, 0.34, embedder=LOOKUP)
    groups |= make_seeds(0.5, embedder=LOOKUP, variant="steps2400_averaged")
    (row,) = script.make_limit_table(groups).splitlines()[2:]
    # squares of 0.02 twice, and of 0.02 twice, by two degrees of freedom and one
    deviation = (16e-4 / 3) ** 0.5
    t = student.ppf(0.975, 3)
    expected = [t * deviation * (2 / n) ** 0.5 for n in (1, 2, 3, 5)]
    cells = [f"{100 * value:.1f}" for value in (deviation, *expected)]
    assert row.strip("| ").split(" | ") == ["WNUT 2017", "5", *cells]


def test_pairs_stand_with_both_p_values(script):
    tested = {"difference": -0.0123, "p_value": 0.0002, "adjusted_p_value": 0.0121}
    pair = {
        "dataset": "anem",
        "first": ["multi_embed", "tenth"],
        "second": [FEWER, "tenth"],
        "seeds": [0, 3],
        "differences": {"all": tested, "seen": None, "unseen": tested},
    }
    (row,) = script.make_pair_table([pair]).splitlines()[2:]
    minus = "\N{MINUS SIGN}"
    cell = f"{minus}1.2 (p < 0.001; Holm = 0.012)"
    assert row.strip("| ").split(" | ") == [
        *("AnEM", "a tenth of spaCy's", f"lookup {minus} hash, 2 hashes"),
        *(cell, script.NONE, cell, "2"),
    ]


def test_hashformers_stand_beside_hash_embeddings_of_their_corpora(script):
    results = next(iter(read_entities().values()))
    keys = list_keys(script, "hashformers")
    others = [TrialKey("conll2002_nl", FEWER, "default")]
    tables = script.make_tables(dict.fromkeys([*keys, *others], results))
    lines = tables["hashformers"].splitlines()
    assert [line.split(" | ")[1] for line in lines[2:]] == [
        *("LSH, Proj", "LSH, Add", "LSH, Pool", "LSH, Emb, 1,037 rows"),
        *("MD5, Proj", "MD5, Add", "MD5, Pool", "MD5, Emb, 1,037 rows"),
        "hash, 4 hashes, as large as Proj",
        "hash, 1 hash (`multi_fewer_hash_embed`)",
        "hash, 4 hashes (`multi_hash_embed`)",
    ]
    assert {line.split(" | ")[0] for line in lines[2:]} == {"| WNUT 2017"}


def test_encoders_are_compared_by_length_and_by_type(script):
    result = next(iter(read_entities().values()))[0]
    parts = {
        "length": {"1": PartScore(0.1234, 5), "2": PartScore(None, 0)},
        "type": {"LOC": PartScore(0.5, 3), "PER": PartScore(0.25, 3)},
    }
    new = replace(result, parts={"test": parts})
    older = replace(new, parts={"test": {"type": parts["type"], "length": {}}})
    keys = list_keys(script, "encoders")[:-1]
    groups = {key: [new] for key in keys}
    groups[TrialKey("conll2002_es", "bilstm_char_cnn", "att")] = [new, older]
    *rows, last = script.make_table("encoders", groups).splitlines()[2:]
    assert len(rows) == len(keys)
    none = [script.NONE]
    assert all(" | ".join(["12.3", *none * 3, "1"]) in row for row in rows)
    # of two seeds, one was recorded without lengths
    assert " | ".join([*none * 4, "2"]) in last
    printed = [row for row in rows if "*4" in row]
    assert [row.split(" | ")[3:6:2] for row in printed] == [
        [name, f"*{f1}*"] for name, f1 in script.PLAN["paper"].items()
    ] * 2  # without vectors, and with
    by_type = script.make_type_table(groups, "conll2002_es").splitlines()
    assert by_type[0] == "| NER | embedding | encoder | LOC | PER |"
    assert by_type[2].endswith(" | Att-BiLSTM | 50.0 ± 0.0 | 25.0 ± 0.0 |")


def make_measured(seed: int, lost: float, **changes: Any) -> dict[str, Any]:
    """The scores of a pipeline, as lab/pages/misspellings.py writes them."""

    def make(score: float) -> dict[str, dict[str, float]]:
        return {"all": {"f": score}, "unseen": {"r": score / 2}}

    measured = {"dataset": "wnut17", "embedder": "multi_embed", "variant": "equal"}
    scores = {"scores": make(0.5), "misspelt": [make(0.4 - lost), make(0.4 + lost / 2)]}
    return {**measured, "seed": seed, **scores, **changes}


def test_what_misspellings_cost_is_the_mean_of_copies_and_seeds(script):
    rows = [make_measured(0, 0.0), make_measured(1, 0.24)]
    rows.append(make_measured(0, 0.0, dataset="conll2002_es"))
    first, second = script.make_misspelling_table(rows).splitlines()[2:]
    cells = ["50.0 ± 0.0", "37.0 ± 3.0", "13.0 ± 3.0"]
    cells += [script.NONE] * 3  # without entities that were seen
    cells += ["25.0 ± 0.0", "18.5 ± 1.5", "6.5 ± 1.5", "2"]
    assert first.strip("| ").split(" | ")[4:] == cells
    assert first.startswith("| WNUT 2017 | lookup (`multi_embed`), as lookup ")
    assert second.startswith("| CoNLL 2002 Spanish | lookup (`multi_embed`), ")
    assert " | 50.0 | 40.0 | 10.0 | " in second


def test_misspelt_pipelines_without_a_name_in_the_table_are_refused(script):
    with pytest.raises(ValueError, match="multi_embed/mine has no name"):
        script.make_misspelling_table([make_measured(0, 0.0, variant="mine")])


def test_sizes_are_drawn(script, tmp_path):
    script.draw_sizes(read_results(FOLDER), tmp_path / "sizes.png")
    assert (tmp_path / "sizes.png").read_bytes().startswith(b"\x89PNG")


def test_every_file_is_a_result():
    assert find_misnamed(FOLDER) == []
    beside = (ABLATION, ATTENTION)
    files = [path for path in FOLDER.rglob("*") if path.is_file()]
    n_files = sum(path.name not in beside for path in files)
    assert n_files == sum(map(len, read_results(FOLDER).values()))


def test_the_report_is_filled_from_them(tmp_path):
    report = make_page(FOLDER)
    write_page(report, tmp_path / "report.html")
    assert report.n_results == sum(map(len, read_entities().values()))
    assert "CoNLL nl" in (tmp_path / "report.html").read_text(encoding="utf8")


def test_the_ladder_is_drawn_with_a_rung_for_each_row(script, monkeypatch):
    ladder = import_module("lab.pages.ladder")
    drawn = {}
    draw_panel = ladder._draw_panel
    monkeypatch.setattr(
        ladder,
        "_draw_panel",
        lambda panel, rungs: (
            drawn.update({len(drawn): panel}) or draw_panel(panel, rungs)
        ),
    )
    assert ladder.draw_ladder(read_results(FOLDER)).startswith(b"\x89PNG")
    wnut, anem, *_ = drawn.values()
    labels = [label.get_text() for label in wnut.get_yticklabels()]
    names = script.TABLES["ladder"]["rows"].values()
    assert set(labels) <= {name.replace("`", "") for (name,) in names}
    # all entities of WNUT 2017 are unseen
    assert len(wnut.get_legend_handles_labels()[1]) == 1
    assert len(anem.get_legend_handles_labels()[1]) == 3
