"""The precision of the products of each component: the fastest that changes little."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch
from thinc.api import set_current_ops

from ..evaluation.tasks import list_classes
from ..kernels.convolution import PRECISIONS
from ..layers.windowencoder import LaidOut
from .changes import ChangeCounter, can_tell
from .conversion import find_fewer_bits
from .parity import BATCH_SIZE, SAMPLE_SIZE, LoadedPipeline, check_tokens, walk_encoders
from .timing import Progress, measure_components

FLOAT32 = PRECISIONS[0]
#: What share of a time is clearly less, whatever else runs.
_CLEARLY = 0.9
#: How often components are timed in each precision: the fastest counts.
_ROUNDS = 3


@dataclass(frozen=True)
class ChosenPrecision:
    """Precision of the products of a component's encoders, with its reasons."""

    component: str
    precision: str
    #: Microseconds a word of the component, by precision.
    times: Mapping[str, float]
    #: What speaks against others that are faster, by precision.
    refused: Mapping[str, str]

    def __str__(self) -> str:
        """Say what was chosen, how fast each is, and what speaks against others."""
        times = ", ".join(f"{name} {us:.1f}" for name, us in self.times.items())
        against = "".join(f"; not {name}: {why}" for name, why in self.refused.items())
        return (
            f"{self.component}: products of {self.precision} "
            f"(microseconds a word: {times}){against}"
        )


def choose_precisions(
    before: LoadedPipeline,
    after: LoadedPipeline,
    texts: Sequence[str | Doc],
    max_changed: float,
    progress: Progress,
) -> list[ChosenPrecision]:
    """Choose one for each enabled component of `after` that has encoders of ours of its
    own, what takes longest first: of those clearly faster than what it has the fastest
    with which, beside what was chosen before it, what `before` annotates is changed no
    more than may be. Both have the same precisions at first.

    RAISES (ValueError): If there is no token in the texts.
    """
    encoders = _find_encoders(after.nlp, before.nlp)
    docs = list(_annotate(before, progress(texts, "texts")))
    n_tokens = sum(map(len, docs))
    check_tokens(n_tokens, len(docs))
    is_enough = can_tell(n_tokens, max_changed)
    times = _time(after, encoders, docs, progress)
    classes = list_classes(before.nlp)
    chosen = []
    for name in sorted(encoders, key=lambda name: -max(times[name].values())):
        kept = encoders[name][0].precision
        refused: dict[str, str] = {}
        for precision in _rank(times[name], kept):
            _set(encoders[name], precision)
            if precision == kept:
                break
            if not is_enough:
                refused[precision] = f"{n_tokens} tokens are too few to tell"
                continue
            counter = ChangeCounter(classes)
            found = list(_annotate(after, progress(texts, "texts")))
            counter.count(texts, docs, found)
            excess = counter.summarize().describe_excess(max_changed)
            if not excess:
                break
            refused[precision] = f"it would change {excess}"
        chosen.append(ChosenPrecision(name, precision, times[name], refused))
    return chosen


def _rank(times: Mapping[str, float], kept: str) -> list[str]:
    """Rank precisions that are clearly faster than what is kept, and last this one."""
    faster = [name for name, us in times.items() if us < _CLEARLY * times[kept]]
    return [*sorted(faster, key=times.__getitem__), kept]


def _find_encoders(nlp: Language, other: Language) -> dict[str, list[LaidOut]]:
    """Find encoders by component, but for what another pipeline shares, and for
    components whose encoders have several precisions.
    """
    shared = {id(weights) for _, weights in walk_encoders(other)}
    encoders = defaultdict(list)
    for name, weights in walk_encoders(nlp):
        if name in nlp.pipe_names:
            encoders[name].append(weights)
    return {
        name: of
        for name, of in encoders.items()
        if len({weights.precision for weights in of}) == 1
        and shared.isdisjoint(map(id, of))
    }


def _set(encoders: Sequence[LaidOut], precision: str) -> None:
    for weights in encoders:
        weights.precision = precision


def _annotate(pipeline: LoadedPipeline, texts: Iterable[str | Doc]) -> Iterator[Doc]:
    """Annotate texts. What is compared is kept, and vectors are not."""
    for batch in minibatch(texts, BATCH_SIZE):
        for doc in pipeline.annotate(batch):
            doc.tensor = np.zeros((0,), dtype="f")
            yield doc


def _time(
    pipeline: LoadedPipeline,
    encoders: Mapping[str, Sequence[LaidOut]],
    docs: Sequence[Doc],
    progress: Progress,
) -> dict[str, dict[str, float]]:
    """Time the components that have encoders, in each precision, in turns."""
    set_current_ops(pipeline.ops)
    n_tokens = np.cumsum([len(doc) for doc in docs])
    sample = docs[: int(np.searchsorted(n_tokens, SAMPLE_SIZE)) + 1]
    kept = {name: of[0].precision for name, of in encoders.items()}
    times: dict[str, dict[str, float]] = {name: {} for name in encoders}
    for _ in progress(range(_ROUNDS if encoders else 0), "rounds"):
        for precision in (FLOAT32, *find_fewer_bits()):
            for of_component in encoders.values():
                _set(of_component, precision)
            found = measure_components(pipeline.nlp, sample)
            for name, of in times.items():
                of[precision] = min(found[name], of.get(precision, float("inf")))
    for name, of_component in encoders.items():
        _set(of_component, kept[name])
        # where there are no instructions for it, it is float32
        times[name].setdefault(kept[name], times[name][FLOAT32])
    return times
