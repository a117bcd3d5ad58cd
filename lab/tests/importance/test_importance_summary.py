from typing import Any

import pytest
from wasabi import Printer

from lab.importance.importance import list_importance
from lab.importance.summary import name_row, name_table, summarize
from spacy_hashembeds.display import show
from tests.toy_weighted import TEXTS, make_pipeline, set_weights


def make_row(*names: str | None) -> dict[str, Any]:
    return {"values": [{"name": name, "key": "12345678901"} for name in names]}


def print_summary(data: dict[str, Any]) -> str:
    printer = Printer(no_print=True, pretty=False)
    return show(summarize(data), printer)


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["word"], "word"),
        (["two words", "it's"], "two words, it's"),
        (["a" * 24], "a" * 24),
        (["a" * 25], "a" * 23 + "…"),
        ([","], "','"),
        (["\n"], r"'\n'"),
        (["\x1b[2J"], r"'\x1b[2J'"),
        (["a\u200bb"], r"'a\u200bb'"),
        ([""], "''"),
        ([" x"], "' x'"),
        ([None], "#12345678901"),
        (["a" * 20, "b" * 20, "c"], "a" * 20 + " +2"),
        ([*"abcdefghijklmnop"], "a, b, c, d, e, f, g, h, i, j, k +5"),
    ],
)
def test_names_of_a_row_are_clear_and_short(names, shown):
    assert name_row(make_row(*names)) == shown


@pytest.mark.parametrize(
    ("ngram_size", "number", "title"),
    [
        (1, 1, "NORM in 'tok2vec'"),
        (3, 1, "NORM, 1 to 3 words, in 'tok2vec'"),
        (1, 2, "NORM in 'tok2vec' (2)"),
    ],
)
def test_a_table_is_named_by_what_it_is_of(ngram_size, number, title):
    table = {"attr": "NORM", "ngram_size": ngram_size, "number": number}
    assert name_table({**table, "component": "tok2vec"}) == title


def test_a_dictionary_is_shown_without_counts_where_there_are_no_texts():
    nlp = make_pipeline()
    set_weights(nlp, {"coffee": [3.0, -4.0], "tea": [0.0005, 0.0005], "": [2.0, 2.0]})
    text = print_summary(list_importance(nlp))
    assert "ORTH in 'tok2vec'" in text
    assert "2 symbols, each with weights of its own. Median importance: 1.768." in text
    assert "All other values share one row: 2.000." in " ".join(text.split())
    rows = [line.split() for line in text.splitlines()]
    assert ["Largest", "Weights", "Vector", "Values"] in rows
    assert ["3.536", "+3.000", "-4.000", "2.000", "coffee"] in rows
    # small weights are not rounded away
    assert ["0.0005000", "+5e-04", "+5e-04", "0.002000", "tea"] in rows


def test_it_is_said_how_many_values_share_hashed_rows():
    nlp = make_pipeline(importance_rows=[1])
    text = print_summary(list_importance(nlp, map(nlp.make_doc, TEXTS)))
    said = " ".join(text.split())
    assert (
        "4 values have 1 of 1 rows of weights, chosen by hashing; 4 of them share "
        "theirs with others." in said
    )
    assert "7 coffee, tea, the, rare" in said
    # there is nothing left to be the smallest
    assert "Smallest" not in said
