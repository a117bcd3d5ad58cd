"""docs/xor-limitation.md, with the script that computes it."""

from types import ModuleType

import pytest

from .conftest import ROOT, load_script

pytestmark = pytest.mark.torch

PAGE = ROOT / "docs" / "xor-limitation.md"


@pytest.fixture(scope="module")
def xor() -> ModuleType:
    """The script that computes the tables."""
    return load_script(PAGE.with_name("xor_limitation.py"))


@pytest.mark.slow
def test_the_baseline_has_three_of_four_and_the_others_all(xor):
    """§3.3 and §3.4 of the paper, as the page shows it."""
    table = xor.tabulate_phrases()
    assert xor.to_markdown(table) in PAGE.read_text(encoding="utf8")
    _, baseline, *others = table
    of_tags, of_words = [3, 4, 4], [3, 3, 3]
    assert baseline[1:] == [f"{n} of 4" for n in of_tags + of_words]
    assert [row[1:] for row in others] == [["4 of 4"] * 6] * 3


@pytest.mark.parametrize("kind", ["whole", "middle"])
def test_pairs_are_entities_if_both_words_are_of_one_kind(xor, kind):
    train, test = xor.make_corpus(kind, seed=0)
    assert (len(train), len(test)) == (xor.N_TRAIN, xor.N_TEST)
    found: list[set[str]] = []
    for texts in (train, test):
        pairs = set()
        for text, entity in texts:
            words = text.split()
            place = words.index("and")
            x, _, y = phrase = words[place - 1 : place + 2]
            pairs.add(x + y)
            is_entity = int(x[1:]) % 2 == int(y[1:]) % 2
            expected = " ".join(phrase) if kind == "whole" else "and"
            assert entity == (expected if is_entity else None)
        found.append(pairs)
        assert len(pairs) == len(texts)
    assert not found[0] & found[1], "a pair of the test was in training"


@pytest.mark.slow
def test_encoders_differ_on_a_small_corpus(xor, monkeypatch):
    monkeypatch.setattr(xor, "EPOCHS", 15)
    first, second = (xor.ENCODERS[name] for name in list(xor.ENCODERS)[:2])
    baseline = xor.learn_corpus(first, "middle", seed=0)
    crossed = xor.learn_corpus(second, "middle", seed=0)
    # no more than three of four combinations of kinds: an F1 of 0.8
    assert baseline["greedy"] < 0.8
    assert crossed["greedy"] > 0.9
    assert baseline["viterbi"] == pytest.approx(baseline["greedy"], abs=0.05)
