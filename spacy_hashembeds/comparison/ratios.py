"""How much smaller a pipeline is than another one, and what it keeps of its score.

Source: Xue and Aletras, "HashFormers: Towards Vocabulary-independent Pre-trained
Transformers" (2022), §4.4, equations 4 to 8, and appendix B.
"""

from collections.abc import Mapping
from typing import Any


def compute_ratios(
    model: Mapping[str, Any], baseline: Mapping[str, Any]
) -> dict[str, float | None]:
    """Set a pipeline beside a baseline, as fractions. What can't be said is None.

    model, baseline (Mapping[str, Any]): "score": the higher, the better.
        "pipeline_parameters": all that the components use. "embedding_parameters":
        those that make the vectors of tokens, without positions.
        "mixing_parameters": those among the latter that mix the columns of several
        tables to one vector; the models of the paper have none. What is not known is
        None.
    RETURNS (dict[str, float | None]): "prr", the performance retention ratio: the score
        by the baseline's (equation 4), if that is above 0. "pcr_all", compression: the
        share of the baseline's parameters that it does without (equation 5), below 0
        if it has more. "pcr_emb": the same of embedding parameters (equation 6).
        "pcr_tables": of these without what mixes columns. "poep": the share of its own
        parameters that are its embedding's (equation 7). The speed-up rate (equation
        8), time by time, is that of words a second, the other way round.
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
