import re
from functools import partial

import pytest

from spacy_hashembeds.analysis import recommendation
from spacy_hashembeds.analysis.advice import advise, format_bound
from spacy_hashembeds.analysis.features import Vocabulary
from spacy_hashembeds.analysis.measures import Measures, measure_table
from spacy_hashembeds.annotation import SETTABLE
from spacy_hashembeds.layers.hashembed import HashColumn

from .tables import make_hash_table
from .words import collect as collect_words

ATTRS = ["NORM", "SHAPE", "LOWER", "POS"]


collect = partial(collect_words, attrs=ATTRS)


@pytest.fixture(scope="module")
def train() -> Vocabulary:
    words = [f"w{i}x{i % 7}" for i in range(2000)]
    return collect(" ".join([*words, *words[:500]]))


def find_reason(reasons: list[str], start: str) -> str:
    (reason,) = [text for text in reasons if text.startswith(start)]
    return reason


def test_the_least_memory_within_the_bound_is_a_limit_and_no_advice(train):
    advice = advise({"train": train}, ["NORM", "SHAPE"], width=8)
    assert (advice.attrs, advice.width, advice.bound) == (["NORM", "SHAPE"], 8, 0.001)
    parameters = [option.parameters for option in advice.hash_options]
    assert advice.hashing.parameters == min(parameters)
    assert advice.hashing.num_hashes == 4
    text = find_reason(advice.reasons, "To hash, ")
    assert "with spacy-hashembeds.MultiFewerHashEmbed.v1: attrs" in text
    assert 'attrs = ["NORM", "SHAPE"], num_hashes = 4, seed = 9, and ' in text
    assert "the rows of `spacy init config` (NORM 5,000, PREFIX 1,000," in text
    assert str(advice.hashing.rows) not in text
    text = find_reason(advice.reasons, "The lower limit with 4 hashes is ")
    assert f"is rows = {advice.hashing.rows}, {min(parameters):,} parameters. " in text
    assert "at most 0.1% of the values" in text
    assert f"NORM {advice.hashing.sharing_code[0]} of 2,000" in text
    assert "a limit and not a size to use" in text
    assert f"NORM table would have {2000 / advice.hashing.rows[0]:.1f} values" in text


def test_the_rows_there_are_stay_unless_they_are_too_few(train):
    table = make_hash_table(width=8)
    advice = advise({"train": train}, ["NORM"], width=8, tables=[measure(table, train)])
    text = find_reason(advice.reasons, "To hash, ")
    assert "the rows there are (NORM 5,000). Take fewer" in text
    text = find_reason(advice.reasons, "The lower limit")
    times = 40_000 / advice.hashing.parameters
    assert f"(the present tables have 40,000, {times:.1f} times that)" in text
    few = make_hash_table(rows=20, width=8)
    advice = advise({"train": train}, ["NORM"], width=8, tables=[measure(few, train)])
    text = find_reason(advice.reasons, "To hash, ")
    assert "(NORM 20), but more for NORM: see the lower limit." in text


def test_the_least_min_freq_that_trains_the_row_for_unknown_values(train):
    splits = {"train": train, "dev": collect("w1x1 w1000x6 new words here")}
    advice = advise(splits, ["NORM"], width=8)
    assert (advice.lookup.min_freq, advice.lookup.rows) == (2, [501])
    text = find_reason(advice.reasons, "To look up, ")
    assert "with spacy-hashembeds.MultiEmbed.v1: min_freq = 2, " in text
    assert "[501] rows, 4,008 parameters" in text
    # 1500 of 2000 words are there once, in 2500 tokens
    assert "Rarer values (1,500; 60.0% of the training tokens) train the row" in text
    # known of the dev tokens: w1x1, seen twice, and w1000x6, seen once
    assert "Of the tokens in dev 80.0% get that row; 60.0% with 1 (then " in text
    assert "100.0% with 3" in text
    assert not re.search(r"min_freq = 1\b", text)
    (text,) = [reason for reason in advice.reasons if "The report used 10" in reason]
    assert "min_freq = 1 gained 11 points of F1 on AnEM" in text


