"""The precision of the products of each component: the fastest that changes little."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch
from thinc.api import set_current_ops

from ..architectures.encoders.maxout_window_encoder import forward as encode_windows
from ..evaluation.tasks import list_classes
from ..kernels.quantized import PRECISIONS
from ..layers.windowencoder import LaidOut
from .blas import walk_layers
from .changes import ChangeCounter
from .conversion import find_fewer_bits
from .parity import BATCH_SIZE, SAMPLE_SIZE, LoadedPipeline
from .timing import measure_components

FLOAT32 = PRECISIONS[0]
#: How often components are timed in each precision: the fastest counts.
_ROUNDS = 3


@dataclass(frozen=True)
class ChosenPrecision:
    """Precision of the products of a component's encoders, with its reasons."""

    component: str
    precision: str
    #: Microseconds a word of the component, by precision.
    times: Mapping[str, float]
    #: What others that are faster would change, by precision.
    refused: Mapping[str, str]

    def __str__(self) -> str:
        """Say what was chosen, how fast each is, and what speaks against others."""
        times = ", ".join(f"{name} {us:.1f}" for name, us in self.times.items())
        against = "".join(
            f"; {name} would change {what}" for name, what in self.refused.items()
        )
        return (
            f"{self.component}: products of {self.precision} "
            f"(microseconds a word: {times}){against}"
        )


def choose_precisions(
    before: LoadedPipeline,
    after: LoadedPipeline,
    texts: Sequence[str | Doc],
    max_changed: float,
    progress: Callable[[Sequence[str | Doc]], Iterable[Any]] = lambda texts: texts,
) -> list[ChosenPrecision]:
    """Choose one for each enabled component of `after` that has encoders of ours, what
    takes longest first: of those faster than float32 the fastest with which, beside
    what was chosen before it, what `before` annotates is changed no more than may be.

    Encoders of `after` are left with what is chosen.
    """
    encoders = _find_encoders(after.nlp)
    _set(encoders, FLOAT32)
    docs = list(_annotate(before, progress(texts)))
    times = _time(after, encoders, docs)
    classes = list_classes(before.nlp)
    chosen = []
    for name in sorted(encoders, key=lambda name: -times[name][FLOAT32]):
        ranked = sorted(times[name], key=times[name].__getitem__)
        refused: dict[str, str] = {}
        for precision in ranked[: ranked.index(FLOAT32)]:
            _set({name: encoders[name]}, precision)
            counter = ChangeCounter(classes)
            counter.count(texts, docs, list(_annotate(after, progress(texts))))
            refused[precision] = counter.summarize().describe_excess(max_changed)
            if not refused[precision]:
                del refused[precision]
                break
        else:
            precision = FLOAT32
            _set({name: encoders[name]}, precision)
        chosen.append(ChosenPrecision(name, precision, times[name], refused))
    return chosen


def _find_encoders(nlp: Language) -> dict[str, list[LaidOut]]:
    encoders = defaultdict(list)
    for name, node in walk_layers(nlp):
        if node._func is encode_windows and name in nlp.pipe_names:
            encoders[name].append(node.attrs["weights"])
    return dict(encoders)


def _set(encoders: Mapping[str, Sequence[LaidOut]], precision: str) -> None:
    for of_component in encoders.values():
        for weights in of_component:
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
) -> dict[str, dict[str, float]]:
    """Time the components that have encoders, in each precision, in turns."""
    set_current_ops(pipeline.ops)
    n_tokens = np.cumsum([len(doc) for doc in docs])
    sample = docs[: int(np.searchsorted(n_tokens, SAMPLE_SIZE)) + 1]
    times: dict[str, dict[str, float]] = {name: {} for name in encoders}
    for _ in range(_ROUNDS):
        for precision in (FLOAT32, *find_fewer_bits()):
            _set(encoders, precision)
            found = measure_components(pipeline.nlp, sample)
            for name, of in times.items():
                of[precision] = min(found[name], of.get(precision, float("inf")))
    _set(encoders, FLOAT32)
    return times
