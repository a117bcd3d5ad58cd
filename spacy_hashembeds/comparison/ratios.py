"""How much smaller a pipeline is than another one, and what it keeps of its score.

Source: Xue and Aletras, "HashFormers: Towards Vocabulary-independent Pre-trained
Transformers" (2022), §4.4, equations 4 to 8, and appendix B.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Measures:
    """What is known of a pipeline. Whatever is not is None.

    score (float, optional): Its score: the higher, the better.
    pipeline_parameters (int, optional): All parameters that its components use.
    embedding_parameters (int, optional): Those among them that make the vectors of
        tokens, without positions.
    mixing_parameters (int, optional): Those among the latter that mix the columns of
        several tables to one vector. The models of the paper have none.
    """

    score: float | None
    pipeline_parameters: int | None
    embedding_parameters: int | None
    mixing_parameters: int | None

    @property
    def table_parameters(self) -> int | None:
        """The parameters of tables, codebooks and projections alone."""
        if self.embedding_parameters is None or self.mixing_parameters is None:
            return None
        return self.embedding_parameters - self.mixing_parameters


@dataclass(frozen=True, kw_only=True)
class Ratios:
    """A pipeline beside a baseline, as fractions. Whatever can't be said is None.

    prr (float, optional): The performance retention ratio: its score by the baseline's
        (equation 4), if that is above 0.
    pcr_all (float, optional): The compression ratio of all parameters: the share of the
        baseline's that it does without (equation 5). Below 0 if it has more.
    pcr_emb (float, optional): The same of embedding parameters (equation 6).
    pcr_tables (float, optional): The same of these without what mixes columns.
    poep (float, optional): The proportion of its own parameters that are those of its
        embedding (equation 7).
    """

    prr: float | None
    pcr_all: float | None
    pcr_emb: float | None
    pcr_tables: float | None
    poep: float | None


def compute_ratios(model: Measures, baseline: Measures) -> Ratios:
    """Set a pipeline beside another one.

    The speed-up rate (equation 8), time by time, is that of words a second, the other
    way round: `divide` gives it.
    """
    # some scores, such as Matthews' correlation, may be below 0
    least = None if baseline.score is None else max(baseline.score, 0)
    return Ratios(
        prr=divide(model.score, least),
        pcr_all=_compress(model.pipeline_parameters, baseline.pipeline_parameters),
        pcr_emb=_compress(model.embedding_parameters, baseline.embedding_parameters),
        pcr_tables=_compress(model.table_parameters, baseline.table_parameters),
        poep=divide(model.embedding_parameters, model.pipeline_parameters),
    )


def divide(dividend: float | None, divisor: float | None) -> float | None:
    """Divide, if both are known and the divisor is not 0."""
    return None if dividend is None or not divisor else dividend / divisor


def _compress(model: int | None, baseline: int | None) -> float | None:
    share = divide(model, baseline)
    return None if share is None else 1 - share
