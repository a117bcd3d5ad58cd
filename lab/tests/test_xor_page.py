"""The script of the table in lab/trials.md."""

import pytest

from lab.pages import xor_limitation as xor

pytestmark = pytest.mark.torch


@pytest.mark.slow
def test_only_the_baseline_fails(monkeypatch):
    """See §3.3 and §3.4 of the paper."""
    monkeypatch.setattr(xor, "UPDATES", 200)
    for kind, texts in xor.PHRASES.items():
        baseline, *others = (
            xor.learn_phrases(encoder, texts, seed=0)
            for encoder in xor.ENCODERS.values()
        )
        assert baseline["middle"] < 4
        assert (baseline["phrases"] == 4) == (kind == "whole")
        assert others == [{"middle": 4, "phrases": 4}] * 3
