"""docs/bloom-embeddings.md, with the script that computes it, and docs/vectors.md."""

import inspect
import re
from importlib import import_module
from types import ModuleType

import numpy as np
import pytest
from murmurhash import mrmr

from lab.vectors.floret import train_floret
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "bloom-embeddings.md"


@pytest.fixture(scope="module")
def bloom() -> ModuleType:
    """The script that computes the tables."""
    return import_module("lab.pages.bloom_embeddings")


def read_tables(markdown: str) -> list[str]:
    """The tables of a page, each as its lines."""
    blocks = markdown.split("\n\n")
    return [block.strip() for block in blocks if block.lstrip().startswith("|")]


def get_column(table: list[list[str]], i: int) -> list[str]:
    return [row[i] for row in table[1:]]


def test_the_tables_of_the_page_are_what_the_script_computes(bloom):
    page = PAGE.read_text(encoding="utf8")
    made = dict(bloom.make_tables())
    shown = [title for title in made if f"## {title}\n" in page]
    assert shown
    assert read_tables(page) == [made[title] for title in shown]


def test_the_first_table_holds_what_the_blog_asserts(bloom):
    # Its own assertions, with mmh3.hash.
    table = bloom.tabulate_words()
    assert get_column(table, 0) == bloom.WORDS
    rows = [3, 6, 4, 13, 8, 3, 13, 1, 9, 12, 11, 4, 2, 13, 5, 10, 0, 2, 10, 13]
    assert get_column(table, 1) == list(map(str, rows))
    firsts, seconds = get_column(table, 1), get_column(table, 2)
    assert set(range(15)) - set(map(int, firsts)) == {7, 14}
    assert len(set(seconds)) == 12
    assert len(set(zip(firsts, seconds, strict=True))) == 20
    words = dict(zip(bloom.WORDS, zip(firsts, seconds, strict=True), strict=True))
    assert words["juice"] == ("13", "2")
    assert words["service"] == ("2", "13")
    assert [word for word in words if words[word][0] == "13"] == [
        *("juice", "eat", "burger", "chef")
    ]
    # Equal sums are printed as equal vectors.
    sums, vectors = get_column(table, 3), get_column(table, 4)
    assert len(set(sums)) == len(set(vectors)) == 19
    assert sums.index("row 2 + row 13") == vectors.index("-0.017 -0.023") == 3


def test_sums_are_not_unique_whatever_the_seeds(bloom):
    rows = dict(zip(get_column(bloom.tabulate_counts(), 0), range(6), strict=True))
    table = bloom.tabulate_counts()[1:]
    assert table[rows["distinct pairs of rows"]][1:] == ["20", "18"]
    assert table[rows["distinct sums of two rows"]][1:] == ["19", "17"]
    assert table[rows["words with the same sum"]][1:] == [
        "juice = service",
        "apple = caviar, juice = burger, ketchup = service",
    ]
    misfits = [float(cell) for cell in table[rows["misfit of the printed vectors"]][1:]]
    # Printed with three digits: a fit can't do better than half the last, nor worse.
    assert misfits[0] <= 0.0005
    assert misfits[1] > 0.05


def test_the_chance_of_being_apart_is_that_of_the_birthday_problem(bloom):
    expected = np.prod(1 - np.arange(20) / 225)
    assert bloom.expect_apart(np.full(225, 1 / 225)) == pytest.approx(expected)
    # Unequal chances, by simulation of the two rows themselves.
    rng = np.random.default_rng(0)
    draws = np.sort(rng.integers(15, size=(20_000, 20, 2)), axis=2)
    codes = np.sort(draws[..., 0] * 15 + draws[..., 1], axis=1)
    is_apart = (np.diff(codes, axis=1) != 0).all(axis=1)
    said = float(get_column(bloom.tabulate_luck(), 2)[1].rstrip("%"))
    assert said == pytest.approx(100 * is_apart.mean(), abs=1.0)


def test_the_simulation_gives_the_losses_of_the_blog_s_code(bloom):
    # Written as in the blog, for one seed of the random numbers.
    rng = np.random.RandomState(0)
    words = [str(i) for i in range(20)]
    true_vectors = rng.uniform(-0.1, 0.1, (20, 2))
    hash_vectors = rng.uniform(-0.1, 0.1, (15, 2))
    examples = list(zip(words, true_vectors, strict=True))
    for _ in range(20):
        rng.shuffle(examples)
        loss = 0.0
        for word, truth in examples:
            key1, key2 = mrmr.hash(word, 0) % 15, mrmr.hash(word, 1) % 15
            diff = hash_vectors[key1] + hash_vectors[key2] - truth
            hash_vectors[key1] -= 0.001 * diff
            hash_vectors[key2] -= 0.001 * diff
            loss += (diff**2).sum()
    assert bloom.simulate(2, 0)[0] == pytest.approx(loss)


def test_the_best_fit_is_where_gradient_descent_ends(bloom):
    rng = np.random.default_rng(0)
    truth = rng.uniform(-0.1, 0.1, (20, 2))
    rows = bloom.hash_words(1, 2)  # one word has the same row twice
    table = np.zeros((15, 2))
    for _ in range(5000):
        d_sums = table[rows].sum(axis=1) - truth
        np.subtract.at(table, rows, 0.05 * d_sums[:, None])
    learned = table[rows].sum(axis=1)
    np.testing.assert_allclose(bloom.fit(rows, truth), learned, atol=1e-4)


def test_hash_embed_s_rows_are_those_that_the_blog_prints(bloom):
    table = bloom.tabulate_hash_rows()
    assert table[1:] == [
        ["apple", "8566208034543834098", "6, 4, 11, 14", "0.103 0.101"],
        ["strawberry", "11202628424926476707", "5, 3, 2, 11", "0.023 0.169"],
        ["orange", "2208928596161743350", "5, 6, 4, 11", "0.157 0.124"],
        ["juice", "5041695539596503283", "14, 6, 5, 9", "0.132 0.148"],
    ]


def test_the_defaults_of_vectors_md_are_those_of_the_function():
    page = PAGE.with_name("vectors.md").read_text(encoding="utf8")
    (table,) = read_tables(page)
    stated = {}
    for row in table.splitlines()[2:]:
        options, defaults, _ = row.strip("| ").split(" | ", 2)
        names = [
            name.replace("-", "_") for name in re.findall(r"`--([\w-]+)`", options)
        ]
        stated |= dict(zip(names, defaults.split(", "), strict=True))
    parameters = inspect.signature(train_floret).parameters.values()
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    assert defaults.pop("mode") == "floret"
    assert defaults.pop("show_progress") is False  # decided by the command
    assert stated == {name: str(default) for name, default in defaults.items()}
