"""What came of accelerating a pipeline."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from spacy.language import Language

from ..display import Bars, Part, Sentence, Shown, Table
from .parity import TOLERANCE


@dataclass(frozen=True)
class Acceleration(Shown):
    """What was done to a pipeline, and what came of it.

    A notebook shows it, and `print` prints it, as the command does.
    """

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
    #: The new pipeline, where it was made in memory.
    nlp: Language | None = field(default=None, repr=False)

    def get_parts(self) -> Iterator[Part]:
        """Say what was converted, what was not, that it is the same, and how fast."""
        for place in self.converted:
            yield Sentence(f"Converted {place}", "info")
        for place, reason in self.left.items():
            yield Sentence(f"Left {place} as it is: {reason}", "warn")
        for name in self.unchecked:
            yield Sentence(
                f"Converted '{name}' without comparing its vectors: it was never "
                "initialised, and has no weights",
                "warn",
            )
        yield Sentence(
            f"Same predictions on {self.texts:,} texts ({self.tokens:,} tokens)", "good"
        )
        yield Sentence(
            f"Largest difference between vectors: {self.max_relative_diff:.3g} of the "
            f"largest number (up to {TOLERANCE:g} may be rounding)"
        )
        before, after = (self.words_per_second[name] for name in ("before", "after"))
        yield Table(
            None,
            None,
            ("", "Words/s"),
            [
                ("Before", f"{before:,.0f}"),
                ("After", f"{after:,.0f}"),
                ("Ratio", f"{after / before:.2f}"),
            ],
        )
        yield Bars({"Before": before, "After": after}, "words/s")
