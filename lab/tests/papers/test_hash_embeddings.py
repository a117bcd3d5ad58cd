from lab.papers.hash_embeddings import make_importance_table
from lab.papers.paper import read_paper

from .trials import make_importance, write_beside

PAPER = read_paper("hash-embeddings")


def list_importance(root) -> list[tuple[str, ...]]:
    return [row.stub for row in make_importance_table(PAPER, root).rows]


def test_the_paper_comes_first_as_it_is_printed(tmp_path):
    rows = list_importance(tmp_path)
    assert [row[:2] for row in rows] == [
        ("Yelp Polarity", "the paper"),
        ("Amazon Full", "the paper"),
    ]
    assert rows[0][2].startswith("What_a_joke, not_a_good_experience, Great_")
    assert rows[1][3].endswith("years_and_though, you_want_a_real_good")


def test_each_table_of_weights_has_a_row(tmp_path):
    values = [{"name": None, "key": "17"}, {"name": "\n", "key": "18"}]
    smallest = [{"values": [value]} for value in values]
    first = make_importance("what a joke", "x", "y", smallest=smallest)
    tables = [first, make_importance("awful", attr="ORTH", ngram_size=1)]
    path = "yelp_full/hash_ngram_textcat/dictionary/importance.json"
    write_beside(tmp_path / path, {"tables": tables})
    path = "mine/multi_weighted_hash_embed/v/importance.json"
    write_beside(tmp_path / path, {"tables": tables[1:]})
    name = "Hash embeddings (dict.)"
    assert list_importance(tmp_path)[2:] == [
        ("mine", "multi_weighted_hash_embed v: ORTH", "awful", "awful"),
        # written as in the paper; what has no name by its hash
        (
            *("Yelp Full", f"{name}: NORM, 1 to 9 words"),
            *("what_a_joke (+2)", r"#17, '\n'"),
        ),
        ("Yelp Full", f"{name}: ORTH", "awful", "awful"),
    ]
