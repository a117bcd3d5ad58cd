"""Lengths of the Docs of training, beside those of texts that are to be served."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

#: What share of Docs is not called long.
_USUAL = 0.95


def compare_lengths(train: Counter[int], served: Counter[int]) -> dict[str, Any]:
    """Compare how many tokens the Docs of training have, and texts to be served.

    train, served (Counter[int]): How many Docs there are of each length.
    RETURNS (dict): For "train" and "text" how many "documents", and the "lower"
        quartile, "median" and "upper" quartile of their tokens; "longer", the share of
        texts that are longer than 19 of 20 Docs of training, 0 to 1.
    """
    usual = _find_quantile(train, _USUAL)
    longer = sum(n for length, n in served.items() if length > usual)
    return {
        "train": _describe(train),
        "text": _describe(served),
        "longer": longer / max(served.total(), 1),
    }


def _describe(lengths: Counter[int]) -> dict[str, int]:
    quartiles = {"lower": 0.25, "median": 0.5, "upper": 0.75}
    return {
        "documents": lengths.total(),
        **{name: _find_quantile(lengths, share) for name, share in quartiles.items()},
    }


def _find_quantile(lengths: Counter[int], share: float) -> int:
    """Find the least length that so many Docs do not exceed; 0 of nothing."""
    if not lengths:
        return 0
    ordered = sorted(lengths)
    reached = np.cumsum([lengths[length] for length in ordered])
    return ordered[int(np.searchsorted(reached, share * reached[-1]))]


def tell_lengths(lengths: Mapping[str, Any]) -> str:
    """Say what follows of `compare_lengths`."""
    train, text, longer = lengths["train"], lengths["text"], lengths["longer"]
    said = (
        f"Texts to be served have {_show(text)} tokens (median and quartiles), Docs of "
        f"training {_show(train)}; {longer:.0%} of the texts are longer than 19 of 20 "
        "of these. "
    )
    if longer > 1 - _USUAL:
        return said + (
            "A pipeline is best served as it was trained: have sentences joined in "
            "training, as `spacy hashembeds config` does, by "
            "`spacy-hashembeds.JoinedCorpus.v1`."
        )
    return said + "They are no longer than what is trained on."


def _show(lengths: Mapping[str, int]) -> str:
    return f"{lengths['median']:,} ({lengths['lower']:,} to {lengths['upper']:,})"
