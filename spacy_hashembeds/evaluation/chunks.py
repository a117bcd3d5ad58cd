"""Accuracy of chunk tags: outside, single, begin, inside, end.

The tags are those of Li, Fu and Ma, "Why Attention?" (2020), §4.6 and table 5.
"""

from collections.abc import Iterable

from spacy.training import Example

from .counts import Counts, describe_recall, make_counts
from .scorer import Matches, SpanKey

CHUNKS = ("O", "S", "B", "I", "E")


def count_chunks(example: Example, matches: Matches) -> Counts:
    """Count the annotated tokens of each of `CHUNKS` that get it, and that don't."""
    is_missing = example.reference.to_array(["ENT_IOB"]).reshape(-1) == 0
    gold = _tag_tokens(len(is_missing), (*matches.correct, *matches.missed))
    predicted = _tag_tokens(
        len(is_missing), (*matches.ignored, *matches.spurious, *matches.correct)
    )
    counts = make_counts()
    for tag, other, missing in zip(gold, predicted, is_missing, strict=True):
        if not missing:
            counts[tag][0 if tag == other else 2] += 1
    return counts


def _tag_tokens(n_tokens: int, spans: Iterable[SpanKey]) -> list[str]:
    tags = ["O"] * n_tokens
    for _, start, end in spans:
        if end - start == 1:
            tags[start] = "S"
        elif start < end:  # aligned with some of the tokens
            tags[start:end] = ["B", *"I" * (end - start - 2), "E"]
    return tags


def summarize_chunks(totals: Counts) -> dict[str, dict[str, float | None]]:
    """Score the sums of what `count_chunks` counts."""
    return {tag: describe_recall(totals[tag]) for tag in CHUNKS}
