"""Compression of a pipeline beside another one, and the score that it retains.

Source: Xue and Aletras, "HashFormers: Towards Vocabulary-independent Pre-trained
Transformers" (2022), §4.4, equations 4 to 8, and appendix B.
"""

from collections.abc import Mapping
from typing import Any


def compute_ratios(
    model: Mapping[str, Any], baseline: Mapping[str, Any]
) -> dict[str, float | None]:
    """Set a pipeline beside a baseline, as fractions, None where unknown.

    Both have a "score", and "pipeline_parameters", "embedding_parameters" and, among
    these, "mixing_parameters", which mix the columns of several tables to one vector.

    RETURNS (dict[str, float | None]): "prr", the share of the score that is retained
        (equation 4); "pcr_all", that of the parameters that is saved (5); "pcr_emb", of
        embedding parameters (6), and "pcr_tables", of these without what mixes columns;
        "poep", the embedding's of its own (7).
    """
    # some scores, such as Matthews' correlation, may be below 0
    least = None if baseline["score"] is None else max(baseline["score"], 0)
    counts = ("pipeline_parameters", "embedding_parameters")
    pairs = [(model[key], baseline[key]) for key in counts]
    pairs.append((count_table_parameters(model), count_table_parameters(baseline)))
    shares = (_divide(*pair) for pair in pairs)
    saved = [None if share is None else 1 - share for share in shares]
    return {
        "prr": _divide(model["score"], least),
        **dict(zip(("pcr_all", "pcr_emb", "pcr_tables"), saved, strict=True)),
        "poep": _divide(model["embedding_parameters"], model["pipeline_parameters"]),
    }


def count_table_parameters(sizes: Mapping[str, Any]) -> int | None:
    """Count the parameters of tables, codebooks and projections alone, if known."""
    embedding, mixing = sizes["embedding_parameters"], sizes["mixing_parameters"]
    return None if embedding is None or mixing is None else embedding - mixing


def _divide(dividend: float | None, divisor: float | None) -> float | None:
    return None if dividend is None or not divisor else dividend / divisor
