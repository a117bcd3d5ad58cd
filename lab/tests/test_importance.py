import json
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.strings import hash_string
from spacy.tokens import Doc
from thinc.api import NumpyOps

from lab.importance import KeyReader, find_tables, list_importance
from lab.tests.calling import succeed
from tests import toy_classifiers

from .toy_weighted import TEXTS, get_layers, make_pipeline, set_weights

WEIGHTS = {"coffee": [3.0, -4.0], "tea": [0.5, 0.5], "": [0.0, 2.0]}


@pytest.fixture
def nlp() -> Language:
    """A pipeline with coffee and tea in a dictionary."""
    nlp = make_pipeline()
    set_weights(nlp, WEIGHTS)
    return nlp


def get_table(nlp: Language, texts=None, **options) -> dict[str, Any]:
    docs = None if texts is None else (nlp.make_doc(text) for text in texts)
    (table,) = list_importance(nlp, docs, **options)["tables"]
    return table


def get_names(rows: list[dict[str, Any]]) -> list[list[str | None]]:
    return [[value["name"] for value in row["values"]] for row in rows]


def test_symbols_of_a_dictionary_have_their_own_weights(nlp):
    table = get_table(nlp)
    coffee, tea = table.pop("largest")
    (value,) = coffee["values"]
    assert (coffee["weights"], coffee["count"]) == ([3.0, -4.0], None)
    assert coffee["importance"] == pytest.approx(12.5**0.5)  # root of (9 + 16) / 2
    assert (value["name"], value["key"]) == ("coffee", str(hash_string("coffee")))
    assert value["vector_norm"] == pytest.approx(2.0)  # 3 - 4 in four dimensions
    assert (tea["importance"], tea["values"][0]["name"]) == (0.5, "tea")
    assert {coffee["row"], tea["row"]} == {1, 2}
    expected = {"component": "tok2vec", "attr": "ORTH", "ngram_size": 1}
    expected |= {"chosen_by": "dictionary", "rows": 3, "rows_reached": 2, "values": 2}
    expected |= {"values_sharing_row": 0, "smallest": []}
    expected["median_importance"] = pytest.approx((12.5**0.5 + 0.5) / 2)
    assert table == {**expected, "unknown_importance": pytest.approx(2**0.5)}


def test_values_of_texts_are_listed_and_counted(nlp):
    texts = [*TEXTS, "tea tea tea other"]
    table = get_table(nlp, texts, top=1)
    listed = [*table["largest"], *table["smallest"]]
    assert [row["count"] for row in listed] == [3, 5]
    assert (table["values"], table["rows_reached"]) == (2, 2)
    assert get_names(get_table(nlp, texts[-1:])["largest"]) == [["tea"]]
    with pytest.raises(ValueError, match="'attr'"):
        get_table(nlp, attr="norm")


def test_values_that_share_a_row_are_sorted_by_frequency():
    nlp = make_pipeline(importance_rows=[1])
    get_layers(nlp)[0].set_param("P", np.array([[2.0, 2.0]], "f"))
    with pytest.raises(ValueError, match="--texts"):
        get_table(nlp)
    table = get_table(nlp, TEXTS)
    (row,) = table["largest"]
    assert (row["importance"], row["count"]) == (2.0, 7)
    named = [(value["name"], value["count"]) for value in row["values"]]
    assert named == [("coffee", 3), ("tea", 2), ("the", 1), ("rare", 1)]
    expected = {"chosen_by": "hash", "unknown_importance": None, "rows": 1}
    assert {**expected, "values": 4, "values_sharing_row": 4}.items() <= table.items()


@pytest.mark.parametrize(
    ("size", "names"), [(1, ["a", "b", "c"]), (2, ["a", "a b", "b", "b c", "c"])]
)
def test_ngrams_are_spelt_in_the_order_of_their_keys(size, names):
    nlp = toy_classifiers.make_pipeline(toy_classifiers.make_config())
    ((component, found, _),) = find_tables(nlp)
    assert component == "textcat"
    assert not found.has_unknown
    doc = Doc(nlp.vocab, words=["A", "!", "b", " ", "C"])
    reader = KeyReader("LOWER", size, include_punctuation=False)
    assert reader.spell(doc) == names
    for name, key in zip(names, reader.read(doc).tolist(), strict=True):
        words = np.array([hash_string(word) for word in name.split()], "uint64")
        assert key == (NumpyOps().ngrams(2, words) if len(words) == 2 else words)[0]
    assert KeyReader("ORTH").spell(doc) == ["A", "!", "b", " ", "C"]


def test_the_command_reads_several_kinds_of_texts(nlp, tmp_path, capfd):
    nlp.to_disk(tmp_path / "dictionary")
    make_pipeline(importance_rows=[5]).to_disk(tmp_path / "hashed")
    (tmp_path / "a.txt").write_text("\n".join(TEXTS))
    (tmp_path / "b.jsonl").write_text('{"text": "tea for two"}\n')
    texts = ["--texts", tmp_path / "a.txt", "--texts", tmp_path / "b.jsonl"]
    succeed("importance", tmp_path / "hashed", *texts, "--json", "--top", 3)
    loaded = spacy.load(tmp_path / "hashed")
    docs = map(loaded.make_doc, [*TEXTS, "tea for two"])
    assert json.loads(capfd.readouterr().out) == list_importance(loaded, docs, top=3)
    output = tmp_path / "made/lists.json"
    shown = succeed("importance", tmp_path / "dictionary", "-o", output).stdout
    assert json.loads(output.read_text()) == list_importance(nlp)
    assert "coffee" in shown
    assert "3.536  +3.000 -4.000" in shown
