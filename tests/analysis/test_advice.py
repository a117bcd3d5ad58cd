import re

import pytest
import spacy
from spacy.tokens import Doc

from spacy_hashembeds.analysis.advice import advise
from spacy_hashembeds.analysis.embedders import HashTable
from spacy_hashembeds.analysis.features import Vocabulary, collect_vocabulary

ATTRS = ["NORM", "SHAPE", "LOWER", "POS"]


def collect(*texts: str) -> Vocabulary:
    vocab = spacy.blank("en").vocab
    docs = [Doc(vocab, words=text.split()) for text in texts]
    return collect_vocabulary(docs, ATTRS)


@pytest.fixture(scope="module")
def train() -> Vocabulary:
    words = [f"w{i}x{i % 7}" for i in range(2000)]
    return collect(" ".join([*words, *words[:500]]))


def find_reason(reasons: list[str], start: str) -> str:
    (reason,) = [text for text in reasons if text.startswith(start)]
    return reason


def test_the_least_memory_within_the_bound_is_advised(train):
    advice = advise({"train": train}, ["NORM", "SHAPE"], width=8)
    assert (advice.attrs, advice.width, advice.bound) == (["NORM", "SHAPE"], 8, 0.001)
    parameters = [option.parameters for option in advice.hash_options]
    assert advice.hashing.parameters == min(parameters)
    assert advice.hashing.num_hashes == 4
    text = find_reason(advice.reasons, "To hash, ")
    assert "with spacy-hashembeds.MultiFewerHashEmbed.v1: attrs" in text
    assert f'attrs = ["NORM", "SHAPE"], rows = {advice.hashing.rows}, ' in text
    assert "num_hashes = 4, seed = 9" in text
    assert f"fewest parameters ({min(parameters):,})" in text
    assert "at most 0.1% of the values" in text
    assert f"NORM {advice.hashing.sharing_code[0]} of 2,000" in text
    assert f"1 hash: {parameters[0]:,}" in text
    load = find_reason(advice.reasons, "Take these rows as the least")
    assert f"NORM table would have {2000 / advice.hashing.rows[0]:.1f} values" in load


def test_only_min_freq_1_keeps_rare_values_apart(train):
    splits = {"train": train, "dev": collect("w1x1 new words here")}
    advice = advise(splits, ["NORM"], width=8)
    assert advice.lookup.min_freq == 1
    text = find_reason(advice.reasons, "To look up, ")
    assert "with spacy-hashembeds.MultiEmbed.v1: min_freq = 1, " in text
    assert "[2001] rows" in text
    assert "(16,008)" in text
    text = find_reason(advice.reasons, "With min_freq = 1 nothing trains")
    assert "75% of the dev tokens get for NORM" in text
    # 1500 of 2000 words are there once, in 2500 tokens
    assert "the 1,500 values of NORM that were seen once, 60% of its tokens" in text
    assert "there are only 4,008 parameters" in text


def test_a_higher_min_freq_is_advised_where_it_is_within_the_bound():
    advice = advise({"train": collect("a b c " * 5 + "d")}, ["NORM"], width=8)
    # alone, d shares the row for unknown values with none; 3 and 5 give the same rows
    assert (advice.lookup.min_freq, advice.lookup.rows) == (2, [4])
    assert not [text for text in advice.reasons if "min_freq = 1" in text]
    loose = advise(
        {"train": collect("a b c " * 5 + "d e")}, ["NORM"], width=8, bound=0.4
    )
    assert loose.lookup.min_freq == 2
    strict = advise({"train": collect("a b c " * 5 + "d e")}, ["NORM"], width=8)
    assert strict.lookup.min_freq == 1


def make_table(seed: int) -> HashTable:
    return HashTable(attr="NORM", rows=100, width=8, num_hashes=1, seed=seed)


def test_the_poor_seed_is_called_out_with_its_cost(train):
    advice = advise({"train": train}, ["NORM"], width=8, tables=[make_table(8)])
    text = find_reason(advice.reasons, "NORM is hashed with seed 8")
    assert "hash 1 reaches 50 of 100 rows (seed 9: 100)" in text
    assert "2,000 of 2,000 values share" in text
    assert "with seed = 9" in text
    assert find_reason(advice.reasons, "The hash tables there are have 800 parameters")
    sound = advise({"train": train}, ["NORM"], width=8, tables=[make_table(10)])
    assert not [reason for reason in sound.reasons if "seed 8" in reason]


def test_attributes_that_say_nothing_are_left_out(train):
    advice = advise({"train": train}, ATTRS, width=8)
    assert advice.attrs == ["NORM", "SHAPE"]
    assert all(len(option.rows) == 2 for option in advice.hash_options)
    assert all(len(option.rows) == 2 for option in advice.lookup_options)
    assert "Leave out LOWER: it tells the same words apart as NORM." in advice.reasons
    assert "Leave out POS: all words have one value." in advice.reasons
    assert len(advice.attributes) == 4


def test_what_can_not_be_hashed_within_the_bound_is_not_advised(train):
    advice = advise({"train": train}, ["NORM"], width=8, bound=1e-7)
    assert advice.hashing.sharing_code == [0]
    assert not re.search("1 hash: ", " ".join(advice.reasons))


def test_there_is_no_advice_without_tokens():
    advice = advise({"train": collect("")}, ATTRS, width=8, tables=[make_table(8)])
    assert advice.hashing is advice.lookup is None
    assert advice.attributes == advice.hash_options == advice.reasons == []
