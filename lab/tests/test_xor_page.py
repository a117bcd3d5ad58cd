"""docs/xor-limitation.md, with the script that computes it."""

import re

import pytest

from lab.pages import xor_limitation as xor
from tests.conftest import ROOT

pytestmark = pytest.mark.torch

PAGE = ROOT / "docs" / "xor-limitation.md"


@pytest.mark.slow
def test_the_baseline_never_has_all_and_the_others_do(monkeypatch):
    """§3.3 and §3.4 of the paper, as the page shows it."""
    monkeypatch.setattr(xor, "UPDATES", 200)
    for kind, texts in xor.PHRASES.items():
        baseline, *others = (
            xor.learn_phrases(encoder, texts, seed=0)
            for encoder in xor.ENCODERS.values()
        )
        assert baseline["middle"] < 4
        assert (baseline["phrases"] == 4) == (kind == "whole")
        assert others == [{"middle": 4, "phrases": 4}] * 3


def test_the_page_has_all_encoders_and_counts(monkeypatch):
    counts = {"middle": 1, "phrases": 2}
    monkeypatch.setattr(
        xor, "learn_phrases", lambda *args: {k: n + args[-1] for k, n in counts.items()}
    )
    page = PAGE.read_text(encoding="utf8")
    header, *rows = xor.tabulate_phrases()
    assert rows[0][1:] == 2 * ["1 to 5", "2 to 6"]
    start = page.index(xor.to_markdown([header]))
    shown = page[start:].split("\n\n")[0].splitlines()[2:]
    assert [line.split(" | ")[0] for line in shown] == [f"| {row[0]}" for row in rows]
    for line in shown:
        _, *cells = line.strip("| ").split(" | ")
        assert len(cells) == len(header) - 1
        assert all(re.fullmatch(r"\d( to \d)?", cell) for cell in cells)
