import json
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.strings import hash_string

from lab.importance.importance import list_importance
from lab.importance.tables import find_tables
from tests.toy_weighted import TEXTS, get_layers, make_pipeline, set_weights

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


def test_the_smallest_come_first_among_the_smallest_and_nothing_comes_twice():
    texts = ["a b c d e"] * 2
    nlp = make_pipeline(texts)
    # the sign does not matter
    sizes = {"a": 2, "b": -5, "c": 0.1, "d": -0.5, "e": 1}
    set_weights(nlp, {word: [size, size] for word, size in sizes.items()})
    table = get_table(nlp, top=2)
    assert get_names(table["largest"]) == [["b"], ["a"]]
    assert get_names(table["smallest"]) == [["c"], ["d"]]
    table = get_table(nlp, top=4)
    assert get_names(table["largest"]) == [["b"], ["a"], ["e"], ["d"]]
    assert get_names(table["smallest"]) == [["c"]]


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


def test_there_may_be_unknown_values_alone(nlp):
    table = get_table(nlp, ["other others"])
    assert table["largest"] == table["smallest"] == []
    assert table["median_importance"] is None
    assert table["unknown"]["values"] == 2
    table = get_table(make_pipeline(["once upon a time"]))
    assert (table["rows"], table["values"], table["largest"]) == (1, 0, [])


def test_names_that_the_pipeline_has_forgotten_are_found_in_texts(nlp):
    layer = get_layers(nlp)[0]
    key = hash_string("elsewhere")
    layer.attrs["symbols"] = np.sort(np.array([key, hash_string("tea")], "uint64"))
    table = get_table(nlp)
    assert {name for (name,) in get_names(table["largest"])} == {"tea", None}
    table = get_table(nlp, ["found elsewhere"])
    assert get_names(table["largest"]) == [["elsewhere"]]


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


def test_rare_values_that_share_a_row_are_not_frequent_together():
    nlp = make_pipeline(importance_rows=[2])
    words = [f"w{i}" for i in range(12)]
    first, second = get_names(get_table(nlp, [" ".join(words)], top=2)["largest"])
    assert min(len(first), len(second)) > 2
    for names, others in ((first, second), (second, first)):
        text = " ".join([*names, *names[:1] * 2, *others])
        table = get_table(nlp, [text], top=2, min_count=3)
        assert get_names(table["largest"]) == [names]
        assert table["smallest"] == []


def test_equals_stand_in_the_order_of_their_frequency():
    nlp = make_pipeline(importance_rows=[10_000])
    table = get_table(nlp, TEXTS, top=2)
    assert get_names(table["largest"]) == [["coffee"], ["tea"]]
    assert get_names(table["smallest"]) == [["the"], ["rare"]]
    table = get_table(nlp, [" ".join(f"w{i}" for i in range(30))])
    assert len(table["largest"]) == len(table["smallest"]) == 10


@pytest.mark.parametrize("combine", ["sum", "concat"])
def test_weights_beside_a_vector_do_not_make_it_longer(combine):
    nlp = make_pipeline(combine=combine, append_weights=True)
    set_weights(nlp, {"coffee": [3.0, -4.0]})
    (value,) = get_table(nlp, ["coffee"])["largest"][0]["values"]
    # of four dimensions each: 3 - 4 added up, or 3 and -4 side by side
    squares = {"sum": 4 * 1.0, "concat": 4 * (9.0 + 16.0)}
    assert value["vector_norm"] == pytest.approx(squares[combine] ** 0.5)


def test_each_table_is_listed_or_that_of_one_attribute():
    attrs = ["ORTH", "LENGTH", "SHAPE", "ORTH"]
    nlp = make_pipeline(attrs=attrs, importance_rows=[9] * 4)
    tables = weigh(nlp, TEXTS)["tables"]
    assert [table["attr"] for table in tables] == attrs
    assert [table["number"] for table in tables] == [1, 1, 1, 2]
    assert weigh(nlp, TEXTS, attr="shape")["tables"] == tables[2:3]
    # what is no text is a number
    values = [value for row in tables[1]["largest"] for value in row["values"]]
    assert {value["name"] for value in values} == {"3", "4", "6"}


def test_tables_of_disabled_components_are_found_beside_such_without_a_model(nlp):
    nlp.add_pipe("sentencizer", first=True)
    nlp.disable_pipe("tok2vec")
    assert [table.component for table in find_tables(nlp)] == ["tok2vec"]


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        (TEXTS, {"top": 0}, "'top' should be 1 or more, but is 0"),
        (TEXTS, {"min_count": 0}, "'min_count' should be 1 or more, but is 0"),
        (None, {"min_count": 2}, r"'min_count' is 2, but .* no texts.*--texts"),
        ([], {}, r"no value of ORTH\. Give others"),
        (TEXTS, {"min_count": 9}, r"no value of ORTH 9 times or more\. Give others"),
        (None, {"attr": "NORM"}, r"importance weights \(ORTH\), but is 'NORM'"),
    ],
)
def test_what_can_not_be_listed_is_refused(nlp, texts, options, message):
    with pytest.raises(ValueError, match=message):
        weigh(nlp, texts, **options)


def test_weights_are_refused_that_are_not_there_or_hashed_without_texts(nlp):
    untrained = type(nlp).from_config(nlp.config)
    with pytest.raises(ValueError, match="'tok2vec' has no weights yet"):
        weigh(untrained)
    nlp = make_pipeline(attrs=["ORTH", "SHAPE"], importance_rows=[5, 5])
    message = r"weights for ORTH, SHAPE are chosen by hashing.* Give texts .*--texts"
    with pytest.raises(ValueError, match=message):
        weigh(nlp)


def test_a_pipeline_without_weights_is_told_what_it_has():
    nlp = spacy.blank("en")
    with pytest.raises(ValueError, match="but has no model"):
        weigh(nlp)
    options = {"exclusive_classes": True, "ngram_size": 1, "no_output_layer": False}
    model = {"@architectures": "spacy.TextCatBOW.v3", **options}
    nlp.add_pipe("textcat", config={"model": model})
    with pytest.raises(ValueError, match=r"has spacy\.TextCatBOW\.v3\. Train one"):
        weigh(nlp)
    nlp.add_pipe("textcat_multilabel")
    message = r"has spacy\.MultiHashEmbed\.v2\. Train one .*MultiWeightedHashEmbed"
    with pytest.raises(ValueError, match=message):
        weigh(nlp)


@pytest.mark.parametrize("column", [5, 0, "x", None])
def test_what_a_table_embeds_is_what_it_embeds_in_use(column):
    nlp = make_pipeline(attrs=("ORTH", "SHAPE"))
    expected = weigh(nlp)
    get_layers(nlp)[1].attrs["column"] = column
    assert weigh(nlp) == expected
