"""docs/bloom-embeddings.md: its example, which is a blog post's."""

from murmurhash import mrmr  # the post has mmh3.hash, which is the same

WORDS = """apple strawberry orange juice drink smoothie eat fruit health wellness steak
fries ketchup burger chips lobster caviar service waiter chef""".split()


def test_words_share_rows_as_the_page_says():
    rows = {word: tuple(mrmr.hash(word, s) % 15 for s in (1, 2)) for word in WORDS}
    firsts = [first for first, _ in rows.values()]
    assert [word for word in WORDS if rows[word][0] == 13] == [
        *("juice", "eat", "burger", "chef")
    ]
    assert {*range(15)} - {*firsts} == {7, 14}
    assert len({*rows.values()}) == 20
    assert len({tuple(sorted(pair)) for pair in rows.values()}) == 19
    assert (rows["juice"], rows["service"]) == ((13, 2), (2, 13))
