"""Time that a pipeline takes, by stage."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Model

from spacy_hashembeds.annotation import copy_words
from spacy_hashembeds.thinc_internals import get_forward

from .timing import Schedule, count_words


class Stages:
    """Adds up the seconds of each stage: those of one within another are its own."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.within = 0.0

    def time(self, stage: str, run: Callable[..., Any], *args: Any) -> Any:
        """Run something, and add what it takes to a stage."""
        outside, self.within = self.within, 0.0
        start = perf_counter()
        result = run(*args)
        end = perf_counter()
        own = end - start - self.within
        self.seconds[stage] = self.seconds.get(stage, 0.0) + own
        self.within = outside + end - start
        return result

    def watch(self, model: Model, stage: str) -> None:
        """Time a layer where it stands; Thinc has no other way to replace `forward`."""
        forward = get_forward(model)

        def timed(model: Model, X: Any, is_train: bool) -> tuple[Any, Callable]:
            Y, backprop = self.time(stage, forward, model, X, is_train)
            return Y, lambda dY: self.time(stage, backprop, dY)

        model._func = timed


def profile(
    make: Callable[[], Language],
    run: Callable[[Language, Stages, Any], object],
    sample: list[Any],
    schedule: Schedule,
    find_layers: Callable[[Language], Mapping[str, Model]],
) -> dict[str, float]:
    """Measure microseconds a word of each stage, medians of all rounds.

    run (Callable): Annotates or trains on a sample: `annotate`, `update`.
    find_layers (Callable): Finds the layers of a pipeline that are stages.
    """
    measured = []
    for _ in range(schedule.blocks):
        nlp, stages = make(), Stages()
        for stage, layer in find_layers(nlp).items():
            stages.watch(layer, stage)
        run(nlp, stages, sample)  # to warm up
        for _ in range(schedule.rounds):
            stages.seconds = {}
            run(nlp, stages, sample)
            measured.append(stages.seconds)
    us = 1e6 / count_words(sample)
    return {stage: us * median(of[stage] for of in measured) for stage in measured[0]}


def annotate_in_stages(nlp: Language, stages: Stages, docs: Sequence[Doc]) -> None:
    """Annotate docs component by component, each a stage."""
    docs = [copy_words(doc, nlp.vocab) for doc in docs]
    for name, pipe in nlp.pipeline:
        docs = stages.time(name, lambda p=pipe, d=docs: [*p.pipe(iter(d))])


def update_in_stages(
    nlp: Language, stages: Stages, batches: Sequence[Sequence[Any]]
) -> None:
    """Train on batches of examples; what is in no other stage is "rest"."""
    optimizer, dropout = nlp.create_optimizer(), nlp.config["training"]["dropout"]

    def step(*args: Any) -> Any:
        return stages.time("optimizer", optimizer, *args)

    for batch in batches:
        # all that spaCy does with an optimizer is to call it
        run = partial(nlp.update, batch, sgd=step, drop=dropout)  # type: ignore[arg-type]
        stages.time("rest", run)
