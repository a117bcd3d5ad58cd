import json
from typing import Any

import numpy as np
import pytest
from spacy.language import Language
from spacy.strings import hash_string

from lab.importance.importance import list_importance
from tests.papers.hash_embeddings.toy_weighted import (
    TEXTS,
    get_layers,
    make_pipeline,
    set_weights,
)

WEIGHTS = {"coffee": [3.0, -4.0], "tea": [0.5, 0.5], "": [0.0, 2.0]}


@pytest.fixture
def nlp() -> Language:
    """Of coffee and tea in a dictionary."""
    nlp = make_pipeline()
    set_weights(nlp, WEIGHTS)
    return nlp


def weigh(nlp: Language, texts=None, **options) -> dict[str, Any]:
    docs = None if texts is None else (nlp.make_doc(text) for text in texts)
    data = list_importance(nlp, docs, **options)
    assert json.loads(json.dumps(data)) == data
    return data


def get_table(*args, **options) -> dict[str, Any]:
    (table,) = weigh(*args, **options)["tables"]
    return table


def get_names(rows: list[dict[str, Any]]) -> list[list[str | None]]:
    return [[value["name"] for value in row["values"]] for row in rows]


def test_symbols_of_a_dictionary_have_weights_of_their_own(nlp):
    table = get_table(nlp)
    coffee, tea = table["largest"]
    assert coffee == {
        "row": coffee["row"],
        # the root of (9 + 16) / 2
        "importance": pytest.approx(12.5**0.5),
        "weights": [3.0, -4.0],
        "count": None,
        "values": [
            {
                "name": "coffee",
                "key": str(hash_string("coffee")),
                "count": None,
                # 3 - 4 in each of four dimensions
                "vector_norm": pytest.approx(2.0),
            }
        ],
    }
    assert (tea["importance"], tea["values"][0]["name"]) == (0.5, "tea")
    assert {coffee["row"], tea["row"]} == {1, 2}
    del table["largest"]
    assert table == {
        "component": "tok2vec",
        "number": 1,
        "attr": "ORTH",
        "ngram_size": 1,
        "chosen_by": "dictionary",
        "num_hashes": 2,
        "rows": 3,
        "rows_reached": 2,
        "values": 2,
        "values_sharing_row": 0,
        "median_importance": pytest.approx((12.5**0.5 + 0.5) / 2),
        "unknown": {
            "row": 0,
            "importance": pytest.approx(2**0.5),
            "weights": [0.0, 2.0],
            "values": None,
            "count": None,
        },
        "smallest": [],
    }


def test_with_texts_what_they_have_is_listed_and_counted(nlp):
    data = weigh(nlp, [*TEXTS, "tea tea tea other"])
    assert data["texts"] == 4
    (table,) = data["tables"]
    assert [row["count"] for row in table["largest"]] == [3, 5]
    # the, rare, other
    assert (table["unknown"]["values"], table["unknown"]["count"]) == (3, 3)
    assert (table["values"], table["rows_reached"]) == (2, 2)
    table = get_table(nlp, ["tea tea tea other"])
    assert get_names(table["largest"]) == [["tea"]]
    table = get_table(nlp, [*TEXTS, "tea tea tea other"], min_count=4)
    assert get_names(table["largest"]) == [["tea"]]
    # of what is left out too
    assert (table["unknown"]["values"], table["unknown"]["count"]) == (3, 3)
    assert (table["values"], table["median_importance"]) == (2, 0.5)


def test_values_that_share_a_row_stand_together_the_most_frequent_first():
    nlp = make_pipeline(importance_rows=[1])
    get_layers(nlp)[0].set_param("P", np.array([[2.0, 2.0]], "f"))
    table = get_table(nlp, TEXTS)
    (row,) = table["largest"]
    assert (row["importance"], row["count"]) == (2.0, 7)
    named = [(value["name"], value["count"]) for value in row["values"]]
    assert named == [("coffee", 3), ("tea", 2), ("the", 1), ("rare", 1)]
    assert table["chosen_by"] == "hash"
    assert table["unknown"] is None
    sharing = table["values_sharing_row"]
    assert (table["rows"], table["values"], sharing) == (1, 4, 4)
    # however rare
    table = get_table(nlp, TEXTS, min_count=3)
    assert get_names(table["largest"]) == [["coffee", "tea", "the", "rare"]]
