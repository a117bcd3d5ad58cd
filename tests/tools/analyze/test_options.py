"""What there is to choose from, and what is advised."""

import pytest

from spacy_hashembeds.tools.analyze.advice import advise, format_bound
from spacy_hashembeds.tools.analyze.codes import count_sharing
from spacy_hashembeds.tools.analyze.features import Vocabulary, collect_vocabulary
from spacy_hashembeds.tools.analyze.measures import Measures, measure_table
from spacy_hashembeds.tools.analyze.options import (
    MIN_FREQS,
    find_hash_options,
    find_lookup_options,
    measure_attributes,
)
from spacy_hashembeds.training.annotation import SETTABLE
from spacy_hashembeds.training.counting import count_values, cut_symbols

from .tables import ATTRS, collect, make_docs, make_hash_table

FOUR = ["NORM", "SHAPE", "LOWER", "POS"]


@pytest.fixture(scope="module")
def many() -> Vocabulary:
    text = " ".join(f"w{i}x{i % 7}" for i in range(3000))
    return collect(text, attrs=["NORM", "LOWER"])


@pytest.mark.parametrize("bound", [0.001, 0.05])
def test_hash_options_keep_to_the_bound(many, bound):
    attrs = ["NORM", "LOWER"]
    options = find_hash_options(many, attrs, width=10, bound=bound)
    # one hash would take some 3000 / 0.001 rows
    expected = [1, 2, 3, 4] if bound == 0.05 else [2, 3, 4]
    assert [option.num_hashes for option in options] == expected
    for option in options:
        assert option.parameters == 10 * sum(option.rows)
        for i, attr in enumerate(attrs):
            values, _ = many.count_values(attr)
            settings = {"num_hashes": option.num_hashes, "seed": 9 + i, "width": 10}
            table = make_hash_table(attr, rows=option.rows[i], **settings)
            sharing = count_sharing(table.identify(values))
            assert sharing == option.sharing_code[i] <= bound * len(values)
            # the closed form, solved for rows: V (k! V / n^k) = bound V
            k, orders = option.num_hashes, [1, 1, 2, 6, 24][option.num_hashes]
            least = (orders * 3000 / bound) ** (1 / k)
            assert 0.95 * least <= option.rows[i] <= 1.25 * least


def test_tables_out_of_reach_are_no_option(many):
    # the closed form again: two hashes take sqrt(2 * 3000 / bound) rows
    for bound, expected in ((7e-9, [2, 3, 4]), (5e-9, [3, 4])):
        options = find_hash_options(many, ["NORM"], width=1, bound=bound)
        assert [option.num_hashes for option in options] == expected


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


@pytest.fixture(scope="module")
def train() -> Vocabulary:
    words = [f"w{i}x{i % 7}" for i in range(2000)]
    return collect(" ".join([*words, *words[:500]]), attrs=FOUR)


def measure(train: Vocabulary, **settings) -> Measures:
    return measure_table(make_hash_table(width=8, **settings), {"train": train})


def find_reason(reasons: list[str], start: str) -> str:
    (reason,) = [text for text in reasons if text.startswith(start)]
    return reason


def test_the_least_memory_within_the_bound_is_a_limit(train):
    advice = advise({"train": train}, ["NORM", "SHAPE"], width=8)
    parameters = [option.parameters for option in advice.hash_options]
    assert advice.hashing.parameters == min(parameters)
    norm, shape = advice.hashing.rows
    text = find_reason(advice.reasons, "To hash: spacy-hashembeds.MultiFewerHashEmbed")
    assert "with num_hashes = 4, seed = 9, and the usual rows. The lower limit" in text
    assert f"with {min(parameters):,} parameters, is NORM {norm}, SHAPE {shape}" in text
    assert "0.1% of the values" in text


