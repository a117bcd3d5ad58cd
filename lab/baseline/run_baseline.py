"""Run the baseline: train a CRF, choose its penalties, evaluate it, record it."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from itertools import product
from math import ceil
from pathlib import Path
from time import process_time
from typing import Any

from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_hashembeds.corpora.docbin import read_docs
from spacy_hashembeds.evaluation.entities import EntityRun
from spacy_hashembeds.evaluation.sources import predict_examples

from ..trials.run_trial import measure_model, record_trial
from ..trials.trial import Trial, get_overrides, identify_inputs
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
    root: Path | None = None,
    force: bool = False,
    on_output: Callable[[str], None] = lambda line: None,
) -> tuple[dict[str, Any], bool, Trial]:
    """Train, evaluate and record a CRF as a trial, unless that is done.

    lang (str, optional): The language of a corpus of one's own.
    root (Path, optional): The folder of the project. None: the current one.
    RETURNS (tuple): The results, whether they are new, and what trial they are of.
    """
    overrides = {} if lang is None else {"nlp.lang": lang}
    root = Path() if root is None else root
    trial = Trial(dataset=dataset, embedder=NAME, overrides=overrides, root=root)
    metrics, is_new = record_trial(
        trial,
        identify=partial(_identify, trial),
        check=partial(_check, trial),
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
    return {**identity, "settings": {**settings, **tried}}


def _check(trial: Trial) -> None:
    """Check that there is a language, before anything is replaced."""
    get_overrides(trial)


def _train_and_measure(
    trial: Trial, on_output: Callable[[str], None]
) -> dict[str, Any]:
    """Train a CRF and measure it. Seconds of training are the processor's."""
    lang, file = get_overrides(trial)["nlp.lang"], trial.output / "model.crfsuite"
    docs, dev = (
        list(read_docs(trial.corpus[split], Vocab())) for split in ("train", "dev")
    )
    start = process_time()
    tried = choose_penalties(select_docs(docs), dev, lang, file, on_output)
    best = max(tried, key=lambda one: one["ents_f"])
    penalties = {name: best[name] for name in PENALTIES}
    chosen = process_time()
    weights = train(make_trainer(docs), file, **penalties, iterations=ITERATIONS)
    trained = process_time()
    file.unlink()
    nlp = make_pipeline(lang, weights)
    nlp.to_disk(trial.output / "model-best")
    metrics = measure_model(
        trial,
        {"train_seconds": trained - chosen, "choice_seconds": chosen - start},
    )
    crf: Any = nlp.get_pipe(NAME)
    metrics["sizes"]["pipeline_parameters"] = crf.count_weights()
    return {**metrics, "penalties": penalties, "tried": tried}


def select_docs(docs: Sequence[Doc]) -> Sequence[Doc]:
    """Select every second Doc, every third, … so that there are few enough tokens."""
    return docs[:: ceil(sum(map(len, docs)) / CHOICE_TOKENS) or 1]


def choose_penalties(
    docs: Sequence[Doc],
    dev: Sequence[Doc],
    lang: str,
    file: Path,
    on_output: Callable[[str], None],
) -> list[dict[str, float]]:
    """Try all penalties: give F1 on development data, 0 to 1, of each pair."""
    trainer = make_trainer(docs)
    tried = []
    for values in product(*PENALTIES.values()):
        penalties = dict(zip(PENALTIES, values, strict=True))
        weights = train(trainer, file, **penalties, iterations=ITERATIONS)
        nlp = make_pipeline(lang, weights)
        run = EntityRun(predict_examples(nlp, dev), None)
        f1 = run.scores["ents_f"] or 0.0  # None where nothing was found or to be found
        tried.append({**penalties, "ents_f": f1})
        on_output(f"{describe_penalties(penalties)}: F1 {100 * f1:.1f} on dev")
    return tried


def describe_penalties(penalties: Mapping[str, float]) -> str:
    """Write penalties for people: c1 0.05, c2 0.1."""
    return ", ".join(f"{name} {value:g}" for name, value in penalties.items())
