import json

from lab.papers.hash_embeddings import make_importance_table
from lab.papers.tables import read_paper


def make_row(*names: str | None):
    return {"values": [{"name": name, "key": f"{i}7"} for i, name in enumerate(names)]}


def test_weights_are_listed_below_printed_ones(tmp_path):
    path = tmp_path / "yelp_full/hash_ngram_textcat/dictionary/importance.json"
    path.parent.mkdir(parents=True)
    table = {"attr": "NORM", "ngram_size": 9, "largest": [make_row("what a joke", "x")]}
    table["smallest"] = [make_row(None), make_row("\n")]
    path.write_text(json.dumps({"tables": [table]}))
    paper = make_importance_table(read_paper("hash-embeddings"), tmp_path)
    *printed, ours = [row.stub for row in paper.rows]
    assert [row[0] for row in printed] == ["Yelp Polarity", "Amazon Full"]
    assert printed[0][2].startswith("What_a_joke, not_a_good_experience, Great_")
    assert printed[1][3].endswith("years_and_though, you_want_a_real_good")
    # names as in the paper, or else hashes
    name = "Hash embeddings (dict.): NORM, 1 to 9 words"
    assert ours == ("Yelp Full", name, "what_a_joke (+1)", r"#07, '\n'")
