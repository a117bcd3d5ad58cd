"""Compression of a pipeline relative to another one, and the share of its score kept.

Source: Xue and Aletras, "HashFormers: Towards Vocabulary-independent Pre-trained
Transformers" (2022), §4.4, equations 4 to 8, and appendix B.
"""

from collections.abc import Mapping
from typing import Any


def compute_ratios(
    model: Mapping[str, Any], baseline: Mapping[str, Any]
) -> dict[str, float | None]:
    """Compare a pipeline with a baseline, by "score", "pipeline_parameters",
    "embedding_parameters" and, among the latter, "mixing_parameters".

    RETURNS (dict[str, float | None]): Fractions, None if unknown. "prr": the share of
        the score that is kept (equation 4); "pcr_all", "pcr_emb" and "pcr_tables": the
        share of parameters that is saved, of all (5), of the embedding (6), and of the
        embedding without its mixing layer; "poep": the embedding's share of all (7).
    """
    # some scores, such as Matthews correlation, can be negative
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
    """Count the parameters of tables, codebooks and projections, if known."""
    embedding, mixing = sizes["embedding_parameters"], sizes["mixing_parameters"]
    return None if embedding is None or mixing is None else embedding - mixing


def _divide(dividend: float | None, divisor: float | None) -> float | None:
    return None if dividend is None or not divisor else dividend / divisor
