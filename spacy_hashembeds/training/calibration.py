"""Fit the bias of O of a trained `token_ner`, and calibrate its entity scores."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger, minibatch

from ..arguments import check_items, check_pipeline
from ..components.decoding import (
    BIASES,
    MAX_SLOPE,
    MIN_SLOPE,
    MISSING,
    Calibration,
    Entities,
    choose_bias,
    find_entities,
    get_neg_log_complement,
    get_probs,
)
from ..components.entity_tags import read_truth
from ..components.token_ner import TokenNER
from ..files import quote
from .annotation import get_reference
from .counting import get_reader
from .prediction import predict_examples

#: Score of each predicted entity, and whether it is correct.
Judged = list[tuple[float, bool]]


def create_calibrate_ner(
    *, corpus: str = "corpora.dev", balance: bool = False
) -> Callable[[Language], Language]:
    """Calibrate the scores of each `token_ner` before a pipeline is saved.

    Use it in `[training.before_to_disk]`. Each evaluation that saves the pipeline then
    predicts the corpus once more, slower with `balance`. Frozen components are not
    changed. If all predicted entities are correct, or none, scores are not calibrated,
    with a warning.

    corpus (str): The corpus to fit to, in the notation of [training]. Do not use the
        training corpus, where pipelines are overconfident.
    balance (bool): Fit the bias of O too: see `calibrate_ner`. Scores printed in
        training and in `meta.json` do not include the bias.
    RAISES (ValueError): At the first save, directly after the first step, if the corpus
        or a `token_ner` is missing.
    """

    def calibrate(nlp: Language) -> Language:
        config = nlp.config.interpolate()
        frozen = config["training"]["frozen_components"]
        golds = get_reader(config, corpus)(nlp)
        _calibrate(nlp, golds, f"the corpus '{corpus}'", balance, frozen)
        return nlp

    return calibrate


def calibrate_ner(
    nlp: Language,
    examples: Iterable[Example | Doc],
    *,
    balance: bool = False,
    held_out: Iterable[tuple[Language, Iterable[Example | Doc]]] = (),
) -> dict[str, Calibration | None]:
    """Calibrate the scores of each `token_ner` in a trained pipeline.

    Calibrated log-odds are slope * -log(1 - s) + offset, where s is the original score.
    Slope and offset are fitted by maximum likelihood to the entities predicted in
    `examples`, and saved in the component's `cfg`. If all predicted entities are
    correct, or none, scores are not calibrated, with a warning. Entities change only
    with `balance`.

    examples (Iterable[Example | Doc]): Held-out gold docs, such as the development set.
        They are not modified. If they lack annotation of some labels, mark tokens that
        may be such entities as missing: O excludes entities of every type.
    balance (bool): Choose `cfg["outside_bias"]` too (see `TokenNER`), from -2 to 6: the
        value nearest to 0 whose F1 is within 0.25 / sqrt(number of gold entities), at
        least half a point, of the best.
    held_out (Iterable[tuple[Language, Iterable[Example | Doc]]]): Further pipelines
        with the same components, each trained without some of the training docs, and
        these docs. Their scores are fitted too, but not the bias. Use it if `examples`
        share documents with the training set, or are of another kind than your texts.
        On small corpora, such pipelines are less precise, and scores become too low.
    RETURNS (dict[str, tuple[float, float] | None]): Slope and offset by component name,
        or None if not calibrated.
    RAISES (ValueError): If there is no `token_ner`, or a pipeline of `held_out` has
        none of the same name and with common labels.
    """
    check_pipeline(nlp)
    check_items("Examples or Docs", examples=examples)
    check_items("pairs of a pipeline and docs", held_out=held_out)
    held_out = [*held_out]
    source = "'examples' and 'held_out'" if held_out else "'examples'"
    return _calibrate(nlp, examples, source, balance, held_out=held_out)


def _calibrate(
    nlp: Language,
    golds: Iterable[Example | Doc],
    source: str,
    balance: bool,
    frozen: Sequence[str] = (),
    held_out: Sequence[tuple[Language, Iterable[Example | Doc]]] = (),
) -> dict[str, Calibration | None]:
    pipes = {name: p for name, p in nlp.pipeline if isinstance(p, TokenNER)}
    if not pipes:
        raise ValueError(
            "'nlp' should have a 'token_ner' to calibrate, but has none. Add one, or "
            "remove 'spacy-hashembeds.calibrate_ner.v1'."
        )
    golds = list(golds)
    others = [_check_held_out(item, pipes) for item in held_out]
    pipes = {name: pipe for name, pipe in pipes.items() if name not in frozen}
    for name, pipe in pipes.items():
        biases = BIASES if balance else (pipe.cfg["outside_bias"],)
        judged, f_scores, n_gold = judge_entities(nlp, name, golds, biases)
        bias = choose_bias(f_scores, n_gold) if balance else biases[0]
        scored = judged[biases.index(bias)]
        for other, docs in others:
            scored += judge_entities(other, name, docs)[0][0]
        scores, is_right = np.array(scored).reshape(-1, 2).T
        pipe.cfg["outside_bias"] = bias
        if 0 < is_right.sum() < len(scores):
            fitted = fit_calibration(scores, is_right)
            pipe.cfg["calibration"] = tuple(round(number, 4) for number in fitted)
            logger.info("Calibration of '%s': %.4g, %.4g, bias %g", name, *fitted, bias)
        else:
            pipe.cfg["calibration"] = None  # possibly stale
            warnings.warn(
                f"Scores of '{name}' are not calibrated: of {len(scores)} entities "
                f"predicted in {source} {is_right.sum():.0f} are right. Calibration "
                "needs right and wrong ones.",
                stacklevel=3,
            )
    return {name: pipe.cfg["calibration"] for name, pipe in pipes.items()}


def _check_held_out(item: Any, pipes: Mapping[str, TokenNER]) -> tuple[Language, list]:
    """Check an item of `held_out`, and list its docs."""
    is_pair = isinstance(item, tuple | list) and len(item) == 2
    if not (is_pair and isinstance(item[0], Language)):
        raise TypeError(
            "'held_out' should be a list of pairs of a pipeline and gold Docs, "
            f"[(nlp, docs), …], but holds {quote(item)}."
        )
    nlp, docs = item
    check_items("gold Docs", held_out=docs)
    docs = list(docs)
    golds = [get_reference(item, "held_out") for item in docs]
    if not any(gold.has_annotation("ENT_IOB") for gold in golds):
        raise ValueError("'held_out' should hold Docs with entities, but one has none.")
    for name, pipe in pipes.items():
        other = nlp.get_pipe(name) if nlp.has_pipe(name) else None
        if not (isinstance(other, TokenNER) and {*other.labels} & {*pipe.labels}):
            raise ValueError(
                f"A pipeline of 'held_out' should have the 'token_ner' '{name}', with "
                "labels of 'nlp'. Train all with one config."
            )
    return nlp, docs


def fit_calibration(scores: NDArray, is_right: NDArray) -> Calibration:
    """Fit slope (1/20 to 20) and offset by maximum likelihood, to scores with at least
    one right and one wrong entity. *Shapes:* `(n,)`.

    Targets are smoothed by Laplace's rule; (slope - 1)² / 2 is a penalty. Sources:
    Platt, "Probabilistic Outputs for Support Vector Machines" (1999), §2; for
    -log(1 - s), Kull et al., "Beta calibration" (2017).
    """
    with np.errstate(divide="ignore"):  # log(0)
        x = get_neg_log_complement(np.log(np.asarray(scores, dtype="float64")))
    n_right, n = int(np.sum(is_right)), len(x)
    truth = np.where(is_right, (n_right + 1) / (n_right + 2), 1 / (n - n_right + 2))

    def fit_offset(slope: float) -> float:
        odds = slope * x
        bound = float(np.abs(odds).max() + np.log(n + 2))
        return _bisect(lambda b: get_probs(odds + b).sum() - truth.sum(), -bound, bound)

    def get_slope_gradient(slope: float) -> float:
        probs = get_probs(slope * x + fit_offset(slope))
        return (probs - truth) @ x + slope - 1

    slope = _bisect(get_slope_gradient, MIN_SLOPE, MAX_SLOPE)
    return slope, fit_offset(slope)


def _bisect(increasing: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of an increasing function by bisection, or the nearest bound."""
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if increasing(middle) > 0 else (middle, high)
    return low


