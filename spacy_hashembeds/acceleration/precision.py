"""Choose the fastest precision of each component that changes few annotations."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ..layers.windowencoder import LaidOut
from .changes import count_changes
from .conversion import find_fewer_bits
from .parity import SAMPLE_SIZE, annotate, walk_encoders
from .timing import Progress, measure_components

#: The reason if no precision is chosen.
NO_CHOICE = (
    "no enabled component has a window encoder of ours, or there are no compiled "
    "kernels or no instructions for fewer bits (see `spacy hashembeds doctor`)"
)
#: A time below this share of another is clearly less, in spite of noise.
_CLEARLY = 0.9
#: Timings of a component in each precision: the fastest counts.
_ROUNDS = 3


@dataclass(frozen=True)
class ChosenPrecision:
    """Precision of the products of a component's encoders, with its reasons."""

    component: str
    precision: str
    #: Microseconds a word of the component, by precision.
    times: Mapping[str, float]
    #: Reasons against faster precisions, by precision.
    refused: Mapping[str, str]

    def __str__(self) -> str:
        times = ", ".join(f"{name} {us:.1f}" for name, us in self.times.items())
        against = "".join(f"; not {name}: {why}" for name, why in self.refused.items())
        return (
            f"{self.component}: products of {self.precision} "
            f"(microseconds a word: {times}){against}"
        )


def choose_precisions(
    before: Language,
    after: Language,
    texts: Sequence[str | Doc],
    max_changed: float,
    progress: Progress,
) -> list[ChosenPrecision]:
    """Choose and set a precision for each enabled component of `after` that has
    encoders of ours which `before` does not share, the slowest component first.
    Precisions that are clearly faster than the current one are tried, the fastest
    first, until the annotations of `after` differ from those of `before` by no more
    than `max_changed`; otherwise the current one is kept. Choices for earlier
    components stay set. `NO_CHOICE` explains an empty list.
    """
    encoders = _find_encoders(after, before)
    if not encoders or not find_fewer_bits():
        return []
    docs = []
    for doc in annotate(before, progress(texts, "texts")):
        doc.tensor = np.zeros((0,), dtype="f")  # not compared: free the memory
        docs.append(doc)
    if not any(map(len, docs)):
        return []
    times = _time(after, encoders, docs, progress)
    chosen = []
    for name in sorted(encoders, key=lambda name: -max(times[name].values())):
        kept, of = encoders[name][0].precision, times[name]
        faster = [each for each, us in of.items() if us < _CLEARLY * of[kept]]
        refused: dict[str, str] = {}
        for precision in (*sorted(faster, key=of.__getitem__), kept):
            _set(encoders[name], precision)
            if precision == kept:
                break
            new_docs = annotate(after, progress(texts, "texts"))
            changes = count_changes(before, texts, docs, new_docs)
            excess = changes.describe_excess(max_changed)
            if not excess:
                break
            refused[precision] = excess
        chosen.append(ChosenPrecision(name, precision, of, refused))
    return chosen


def _find_encoders(nlp: Language, other: Language) -> dict[str, list[LaidOut]]:
    """Find encoders by component, without those that another pipeline shares."""
    shared = {id(weights) for _, weights in walk_encoders(other)}
    encoders = defaultdict(list)
    for name, weights in walk_encoders(nlp):
        if name in nlp.pipe_names and id(weights) not in shared:
            encoders[name].append(weights)
    return encoders


def _set(encoders: Iterable[LaidOut], precision: str) -> None:
    for weights in encoders:
        weights.precision = precision


def _time(
    pipeline: Language,
    encoders: Mapping[str, Sequence[LaidOut]],
    docs: Sequence[Doc],
    progress: Progress,
) -> dict[str, dict[str, float]]:
    """Time the components that have encoders, in each precision, in turns."""
    n_tokens = np.cumsum([len(doc) for doc in docs])
    sample = docs[: int(np.searchsorted(n_tokens, SAMPLE_SIZE)) + 1]
    kept = {name: of[0].precision for name, of in encoders.items()}
    times: dict[str, dict[str, float]] = {name: {} for name in encoders}
    for _ in progress(range(_ROUNDS), "rounds"):
        for precision in ("float32", *find_fewer_bits()):
            for of_component in encoders.values():
                _set(of_component, precision)
            found = measure_components(pipeline, sample)
            for name, of in times.items():
                of[precision] = min(found[name], of.get(precision, float("inf")))
    for name, precision in kept.items():
        _set(encoders[name], precision)
        # without instructions for it, float32 is used
        times[name].setdefault(precision, times[name]["float32"])
    return times
