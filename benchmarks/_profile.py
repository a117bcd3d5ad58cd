"""What takes the time of a pipeline: by stage, and by function."""

from collections.abc import Callable, Mapping, Sequence
from cProfile import Profile
from functools import partial
from pathlib import Path
from pstats import Stats
from statistics import median
from time import perf_counter
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Model

from ._data import count_words
from ._pipelines import annotate, make_examples, strip
from ._timing import Schedule

_FUNCTIONS = 12

#: Finds the layers of a pipeline that are stages, by the name of the stage.
FindLayers = Callable[[Language], Mapping[str, Model]]


def find_tok2vec_layers(nlp: Language) -> dict[str, Model]:
    """Find the two layers of a tok2vec."""
    tok2vec = nlp.get_pipe("tok2vec").model  # type: ignore[attr-defined]
    return {stage: tok2vec.get_ref(stage) for stage in ("embed", "encode")}


class _Clock:
    """Adds up the seconds of each stage: those of one within another are its own."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.within = 0.0

    def time(self, stage: str, run: Callable[..., Any], *args: Any) -> Any:
        outside, self.within = self.within, 0.0
        start = perf_counter()
        result = run(*args)
        end = perf_counter()
        own = end - start - self.within
        self.seconds[stage] = self.seconds.get(stage, 0.0) + own
        self.within = outside + end - start
        return result

    def take(self) -> dict[str, float]:
        """Take what has added up, and start anew."""
        seconds, self.seconds = self.seconds, {}
        return seconds


def profile_pipe(
    make: Callable[[], Language],
    docs: Sequence[Doc],
    schedule: Schedule,
    find_layers: FindLayers = find_tok2vec_layers,
) -> dict[str, Any]:
    """Measure where `nlp.pipe` spends its time; the tokenizer is left out.

    make (Callable[[], Language]): Makes the pipeline anew for each block.
    find_layers (FindLayers): Finds the layers that are stages.
    RETURNS (dict[str, Any]): Microseconds a word of each stage, medians of all rounds,
        and the functions that take most of the time. An NER is a stage too.
    """

    def measure(nlp: Language, clock: _Clock) -> dict[str, float]:
        whole, parts = ([strip(doc) for doc in docs] for _ in range(2))
        clock.time("rest", annotate, nlp, whole)
        seconds = clock.take()
        rest = seconds.pop("rest")
        if nlp.has_pipe("ner"):
            _annotate_by_component(nlp, parts, clock)
            seconds["ner"] = clock.take()["ner"]
            rest -= seconds["ner"]
        return {**seconds, "rest": rest}

    bare = [strip(doc) for doc in docs]
    medians = _get_medians(make, find_layers, measure, count_words(docs), schedule)
    return {
        "us_per_word": medians,
        "functions": _profile(make(), lambda nlp: annotate(nlp, bare)),
    }


def profile_update(
    make: Callable[[], Language],
    batches: Sequence[Sequence[Doc]],
    schedule: Schedule,
    find_layers: FindLayers = find_tok2vec_layers,
    rest: str = "ner and rest",
) -> dict[str, Any]:
    """Measure where `nlp.update` spends its time.

    make (Callable[[], Language]): Makes the pipeline anew for each block.
    find_layers (FindLayers): Finds the layers that are stages.
    rest (str): What to call all that is in no stage.
    RETURNS (dict[str, Any]): As for `profile_pipe`, each stage forward and backward.
    """

    def update(nlp: Language, clock: _Clock) -> None:
        optimizer = nlp.create_optimizer()
        dropout = nlp.config["training"]["dropout"]

        def step(*args: Any) -> Any:
            return clock.time("optimizer", optimizer, *args)

        for batch in batches:
            examples = make_examples(batch)
            # all that spaCy does with an optimizer is to call it
            run = partial(nlp.update, examples, sgd=step, drop=dropout)  # type: ignore[arg-type]
            clock.time(rest, run)

    def measure(nlp: Language, clock: _Clock) -> dict[str, float]:
        update(nlp, clock)
        return clock.take()

    n_words = sum(map(count_words, batches))
    return {
        "us_per_word": _get_medians(make, find_layers, measure, n_words, schedule),
        "functions": _profile(make(), lambda nlp: update(nlp, _Clock())),
    }


def _annotate_by_component(nlp: Language, docs: list[Doc], clock: _Clock) -> None:
    for name, pipe in nlp.pipeline:
        docs = clock.time(
            name,
            lambda p=pipe, d=docs: list(p.pipe(iter(d), batch_size=nlp.batch_size)),
        )


def _time_layer(model: Model, stage: str, clock: _Clock) -> None:
    """Time a layer where it stands; Thinc has no other way to replace `forward`."""
    forward = model._func

    def timed(model: Model, X: Any, is_train: bool) -> tuple[Any, Callable]:
        Y, backprop = clock.time(stage, forward, model, X, is_train)
        return Y, lambda dY: clock.time(stage, backprop, dY)

    model._func = timed


def _get_medians(
    make: Callable[[], Language],
    find_layers: FindLayers,
    measure: Callable[[Language, _Clock], dict[str, float]],
    n_words: int,
    schedule: Schedule,
) -> dict[str, float]:
    measured = []
    for _ in range(schedule.blocks):
        nlp, clock = make(), _Clock()
        for stage, layer in find_layers(nlp).items():
            _time_layer(layer, stage, clock)
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
