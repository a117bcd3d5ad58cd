"""What takes the time of a pipeline: by stage, and by function."""

from collections.abc import Callable, Sequence
from cProfile import Profile
from functools import partial
from pathlib import Path
from pstats import Stats
from statistics import median
from time import perf_counter
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model

from ._data import count_words
from ._pipelines import annotate, make_examples, strip
from ._timing import Schedule

_FUNCTIONS = 12

#: No stage of its own: the part of all others in which Python was done, a GPU not yet.
WAITING = "of these, waiting for the GPU"

#: Waits until a GPU has done all that it was given. There is nothing to wait for else.
Wait = Callable[[], object]


def _wait_for_nothing() -> None:
    pass


class _Clock:
    """Adds up the seconds of each stage, to the GPU's end of it."""

    def __init__(self, wait: Wait = _wait_for_nothing) -> None:
        self.seconds: dict[str, float] = {}
        self.waited = 0.0
        self.wait = wait

    def time(self, stage: str, run: Callable[..., Any], *args: Any) -> Any:
        self.wait()
        start = perf_counter()
        result = run(*args)
        returned = perf_counter()
        self.wait()
        end = perf_counter()
        self.waited += end - returned
        self.seconds[stage] = self.seconds.get(stage, 0.0) + end - start
        return result

    def take(self) -> dict[str, float]:
        """Take what has added up, and start anew."""
        seconds, self.seconds = self.seconds, {}
        return seconds

    def take_waited(self) -> dict[str, float]:
        """Take the part of it that was spent waiting for the GPU, as a stage."""
        waited, self.waited = self.waited, 0.0
        return {} if self.wait is _wait_for_nothing else {WAITING: waited}


def profile_pipe(
    make: Callable[[], Language],
    docs: Sequence[Doc],
    schedule: Schedule,
    wait: Wait = _wait_for_nothing,
) -> dict[str, Any]:
    """Measure where `nlp.pipe` spends its time; the tokenizer is left out.

    make (Callable[[], Language]): Makes the pipeline anew for each block.
    wait (Wait): Waits for the GPU, where there is one.
    RETURNS (dict[str, Any]): Microseconds a word of each stage, medians of all rounds,
        and the functions that take most of the time.
    """

    def measure(nlp: Language, clock: _Clock) -> dict[str, float]:
        whole, parts = ([strip(doc) for doc in docs] for _ in range(2))
        clock.time("whole", annotate, nlp, whole)
        seconds, waited = clock.take(), clock.take_waited()
        _annotate_by_component(nlp, parts, clock)
        seconds["ner"] = clock.take()["ner"]
        clock.take_waited()
        total = seconds.pop("whole")
        return {**seconds, "rest": total - sum(seconds.values()), **waited}

    bare = [strip(doc) for doc in docs]
    return {
        "us_per_word": _get_medians(make, measure, count_words(docs), schedule, wait),
        "functions": _profile(make(), lambda nlp: annotate(nlp, bare)),
    }


def profile_update(
    make: Callable[[], Language],
    batches: Sequence[Sequence[Doc]],
    schedule: Schedule,
    wait: Wait = _wait_for_nothing,
) -> dict[str, Any]:
    """Measure where `nlp.update` spends its time.

    make (Callable[[], Language]): Makes the pipeline anew for each block.
    wait (Wait): Waits for the GPU, where there is one.
    RETURNS (dict[str, Any]): As for `profile_pipe`, each stage forward and backward.
    """

    def update(nlp: Language, clock: _Clock) -> None:
        optimizer = nlp.create_optimizer()

        def step(*args: Any) -> Any:
            return clock.time("optimizer", optimizer, *args)

        for batch in batches:
            examples = make_examples(batch)
            clock.time("whole", partial(_update, nlp, examples, step))

    def measure(nlp: Language, clock: _Clock) -> dict[str, float]:
        update(nlp, clock)
        seconds = clock.take()
        whole = seconds.pop("whole")
        rest = whole - sum(seconds.values())
        return {**seconds, "ner and rest": rest, **clock.take_waited()}

    n_words = sum(map(count_words, batches))
    return {
        "us_per_word": _get_medians(make, measure, n_words, schedule, wait),
        "functions": _profile(make(), lambda nlp: update(nlp, _Clock())),
    }


def _update(nlp: Language, examples: list[Example], step: Any) -> None:
    # all that spaCy does with an optimizer is to call it
    nlp.update(examples, sgd=step, drop=0.1)


def _annotate_by_component(nlp: Language, docs: list[Doc], clock: _Clock) -> None:
    for name, pipe in nlp.pipeline:
        docs = clock.time(
            name,
            lambda p=pipe, d=docs: list(p.pipe(iter(d), batch_size=nlp.batch_size)),
        )


def _time_tok2vec(nlp: Language, clock: _Clock) -> None:
    tok2vec = nlp.get_pipe("tok2vec").model  # type: ignore[attr-defined]
    for stage in ("embed", "encode"):
        _time_layer(tok2vec.get_ref(stage), stage, clock)


def _time_layer(model: Model, stage: str, clock: _Clock) -> None:
    """Time a layer where it stands; Thinc has no other way to replace `forward`."""
    forward = model._func

    def timed(model: Model, X: Any, is_train: bool) -> tuple[Any, Callable]:
        Y, backprop = clock.time(stage, forward, model, X, is_train)
        return Y, lambda dY: clock.time(stage, backprop, dY)

    model._func = timed


def _get_medians(
    make: Callable[[], Language],
    measure: Callable[[Language, _Clock], dict[str, float]],
    n_words: int,
    schedule: Schedule,
    wait: Wait,
) -> dict[str, float]:
    measured = []
    for _ in range(schedule.blocks):
        nlp, clock = make(), _Clock(wait)
        _time_tok2vec(nlp, clock)
        measure(nlp, clock)  # to warm up
        measured += [measure(nlp, clock) for _ in range(schedule.rounds)]
    return {
        stage: 1e6 * median(seconds[stage] for seconds in measured) / n_words
        for stage in measured[0]
    }


def _profile(nlp: Language, run: Callable[[Language], object]) -> list[dict[str, Any]]:
    """Find the functions that take most of the time, without what they call."""
    for _ in range(2):  # to warm up
        run(nlp)
    with Profile() as profile:
        run(nlp)
    stats: dict[Any, Any] = Stats(profile).stats  # type: ignore[attr-defined]
    whole = sum(own for _, _, own, _, _ in stats.values())
    ranked = sorted(stats.items(), key=lambda item: -item[1][2])
    return [
        {
            # no folder, which is this machine's own
            "function": f"{Path(file).name}:{name}" if file != "~" else name,
            "calls": calls,
            "percent": round(100 * own / whole, 1),
        }
        for (file, _, name), (_, calls, own, _, _) in ranked[:_FUNCTIONS]
    ]
