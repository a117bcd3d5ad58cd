import pytest

from spacy_hashembeds.analysis.codes import count_sharing_sums
from spacy_hashembeds.analysis.features import Vocabulary, collect_vocabulary
from spacy_hashembeds.analysis.options import (
    MIN_FREQS,
    find_hash_options,
    find_lookup_options,
    measure_attributes,
)
from spacy_hashembeds.symbols import count_values, cut_symbols

from .tables import make_hash_table
from .words import ATTRS, collect, make_docs


@pytest.fixture(scope="module")
def many() -> Vocabulary:
    return collect(" ".join(f"w{i}x{i % 7}" for i in range(3000)))


@pytest.mark.parametrize("bound", [0.001, 0.05])
def test_hash_options_keep_to_the_bound(many, bound):
    options = find_hash_options(many, ATTRS, width=10, bound=bound)
    # one hash would take some 3000 / 0.001 rows
    expected = [1, 2, 3, 4] if bound == 0.05 else [2, 3, 4]
    assert [option.num_hashes for option in options] == expected
    for option in options:
        assert option.parameters == 10 * sum(option.rows)
        assert option.values == [3000, len(many.count_values("SHAPE")[0])]
        for i, attr in enumerate(ATTRS):
            values, _ = many.count_values(attr)
            settings = {"num_hashes": option.num_hashes, "seed": 9 + i, "width": 10}
            table = make_hash_table(attr, rows=option.rows[i], **settings)
            code = table.find_code(values)
            limit = bound * len(values)
            assert count_sharing_sums(code) == option.sharing_code[i] <= limit
            assert option.expected_sharing_code[i] <= limit
            assert option.load[i] == len(values) / option.rows[i]
    norm_rows = [option.rows[0] for option in options]
    assert norm_rows == sorted(norm_rows, reverse=True)


def test_hash_options_are_hardly_larger_than_they_must_be(many):
    # the closed form, solved for rows: V (k! V / n^k) = bound V
    for option, orders in zip(
        find_hash_options(many, ["NORM"], width=1, bound=0.001),
        (2, 6, 24),
        strict=True,
    ):
        least = (orders * 3000 / 0.001) ** (1 / option.num_hashes)
        assert 0.98 * least <= option.rows[0] <= 1.25 * least


def test_tables_out_of_reach_are_no_option(many):
    # the closed form again: two hashes take sqrt(2 * 3000 / bound) rows
    for bound, expected in ((7e-9, [2, 3, 4]), (5e-9, [3, 4])):
        options = find_hash_options(many, ["NORM"], width=1, bound=bound)
        assert [option.num_hashes for option in options] == expected
        assert max(option.rows[0] for option in options) <= 1_000_000


def test_lookup_options_are_what_the_callback_would_make():
    texts = ["a " * 20 + "b " * 5 + "Cc " * 2 + "d", "a e e e"]
    train = collect(*texts)
    options = find_lookup_options(
        {"train": train, "dev": collect("a d z")}, ATTRS, width=8
    )
    assert [option.min_freq for option in options] == list(MIN_FREQS)
    counts = count_values(make_docs(*texts), ATTRS)
    for option in options:
        tables = cut_symbols(counts, min_freq=option.min_freq, lang="en").tables
        sizes = [len(tables[attr].frequent) for attr in ATTRS]
        assert option.rows == [size + 1 for size in sizes]
        assert option.parameters == 8 * sum(option.rows)
        unknown = [
            len(counts[attr].get_counts()[0]) - size
            for attr, size in zip(ATTRS, sizes, strict=True)
        ]
        assert option.unknown_values == unknown
    two = next(option for option in options if option.min_freq == 2)
    expected = {"train": 1 / 32, "dev": 2 / 3}
    assert two.unknown_share[0] == pytest.approx(expected)


def test_what_attributes_add():
    train = collect("The the Cat cat dog DOG", attrs=["NORM", "SHAPE", "LOWER", "POS"])
    new = collect("cat mouse Dog xy", attrs=["NORM", "SHAPE", "LOWER", "POS"])
    splits = {"train": train, "dev": new, "test": collect("the", attrs=["NORM"])}
    norm, shape = measure_attributes({"train": train, "dev": new}, ATTRS)
    assert (norm.attr, norm.values, shape.values) == ("NORM", 3, 3)
    # without norms The = Cat and the = cat = dog; without shapes all are pairs
    assert (norm.merged_without, shape.merged_without) == (5, 6)
    # new are mouse, Dog, xy: the norm dog is known, shapes are xxxx, Xxx, xx
    assert norm.known_of_new == {"dev": pytest.approx(1 / 3)}
    assert shape.known_of_new == {"dev": pytest.approx(1 / 3)}
    assert norm.says_nothing is shape.says_nothing is None
    (alone,) = measure_attributes(splits, ["NORM"])
    # without any attribute all words are one; four words of six are pairs by norm
    assert alone.merged_without == 6 - 6
    assert alone.known_of_new["test"] is None


def test_words_count_once_whatever_else_differs():
    # "a" has two norms: one word for SHAPE, and two for NORM
    train, dev = make_docs("a a bb", "c c")
    train[1].norm_ = dev[1].norm_ = "a norm"
    splits = {
        name: collect_vocabulary([doc], ATTRS)
        for name, doc in {"train": train, "dev": dev}.items()
    }
    (shape,) = measure_attributes(splits, ["SHAPE"])
    assert shape.merged_without == 2
    assert shape.known_of_new == {"dev": 1}
    norm, _ = measure_attributes(splits, ATTRS)
    assert norm.known_of_new == {"dev": 1 / 2}
