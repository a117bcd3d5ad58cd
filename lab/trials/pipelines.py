"""Pipelines beside a baseline: what they keep of its score, parameters and time."""

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import takewhile
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.vocab import Vocab
from thinc.api import get_current_ops, set_current_ops

from spacy_hashembeds.acceleration.machine import find_disturbances, watch_machine
from spacy_hashembeds.corpora.docbin import read_docs, read_examples
from spacy_hashembeds.files import bytes_on_disk, quote
from spacy_hashembeds.loading import load_trained

from .comparison import Rows, ShowProgress, add_ratios, add_speeds, measure_models
from .sizes import (
    count_embedding_parameters,
    count_mixing_parameters,
    count_pipeline_parameters,
    has_embeddings,
)


def compare_pipelines(
    models: Sequence[str],
    corpus: Path | None = None,
    *,
    score: str | None = None,
    progress: ShowProgress = lambda rounds: rounds,
) -> dict[str, Any]:
    """Set pipelines beside the first of them, whatever they were trained by.

    models (Sequence[str]): Names or folders, the baseline first.
    corpus (Path, optional): A gold corpus to score and to time them on, all in one run,
        in turns. Without it, parameters and sizes alone are compared.
    score (str, optional): spaCy's name of the score to compare. By default the one that
        the baseline was chosen by in training.
    RETURNS (dict[str, Any]): The name of the "score", "machine" and "disturbances" as
        `compare_trials` has them, all None without a corpus; and the "rows". Each has a
        "name" that tells it from the others, its "model" and "score"; sizes, of which
        "embedding_parameters" and "mixing_parameters" are None where no embedding can
        be told from the rest, and "vector_values" are numbers that no component trains;
        the ratios; and with a corpus "words_per_second", their quartiles, and
        "times_as_fast".
    """
    if len(models) < 2:
        raise ValueError(
            "There should be a pipeline and others to set beside it, but there is "
            f"only {quote(next(iter(models))) if models else 'none'}."
        )
    if score is not None and corpus is None:
        raise ValueError(
            f"'score' is {quote(score)}, but there is no corpus to score pipelines on. "
            "Name one (--corpus), or leave 'score' out."
        )
    docs = [] if corpus is None else list(read_docs(corpus, Vocab()))
    rows: Rows = []
    for model, name in zip(models, name_models(models), strict=True):
        with ExitStack() as stack:
            # a pipeline may choose a BLAS for the whole process
            stack.callback(set_current_ops, get_current_ops())
            nlp = load_trained(model)
            row: dict[str, Any] = {"name": name, "model": model, "score": None}
            row |= _measure_size(nlp)
            if corpus is not None:
                score = score or choose_score(nlp)
                row["score"] = _get_score(nlp, model, corpus, score)
        rows.append(row)
    add_ratios(rows, [row["score"] for row in rows])
    machine, disturbances = None, None
    if corpus is not None:
        with watch_machine() as machine:
            speeds = measure_models(models, docs, progress)
        add_speeds(rows, speeds)
        disturbances = find_disturbances(machine, {rows[0]["name"]: speeds[0]})
    return {
        "score": score,
        "machine": machine,
        "disturbances": disturbances,
        "rows": rows,
    }


def name_models(models: Sequence[str]) -> list[str]:
    """Name pipelines by the part of their paths that tells them apart, if any."""
    paths = [Path(model).parts for model in models]
    if any(len(parts) < 2 for parts in paths):
        return list(models)
    for _ in range(2):  # without the folders that all begin with, or all end in
        columns = zip(*paths, strict=False)
        n = len([*takewhile(lambda parts: len({*parts}) == 1, columns)])
        paths = [parts[n:][::-1] for parts in paths]
    return ["/".join(parts) for parts in paths] if all(paths) else list(models)


def choose_score(nlp: Language) -> str:
    """Choose the one score that has weight in a pipeline's `training.score_weights`."""
    weights = nlp.config["training"].get("score_weights") or {}
    names = [name for name, weight in weights.items() if weight]
    if len(names) != 1:
        found = f"by {', '.join(names)}" if names else "by no score"
        raise ValueError(
            f"'score' should be named (--score), since the first pipeline was chosen "
            f"{found} in training. Scores are such as ents_f, cats_macro_f or tag_acc."
        )
    return names[0]


def _measure_size(nlp: Language) -> dict[str, int | None]:
    is_told = has_embeddings(nlp)
    vectors = nlp.vocab.vectors.data
    return {
        "pipeline_parameters": count_pipeline_parameters(nlp),
        "embedding_parameters": count_embedding_parameters(nlp) if is_told else None,
        "mixing_parameters": count_mixing_parameters(nlp) if is_told else None,
        "vector_values": int(vectors.size),
        "bytes_on_disk": bytes_on_disk(nlp.path),
    }


def _get_score(nlp: Language, model: str, corpus: Path, name: str) -> float | None:
    scores = nlp.evaluate(list(read_examples(corpus, nlp)))
    if name not in scores or isinstance(scores[name], dict):
        known = [key for key, value in scores.items() if isinstance(value, float)]
        raise ValueError(
            f"'score' is {quote(name)}, but the pipeline '{model}' has none of this "
            f"name on '{corpus}', only {', '.join(known)}."
        )
    return scores[name]
