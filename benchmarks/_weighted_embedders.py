"""The contenders of the benchmark of weights: equal rows, equally many hashes."""

from collections.abc import Sequence
from typing import Any

from spacy.tokens import Doc
from thinc.api import fix_random_seed

from ._embedders import ROWS, Embedders, build, build_with_symbols

NUM_HASHES = 2
#: Rows of weights, where they are hashed: ten for each row of the table.
IMPORTANCE_ROWS = [10 * rows for rows in ROWS]

FEWER = "fewer"
WEIGHTED = "weighted"
WEIGHTED_SYMBOLS = "weighted_symbols"
HYBRID = "hybrid"

#: From how many occurrences on a symbol has a row of its own: as in our configs.
MIN_FREQS = {WEIGHTED_SYMBOLS: 2, HYBRID: 10}

_SIZES: dict[str, Any] = {"rows": ROWS, "num_hashes": NUM_HASHES}
_FEWER = "spacy-hashembeds.MultiFewerHashEmbed.v1"
_WEIGHTED = "spacy-hashembeds.MultiWeightedHashEmbed.v1"
_HYBRID = "spacy-hashembeds.MultiHybridEmbed.v1"


def make_weighted_embedders(docs: Sequence[Doc]) -> Embedders:
    """Make the contenders, those that need symbols with the symbols of some docs."""
    fix_random_seed(0)
    models = {
        FEWER: build(_FEWER, **_SIZES),
        WEIGHTED: build(_WEIGHTED, importance_rows=IMPORTANCE_ROWS, **_SIZES),
    }
    for model in models.values():
        model.initialize(X=list(docs[:10]))
    for name, architecture in ((WEIGHTED_SYMBOLS, _WEIGHTED), (HYBRID, _HYBRID)):
        models[name] = build_with_symbols(
            architecture, docs, min_freq=MIN_FREQS[name], **_SIZES
        )
    return Embedders(models, torch={})