def judge_entities(
    nlp: Language,
    name: str,
    golds: Iterable[Example | Doc],
    biases: Sequence[float] = (),
) -> tuple[list[Judged], list[float], int]:
    """Judge the entities predicted with each bias, by default the fitted one, except on
    tokens with missing annotation. Return them; F1 with each bias, including entities
    set by preceding components; and the number of gold entities.
    """
    pipe: Any = nlp.get_pipe(name)
    biases = biases or (pipe.cfg["outside_bias"],)
    types = {label: k for k, label in enumerate(pipe.labels)}
    judged: list[Judged] = [[] for _ in biases]
    before: list[bool] = []
    n_gold = 0
    later = nlp.pipe_names[nlp.pipe_names.index(name) :]
    examples = predict_examples(nlp, golds, disable=later)
    with_tokens = (example for example in examples if len(example.predicted))
    for batch in minibatch(with_tokens, nlp.batch_size):
        docs = [example.predicted for example in batch]
        known = [_hide_unknown(example, pipe.labels) for example in batch]
        truth = read_truth(known, pipe.labels)
        lengths = np.array([len(doc) for doc in docs], dtype="int64")
        are_known = np.split(truth != MISSING, np.cumsum(lengths)[:-1])
        scores = pipe.predict_tags(docs)
        gold = dict(_list_known(find_entities(truth, scores, lengths), are_known))
        n_gold += len(gold)
        before += [
            (i, ent.start, ent.end, types[ent.label_]) in gold
            for i, doc in enumerate(docs)
            for ent in doc.ents
            if ent.label_ in types and are_known[i][ent.start : ent.end].all()
        ]
        for bias, judgments in zip(biases, judged, strict=True):
            found = pipe.decode(scores, lengths, bias)
            places = _list_known(found, are_known)
            judgments += [(score, place in gold) for place, score in places]
    n_right = [sum(before) + sum(right for _, right in each) for each in judged]
    n_found = [len(before) + len(each) for each in judged]
    counts = zip(n_right, n_found, strict=True)
    return judged, [2 * n / max(found + n_gold, 1) for n, found in counts], n_gold


def _list_known(
    found: Sequence[Entities], are_known: Sequence[NDArray]
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield text, start, end and type of entities on known tokens, and the score."""
    for i, (entities, is_known) in enumerate(zip(found, are_known, strict=True)):
        for *place, score in zip(*(array.tolist() for array in entities), strict=True):
            if is_known[slice(*place[:2])].all():
                yield (i, *place), score


def _hide_unknown(example: Example, labels: Sequence[str]) -> Example:
    """Mark entities whose type is not a label as missing, in a copy."""
    missing = [ent for ent in example.reference.ents if ent.label_ not in labels]
    if missing:
        example.reference = example.reference.copy()
        example.reference.set_ents([], missing=missing, default="unmodified")
    return example
