"""docs/bloom-embeddings.md, with the script that computes it."""

from lab.pages import bloom_embeddings as bloom
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "bloom-embeddings.md"


def read_tables(markdown: str) -> list[str]:
    """The tables of a page, each as its lines."""
    blocks = markdown.split("\n\n")
    return [block.strip() for block in blocks if block.lstrip().startswith("|")]


def test_the_table_of_the_page_is_what_the_script_computes():
    page = PAGE.read_text(encoding="utf8")
    assert read_tables(page) == [bloom.to_markdown(bloom.tabulate_luck())]


def test_the_example_of_the_page_is_the_blog_s():
    # Its own assertions, with mmh3.hash.
    rows = bloom.hash_words(1, 2)
    firsts = [3, 6, 4, 13, 8, 3, 13, 1, 9, 12, 11, 4, 2, 13, 5, 10, 0, 2, 10, 13]
    assert rows[:, 0].tolist() == firsts
    assert set(range(15)) - set(firsts) == {7, 14}
    assert len(set(map(tuple, rows.tolist()))) == 20
    by_word = dict(zip(bloom.WORDS, map(tuple, rows.tolist()), strict=True))
    assert [word for word, row in by_word.items() if row[0] == 13] == [
        *("juice", "eat", "burger", "chef")
    ]
    shared = [group for group in bloom.group_words(rows) if len(group) > 1]
    assert shared == [["juice", "service"]]
    assert (by_word["juice"], by_word["service"]) == ((13, 2), (2, 13))
