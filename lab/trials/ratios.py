"""Compression of a pipeline beside another one, and the score that it retains.

Source: Xue and Aletras, "HashFormers: Towards Vocabulary-independent Pre-trained
Transformers" (2022), §4.4, equations 4 to 8, and appendix B.
"""

from collections.abc import Mapping
from typing import Any


def compute_ratios(
    model: Mapping[str, Any], baseline: Mapping[str, Any]
) -> dict[str, float | None]:
    """Set a pipeline beside a baseline, as fractions. What can't be said is None.

    Both have a "score", the higher, the better; "pipeline_parameters", all that the
    components use; "embedding_parameters", which make the vectors of tokens, without
    positions; and "mixing_parameters", those among them that mix the columns of several
    tables to one vector, of which the paper's models have none.

    RETURNS (dict[str, float | None]): "prr", the share of the score that is retained
        (equation 4); "pcr_all", that of the parameters that is saved (5), below 0 if
        there are more; "pcr_emb", of embedding parameters (6), and "pcr_tables", of
        these without what mixes columns; "poep", the embedding's of its own (7).
    """
    # some scores, such as Matthews' correlation, may be below 0
    least = None if baseline["score"] is None else max(baseline["score"], 0)
    parameters = ("pipeline_parameters", "embedding_parameters")
    pcr_all, pcr_emb = (_compress(model[key], baseline[key]) for key in parameters)
    return {
        "prr": divide(model["score"], least),
        "pcr_all": pcr_all,
        "pcr_emb": pcr_emb,
        "pcr_tables": _compress(*map(count_table_parameters, (model, baseline))),
        "poep": divide(model["embedding_parameters"], model["pipeline_parameters"]),
    }


def count_table_parameters(sizes: Mapping[str, Any]) -> int | None:
    """Count the parameters of tables, codebooks and projections alone, if known."""
    embedding, mixing = sizes["embedding_parameters"], sizes["mixing_parameters"]
    return None if embedding is None or mixing is None else embedding - mixing


def divide(dividend: float | None, divisor: float | None) -> float | None:
    """Divide, if both are known and the divisor is not 0."""
    return None if dividend is None or not divisor else dividend / divisor


def _compress(model: int | None, baseline: int | None) -> float | None:
    share = divide(model, baseline)
    return None if share is None else 1 - share
