import json
import re
from pathlib import Path
from typing import Any

import pytest

from lab.papers.hash_embeddings.importance import (
    IMPORTANCE_COMMAND,
    make_importance_table,
    read_importance,
)


def make_row(*names: str | None) -> dict[str, Any]:
    values = [{"name": name, "key": f"{i}7"} for i, name in enumerate(names, start=1)]
    return {"row": 3, "importance": 0.5, "values": values}


def make_table(**changes: Any) -> dict[str, Any]:
    return {
        "attr": "NORM",
        "ngram_size": 9,
        "largest": [make_row("what a joke", "x", "y"), make_row("awful")],
        "smallest": [make_row(None), make_row("\n")],
        **changes,
    }


def write(path: Path, *tables: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"texts": 2, "tables": tables}))
    return path


def test_the_paper_comes_first_as_it_is_printed(tmp_path):
    table = make_importance_table(tmp_path)
    assert [row[:2] for row in table.rows] == [
        ("Yelp Polarity", "the paper"),
        ("Amazon Full", "the paper"),
    ]
    assert table.rows[0][2].startswith("What_a_joke, not_a_good_experience, Great_")
    assert table.rows[1][3].endswith("years_and_though, you_want_a_real_good")
    assert all(len(row) == len(table.headings) for row in table.rows)


def test_each_table_of_weights_has_a_row(tmp_path):
    path = tmp_path / "yelp_full/hash_ngram_textcat/dictionary/importance.json"
    write(path, make_table(), make_table(attr="ORTH", ngram_size=1))
    write(tmp_path / "mine/multi_weighted_hash_embed/v/importance.json", make_table())
    *_, mine, first, second = make_importance_table(tmp_path).rows
    name = "Hash embeddings (dict.)"
    assert first[:2] == ("Yelp Full", f"{name}: NORM, 1 to 9 words")
    assert second[:2] == ("Yelp Full", f"{name}: ORTH")
    assert mine[:2] == ("mine", "multi_weighted_hash_embed v: NORM, 1 to 9 words")
    # written as in the paper; what has no name by its hash
    assert first[2:] == ("what_a_joke (+2), awful", r"#17, '\n'")


def test_the_command_writes_where_it_is_read(tmp_path):
    output = IMPORTANCE_COMMAND.split(" -o ")[1]
    write(tmp_path / output, make_table())
    assert len(make_importance_table(tmp_path / "metrics").rows) == 3


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ([make_table(attr=3)], "'attr' is 3"),
        ([make_table(ngram_size=True)], "'ngram_size' is True"),
        ([make_table(ngram_size=0)], "'ngram_size' is 0"),
        ([make_table(largest=None)], "'largest' is None"),
        ([make_table(smallest=[make_row()])], "'values' should have one or more"),
        ([make_table(smallest=[{"values": [{"name": None}]}])], "'key' is None"),
        ([make_table(smallest=[{"values": [{"name": 5}]}])], "'name' is 5"),
        (["text"], "'ngram_size' is None"),
    ],
)
def test_what_is_no_list_of_importance_is_refused(tables, message, tmp_path):
    path = write(tmp_path / "a/b/c/importance.json", *tables)
    message = f"'{path}' should hold what .* another kind: {re.escape(message)}"
    with pytest.raises(ValueError, match=message):
        read_importance(path)
    with pytest.raises(ValueError, match="Write it again, or remove it"):
        make_importance_table(tmp_path)


def test_a_file_that_is_no_json_is_named(tmp_path):
    path = tmp_path / "importance.json"
    path.write_text("{")
    with pytest.raises(ValueError, match=f"'{path}' should hold what"):
        read_importance(path)
