"""How many tokens get their chunk tag: outside, single, begin, inside, end.

The tags, and the ablation of parts of an encoder, which is not trained for it, are
those of Li, Fu and Ma, "Why Attention?" (2020), §4.6 and table 5.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from spacy.training import Example
from thinc.api import Model

from ..architectures.encoders.parts import find_layer, find_parts
from ..layers.columns import leaving_alone
from .counts import Counts, add_counts, make_counts
from .scorer import ALL, Matches, SpanKey, match_entities
from .sources import Inputs, Source

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
    supports = {tag: totals[tag][0] + totals[tag][2] for tag in CHUNKS}
    return {
        tag: {"support": n, "recall": totals[tag][0] / n if n else None}
        for tag, n in supports.items()
    }


def score_chunks(examples: Iterable[Example]) -> Mapping[str, Mapping[str, Any]]:
    """Score the chunk tags of predicted docs."""
    matched = ((example, match_entities(example, ())) for example in examples)
    counts = (count_chunks(eg, found[ALL]) for eg, found in matched if found)
    return summarize_chunks(add_counts(counts))


def find_ablated(source: Source) -> Model:
    """Find the one layer of a pipeline whose parts are left alone."""
    if not source.is_pipeline:
        raise ValueError(
            "'ablation' (--ablation) runs a pipeline with parts of its encoder alone, "
            f"but '{source.name}' are predictions. Give the pipeline that made them."
        )
    return find_layer(source.docs)


def ablate(layer: Model, inputs: Inputs) -> dict[str, Mapping[str, Mapping[str, Any]]]:
    """Score chunk tags with each of `find_parts` alone, and zeros for the others."""
    scores = {}
    for name, columns in find_parts(layer).items():
        with leaving_alone(layer, columns):
            examples = inputs.predict(inputs.predictions, f"{name} alone")
            scores[name] = score_chunks(examples)
    return scores