def test_what_was_measured_says_where_to_begin(train):
    advice = advise({"train": train}, ["NORM"], width=8)
    assert advice.reasons[0] == recommendation.WHERE_TO_BEGIN
    assert "spacy-hashembeds.MultiEmbed.v1" in advice.reasons[0]
    small = advise({"train": collect("too few words")}, ["NORM"], width=8)
    assert not re.search("Begin with", " ".join(small.reasons))


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
    advice = advise({"train": train}, ["NORM", "LOWER", "POS"], **given)
    assert advice.attrs == ["NORM", "LOWER", "POS"]
    assert advice.lookup.min_freq == 3
    assert "components ahead" in find_reason(advice.reasons, "POS: ")


def test_of_equal_min_freqs_nothing_is_chosen_by_chance():
    words = " ".join(f"w{i}" for i in range(120))
    advice = advise({"train": collect(*[words] * 5, "once")}, ["NORM"], width=8)
    assert (advice.lookup.min_freq, advice.lookup.rows) == (2, [121])
    text = find_reason(advice.reasons, "To look up, ")
    assert "Rarer values (1; 0.2% of" in text
    advice = advise({"train": collect(*[words] * 5)}, ["NORM"], width=8)
    text = find_reason(advice.reasons, "To look up, ")
    assert "nothing trains the row for unknown ones" in text


@pytest.mark.parametrize("n_words", [1, 7, 99])
def test_too_few_words_are_not_advised_on(n_words):
    small = collect(" ".join(f"w{i} w{i}" for i in range(n_words)))
    advice = advise(
        {"train": small}, ["NORM"], width=8, tables=[measure(make_table(8), small)]
    )
    assert advice.hashing is advice.lookup is None
    assert advice.hash_options == advice.lookup_options == []
    text = find_reason(advice.reasons, "The training corpus is too small to advise on")
    assert f"are {n_words}, and should be 100 or more" in text
    assert not re.search("To hash|To look up|Leave out", " ".join(advice.reasons))
    enough = collect(" ".join(f"w{i}" for i in range(100)))
    advice = advise({"train": enough}, ["NORM"], width=8)
    assert find_reason(advice.reasons, "To hash, ")


def test_percentages_are_plain_digits():
    shares = {0.001: "0.1%", 0.2: "20%", 1e-9: "0.0000001%", 0.012345: "1.23%"}
    for share, text in shares.items():
        assert format_bound(share) == text


def measure(table: HashColumn, train: Vocabulary) -> Measures:
    return measure_table(table, {"train": train})


def make_table(seed: int) -> HashColumn:
    return make_hash_table(rows=100, width=8, num_hashes=1, seed=seed)


def test_the_poor_seed_is_called_out_with_its_cost(train):
    poor, good = (measure(make_table(seed), train) for seed in (8, 10))
    advice = advise({"train": train}, ["NORM"], width=8, tables=[poor])
    text = find_reason(advice.reasons, "NORM is hashed with seed 8")
    assert "hash 1 reaches 50 of 100 rows (seed 9: 100)" in text
    assert "2,000 of 2,000 values share" in text
    assert "with seed = 9" in text
    sound = advise({"train": train}, ["NORM"], width=8, tables=[good])
    assert not [reason for reason in sound.reasons if "seed 8" in reason]


def test_attributes_that_say_nothing_are_left_out(train):
    advice = advise({"train": train}, ATTRS, width=8)
    assert advice.attrs == ["NORM", "SHAPE"]
    assert all(len(option.rows) == 2 for option in advice.hash_options)
    assert all(len(option.rows) == 2 for option in advice.lookup_options)
    assert "Leave out LOWER: it tells the same words apart as NORM." in advice.reasons
    assert "Leave out POS: all words have one value." in advice.reasons
    assert len(advice.attributes) == 4


def test_there_is_no_advice_without_tokens():
    nothing = collect("")
    tables = [measure(make_table(8), nothing)]
    advice = advise({"train": nothing}, ATTRS, width=8, tables=tables)
    assert advice.hashing is advice.lookup is None
    assert advice.attributes == advice.hash_options == advice.reasons == []