def test_the_least_min_freq_that_trains_the_row_for_unknown_values(train):
    dev = collect("w1x1 w1000x6 new words here", attrs=FOUR)
    advice = advise({"train": train, "dev": dev}, ["NORM"], width=8)
    assert (advice.lookup.min_freq, advice.lookup.rows) == (2, [501])
    text = find_reason(advice.reasons, "To look up: spacy-hashembeds.MultiEmbed.v1 ")
    assert "min_freq = 2, which makes 501 rows, 4,008 parameters" in text
    # known of the dev tokens: w1x1, seen twice, and w1000x6, seen once
    assert "leaves 80.0% of the tokens in dev" in text
    assert "nothing trains" not in text


@pytest.mark.parametrize(
    ("rows", "min_freq", "n_rows"),
    [((460, 41), 2, 501), ((460, 40), 3, 1), ((0, 0), 20, 1)],
)
def test_the_lowest_min_freq_with_no_more_rows(train, rows, min_freq, n_rows):
    pairs = list(zip(["NORM", "SHAPE"], rows, strict=True))
    advice = advise({"train": train}, ["NORM"], width=8, rows=pairs)
    assert (advice.lookup.min_freq, advice.lookup.rows) == (min_freq, [n_rows])


def test_what_components_may_set_stays_and_is_not_counted(train):
    pairs = [("NORM", 501), ("LOWER", 0), ("POS", 9999)]
    given = {"width": 8, "rows": pairs, "settable": SETTABLE}
    attrs = ["NORM", "LOWER", "POS", "POS"]  # two tables of one are two
    advice = advise({"train": train}, attrs, **given)
    assert advice.attrs == attrs
    assert len(advice.hashing.rows) == 4
    assert advice.lookup.min_freq == 3
    assert "components ahead" in find_reason(advice.reasons, "Keep POS, POS ")


@pytest.mark.parametrize("n_words", [0, 1, 99, 100])
def test_too_few_words_are_not_advised_on(n_words):
    small = collect(" ".join(f"w{i} w{i}" for i in range(n_words)))
    tables = [measure(small, num_hashes=1, seed=8)]
    advice = advise({"train": small}, ["NORM"], width=8, tables=tables)
    assert bool(advice.hash_options and advice.lookup_options) is (n_words == 100)
    assert (advice.hashing is None) is (advice.lookup is None) is (n_words < 100)
    assert ("nothing trains" in " ".join(advice.reasons)) is (n_words == 100)
    starts = [reason[:11] for reason in advice.reasons]
    assert starts == {
        0: [],
        100: ["Begin with ", "To hash: sp", "To look up:", "With seed 8"],
    }.get(n_words, ["The trainin", "With seed 8"])


def test_what_the_tables_there_are_lack(train):
    (least,) = advise({"train": train}, ["NORM"], width=8).hashing.rows
    tables = [measure(train, rows=100, num_hashes=1, seed=8)]
    advice = advise({"train": train}, ["NORM"], width=8, tables=tables)
    text = find_reason(advice.reasons, "With seed 8 hash 1 of NORM ")
    assert "reaches 50 of 100 rows, and 2,000 of 2,000 values" in text
    assert "with 9 100 and 2,000. To train anew, set seed = 9" in text
    for rows, is_short in ((least - 1, True), (least, False)):
        tables = [measure(train, rows=rows)]
        advice = advise({"train": train}, ["NORM"], width=8, tables=tables)
        text = find_reason(advice.reasons, "To hash: ")
        assert "the rows there are" in text
        assert ("but more for NORM" in text) is is_short
    assert not [reason for reason in advice.reasons if "seed 8" in reason]


def test_attributes_that_say_nothing_are_left_out(train):
    advice = advise({"train": train}, FOUR, width=8)
    assert advice.attrs == ["NORM", "SHAPE"]
    options = [*advice.hash_options, *advice.lookup_options]
    assert all(len(option.rows) == 2 for option in options)
    assert "Leave out LOWER: it tells the same words apart as NORM." in advice.reasons
    assert "Leave out POS: all words have one value." in advice.reasons
    assert [use.attr for use in advice.attributes] == FOUR


def test_percentages_are_plain_digits():
    shares = {0.001: "0.1%", 0.2: "20%", 1e-9: "0.0000001%", 0.012345: "1.23%"}
    assert {share: format_bound(share) for share in shares} == shares
