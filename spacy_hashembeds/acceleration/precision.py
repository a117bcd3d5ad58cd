"""Choose the fastest precision for each component within a limit of changes."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ..kernels.convolution import PRECISIONS
from ..layers.windowencoder import EncoderPlan
from .changes import count_changes
from .conversion import list_low_precisions
from .doctor import find_lacking
from .parity import SAMPLE_SIZE, annotate_texts, walk_encoders
from .timing import Progress, measure_components

#: A precision replaces the current one only below this share of its time.
_TIME_RATIO = 0.9
#: Number of timings per precision, of which the fastest counts.
_ROUNDS = 3


@dataclass(frozen=True)
class ChosenPrecision:
    """Precision of a component's encoders, with the reasons."""

    component: str
    precision: str
    #: Time of the component in µs per word, by supported precision.
    times: Mapping[str, float]
    #: Excessive changes by faster precisions.
    refused: Mapping[str, str]

    def __str__(self) -> str:
        times = ", ".join(f"{name} {us:.1f}" for name, us in self.times.items())
        slow, lacking = "saves under 10 percent of the time", "not supported here"
        reasons = {
            name: slow if name in self.times else lacking
            for name in PRECISIONS
            if self.times.get(name, 0) < self.times[self.precision]
        }
        for name, excess in self.refused.items():
            reasons[name] = f"may change too much, {excess}"
        against = "".join(f"; not {name}: {why}" for name, why in reasons.items())
        return f"{self.component}: chose {self.precision} (µs/word: {times}){against}"


def choose_precisions(
    before: Language,
    after: Language,
    texts: Sequence[str | Doc],
    max_changed: float,
    progress: Progress,
) -> list[ChosenPrecision]:
    """Choose and set a precision for each enabled component of `after` with our
    encoders, unless `before` shares them, slowest component first: the fastest within
    `max_changed`, if clearly faster than the current one, else the current one. Earlier
    choices count in later comparisons. `explain_no_choice` explains an empty list.
    """
    encoders = _find_encoders(after, before)
    if not encoders or not list_low_precisions():
        return []
    docs = []
    for doc in annotate_texts(before, progress(texts, "texts"), "original"):
        doc.tensor = np.zeros((0,), dtype="f")  # not compared
        docs.append(doc)
    if not any(map(len, docs)):
        return []
    times = _time_precisions(after, encoders, docs, progress)
    chosen = []
    for name in sorted(encoders, key=lambda name: -max(times[name].values())):
        current, measured = encoders[name][0].precision, times[name]
        limit = _TIME_RATIO * measured[current]
        faster = [each for each, us in measured.items() if us < limit]
        refused: dict[str, str] = {}
        for precision in (*sorted(faster, key=measured.__getitem__), current):
            _set_precision(encoders[name], precision)
            if precision == current:
                break
            new_docs = annotate_texts(after, progress(texts, "texts"))
            changes = count_changes(before, texts, docs, new_docs)
            excess = changes.describe_excess(max_changed)
            if not excess:
                break
            refused[precision] = excess
        chosen.append(ChosenPrecision(name, precision, measured, refused))
    return chosen


def explain_no_choice() -> str:
    """Explain why `choose_precisions` returns an empty list."""
    if list_low_precisions():
        return "no enabled component has our window encoder"
    needs = "; ".join(f"{name} needs {find_lacking(name)}" for name in PRECISIONS[1:])
    return f"only float32 is supported by this processor and build ({needs})"


def _find_encoders(nlp: Language, other: Language) -> dict[str, list[EncoderPlan]]:
    """Find encoders by component, except those that another pipeline shares."""
    shared = {id(weights) for _, weights in walk_encoders(other)}
    encoders = defaultdict(list)
    for name, weights in walk_encoders(nlp):
        if name in nlp.pipe_names and id(weights) not in shared:
            encoders[name].append(weights)
    return encoders


def _set_precision(encoders: Iterable[EncoderPlan], precision: str) -> None:
    for weights in encoders:
        weights.precision = precision


def _time_precisions(
    pipeline: Language,
    encoders: Mapping[str, Sequence[EncoderPlan]],
    docs: Sequence[Doc],
    progress: Progress,
) -> dict[str, dict[str, float]]:
    """Time components in each supported precision, in µs per word."""
    n_tokens = np.cumsum([len(doc) for doc in docs])
    sample = docs[: int(np.searchsorted(n_tokens, SAMPLE_SIZE)) + 1]
    kept = {name: of[0].precision for name, of in encoders.items()}
    times: dict[str, dict[str, float]] = {name: {} for name in encoders}
    for _ in progress(range(_ROUNDS), "rounds"):
        for precision in ("float32", *list_low_precisions()):
            for of_component in encoders.values():
                _set_precision(of_component, precision)
            found = measure_components(pipeline, sample)
            for name, of in times.items():
                of[precision] = min(found[name], of.get(precision, float("inf")))
    for name, precision in kept.items():
        _set_precision(encoders[name], precision)
        # float32 is used for an unsupported precision
        times[name].setdefault(precision, times[name]["float32"])
    return times
