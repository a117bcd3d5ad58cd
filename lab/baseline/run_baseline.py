"""Run the baseline: train a CRF, choose its penalties, evaluate it, record it."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from itertools import product
from math import ceil
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_hashembeds.components.decoding import BIASES, choose_bias
from spacy_hashembeds.tools.evaluate.entities import EntityRun
from spacy_hashembeds.tools.evaluate.sources import predict_examples
from spacy_hashembeds.training.annotation import copy_words
from spacy_hashembeds.training.docbin import read_docs

from ..trials.run_trial import measure_model, record_trial
from ..trials.trial import Trial, get_overrides, identify_inputs
from .features import describe_word
from .recognizer import NAME, import_crfsuite, make_pipeline, make_trainer, train

#: What `c1` and `c2` are chosen from.
PENALTIES = {"c1": (0.0, 0.05, 0.2), "c2": (0.01, 0.1)}

#: For how long L-BFGS runs, at most. A shorter run to choose would favor no `c1`, with
#: which it is faster.
ITERATIONS = 100

#: How many tokens training has to choose, at most: of more, a share of the Docs.
CHOICE_TOKENS = 65_000


def run_baseline(
    dataset: str,
    *,
    lang: str | None = None,
    root: Path = Path(),
    force: bool = False,
    on_output: Callable[[str], None] = lambda line: None,
) -> tuple[dict[str, Any], bool, Trial]:
    """Train, evaluate and record a CRF as a trial, unless that is done; return whether
    the results are new, and of which trial they are.
    """
    overrides = {} if lang is None else {"nlp.lang": lang}
    trial = Trial(dataset=dataset, embedder=NAME, overrides=overrides, root=root)
    metrics, is_new = record_trial(
        trial,
        identify=partial(_identify, trial),
        check=partial(get_overrides, trial),  # which want a language
        train=lambda lock: _train_and_measure(trial, on_output),
        force=force,
        on_output=on_output,
    )
    return metrics, is_new, trial


def _identify(trial: Trial) -> dict[str, Any]:
    import_crfsuite()  # or that it is missing would be said without a remedy
    identity = identify_inputs(trial)
    identity["versions"]["python-crfsuite"] = version("python-crfsuite")
    settings = {"iterations": ITERATIONS, "choice_tokens": CHOICE_TOKENS}
    tried = {name: list(values) for name, values in PENALTIES.items()}
    biases = {"outside_bias": list(BIASES)}
    return {**identity, "settings": {**settings, **tried, **biases}}


def _train_and_measure(
    trial: Trial, on_output: Callable[[str], None]
) -> dict[str, Any]:
    """Train a CRF and measure it. Seconds of training are the processor's."""
    lang, file = get_overrides(trial)["nlp.lang"], trial.output / "model.crfsuite"
    *_, last = trial.corpus  # test, if there is one
    docs, dev, test = (
        list(read_docs(trial.corpus[split], Vocab()))
        for split in ("train", "dev", last)
    )
    start = process_time()
    # every second Doc, every third, … so that there are few enough tokens
    some = docs[:: ceil(sum(map(len, docs)) / CHOICE_TOKENS) or 1]
    trainer = make_trainer(some)
    tried = []
    for values in product(*PENALTIES.values()):
        penalties = dict(zip(PENALTIES, values, strict=True))
        weights = train(trainer, file, **penalties, iterations=ITERATIONS)
        f1 = measure_f1(make_pipeline(lang, weights), dev)
        tried.append({**penalties, "ents_f": f1})
        on_output(f"{describe_penalties(penalties)}: F1 {100 * f1:.1f} on dev")
    best = max(tried, key=lambda one: one["ents_f"])
    penalties = {name: best[name] for name in PENALTIES}
    chosen = process_time()
    weights = train(make_trainer(docs), file, **penalties, iterations=ITERATIONS)
    trained = process_time()
    file.unlink()
    nlp = make_pipeline(lang, weights)
    crf: Any = nlp.get_pipe(NAME)
    crf.outside_bias = choose_balance(nlp, dev)
    on_output(f"Bias of O: {crf.outside_bias:g}")
    nlp.to_disk(trial.output / "model-best")
    timings = {
        "train_seconds": trained - chosen,
        "choice_seconds": chosen - start,
        "words_per_second": _measure_speed(nlp, test),
    }
    metrics = measure_model(trial, timings)
    metrics["sizes"]["pipeline_parameters"] = crf.count_weights()
    chosen_too = {"penalties": penalties, "outside_bias": crf.outside_bias}
    return {**metrics, **chosen_too, "tried": tried}


def _measure_speed(nlp: Language, docs: Sequence[Doc]) -> float:
    """Time a pipeline on the words of Docs: words a second of the processor's time.

    A CRF runs in one thread, so that this is what it does on an idle machine.
    """
    seconds = []
    for _ in range(5):
        copies = [copy_words(doc, nlp.vocab) for doc in docs]
        describe_word.cache_clear()  # what an earlier round has seen is no gain
        start = process_time()
        for _ in nlp.pipe(copies):
            pass
        seconds.append(process_time() - start)
    return sum(map(len, docs)) / median(seconds)


def choose_balance(nlp: Language, dev: Sequence[Doc]) -> float:
    """Choose the bias of O on development data, as `calibrate_ner` does."""
    crf: Any = nlp.get_pipe(NAME)
    f_scores = []
    for crf.outside_bias in BIASES:
        f_scores.append(measure_f1(nlp, dev))
    return choose_bias(f_scores, sum(len(doc.ents) for doc in dev))


def measure_f1(nlp: Language, docs: Sequence[Doc]) -> float:
    """Measure F1 of entities, 0 where nothing was found or to be found."""
    return EntityRun(predict_examples(nlp, docs), None).scores["ents_f"] or 0.0


def describe_penalties(penalties: Mapping[str, float]) -> str:
    """Write penalties for people: c1 0.05, c2 0.1."""
    return ", ".join(f"{name} {value:g}" for name, value in penalties.items())
