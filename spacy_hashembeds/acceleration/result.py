"""What came of accelerating a pipeline."""

from dataclasses import dataclass, field

from spacy.language import Language


@dataclass(frozen=True)
class Acceleration:
    """What was done to a pipeline, and what came of it."""

    #: Where the layers stand in the config that were converted.
    converted: list[str]
    #: Where something stands that had to be left as it was, and why.
    left: dict[str, str]
    #: How many texts and tokens both pipelines annotated alike.
    texts: int
    tokens: int
    #: Components whose converted layers were not compared: never initialised, they
    #: have no weights.
    unchecked: list[str]
    #: The largest difference between outputs of a layer before and after, as a share
    #: of the largest output (or of 1).
    max_relative_diff: float
    #: Tokens a second in `nlp.pipe`, "before" and "after".
    words_per_second: dict[str, float]


@dataclass(frozen=True)
class AcceleratedPipeline(Acceleration):
    """A pipeline that was accelerated in memory, with what was done and came of it."""

    #: The new pipeline.
    nlp: Language = field(repr=False)
