"""docs/xor-limitation.md, with the script that computes it."""

from importlib import import_module
from types import ModuleType

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.torch

PAGE = ROOT / "docs" / "xor-limitation.md"


@pytest.fixture(scope="module")
def xor() -> ModuleType:
    """The script that computes the tables."""
    return import_module("lab.pages.xor_limitation")


@pytest.mark.slow
def test_the_baseline_never_has_all_and_the_others_do(xor, monkeypatch):
    """§3.3 and §3.4 of the paper, as the page shows it."""
    monkeypatch.setattr(xor, "UPDATES", 200)
    for kind, texts in xor.PHRASES.items():
        baseline, *others = (
            xor.learn_phrases(encoder, texts, seed=0)
            for encoder in xor.ENCODERS.values()
        )
        assert baseline["middle"] < 4
        assert (baseline["viterbi"] == 4) == (kind == "whole")
        assert others == [{"middle": 4, "greedy": 4, "viterbi": 4}] * 3


def test_the_page_has_all_encoders_and_seeds(xor, monkeypatch):
    counts = {"middle": 1, "greedy": 2, "viterbi": 3}
    monkeypatch.setattr(xor, "learn_phrases", lambda *args: counts)
    page = PAGE.read_text(encoding="utf8")
    header, *rows = xor.tabulate_phrases()
    start = page.index(xor.to_markdown([header]))
    shown = page[start:].split("\n\n")[0].splitlines()[2:]
    assert [line.split(" | ")[0] for line in shown] == [f"| {row[0]}" for row in rows]
    for line in shown:
        _, *cells = line.strip("| ").split(" | ")
        # as many numbers in each: those of all seeds
        expected = [len(cell.split()) for cell in rows[0][1:]]
        assert [len(cell.split()) for cell in cells] == expected


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
