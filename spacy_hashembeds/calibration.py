"""Scores of entities that say how often they are right: two numbers are fitted."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger, minibatch

from .callbacks import check_example, get_reader
from .components.annotation import read_truth
from .components.decoding import find_entities
from .components.platt import Calibration, fit_calibration
from .components.tags import MISSING, count_tags
from .components.token_ner import TokenNER
from .evaluation.sources import predict_examples
from .inputs import check_items, check_pipeline


def create_calibrate_ner(
    *, corpus: str = "corpora.dev"
) -> Callable[[Language], Language]:
    """Have the scores of each `token_ner` calibrated before a pipeline is saved.

    For `[training.before_to_disk]`: at each save, which is at each evaluation, it costs
    a prediction of the corpus. Frozen components stay as they are. Where all entities
    that are found are right, or none, scores stay as they are, with a warning.

    corpus (str): The corpus to fit to, as [training] names its own. Not the training
        corpus, where a pipeline is surer than elsewhere, and right.
    RAISES (ValueError): At the first save, right after the first step, if there is no
        such corpus, or no `token_ner`.
    """

    def calibrate(nlp: Language) -> Language:
        config = nlp.config.interpolate()
        frozen = config["training"]["frozen_components"]
        examples = get_reader(config, corpus)(nlp)
        _calibrate(nlp, examples, f"the corpus '{corpus}'", frozen)
        return nlp

    return calibrate


def calibrate_ner(
    nlp: Language, examples: Iterable[Example | Doc]
) -> dict[str, Calibration | None]:
    """Calibrate the scores of each `token_ner` in a trained pipeline.

    A score s becomes one with log-odds of a slope times -log(1 - s), plus an offset:
    those under which the entities that it finds in `examples` are the likeliest to be
    right where they are. Both are kept in the `cfg` of the component, and saved with
    it. No entity changes, nor which has the higher score. Where all that it finds are
    right, or none, scores stay as they are, with a warning.

    examples (Iterable[Example | Doc]): Gold docs that the pipeline was not trained on,
        such as the development set. Nothing in them is changed. Where they annotate
        fewer types than a component has as labels, as for one that was sourced, mark as
        missing what may be of the others: O says that a token is no entity of any type.
    RETURNS (dict[str, tuple[float, float] | None]): Slopes and offsets, by the names of
        components; None where scores stay.
    RAISES (ValueError): If there is no `token_ner`.
    """
    check_pipeline(nlp)
    check_items("Examples or Docs", examples=examples)
    examples = list(examples)
    for item in examples:
        check_example(item)
    return _calibrate(nlp, examples, "'examples'")


def _calibrate(
    nlp: Language,
    golds: Iterable[Example | Doc],
    source: str,
    frozen: Sequence[str] = (),
) -> dict[str, Calibration | None]:
    pipes = {name: p for name, p in nlp.pipeline if isinstance(p, TokenNER)}
    if not pipes:
        raise ValueError(
            "'nlp' should have a 'token_ner', whose scores can be calibrated, but has "
            f"none (components: {', '.join(nlp.pipe_names) or 'none'}). Add one, or "
            "leave out the callback 'spacy-hashembeds.calibrate_ner.v1'."
        )
    golds = list(golds)
    pipes = {name: pipe for name, pipe in pipes.items() if name not in frozen}
    for name, pipe in pipes.items():
        pipe.cfg["calibration"] = None  # what was fitted to other weights is stale
        pairs = np.array(list(judge_entities(nlp, name, golds))).reshape(-1, 2)
        n_right = int(pairs[:, 1].sum())
        if 0 < n_right < len(pairs):
            slope, offset = fit_calibration(*pairs.T)
            pipe.cfg["calibration"] = round(slope, 4), round(offset, 4)
            logger.info("Calibration of '%s': %.4g, %.4g", name, slope, offset)
        else:
            warnings.warn(
                f"Scores of '{name}' are not calibrated: of {len(pairs)} entities that "
                f"it finds in {source} {n_right} are right, and calibration learns "
                "from right ones and wrong ones. Training goes on; more Docs with "
                "entities, which the pipeline has not learned from, have both.",
                stacklevel=3,
            )
    return {name: pipe.cfg["calibration"] for name, pipe in pipes.items()}


def judge_entities(
    nlp: Language, name: str, golds: Sequence[Example | Doc]
) -> Iterator[tuple[float, bool]]:
    """Give the score of each entity that a `token_ner` finds, and whether it is right.

    Entities on tokens of which nothing is known are left out.
    """
    pipe = nlp.get_pipe(name)
    assert isinstance(pipe, TokenNER)
    later = nlp.pipe_names[nlp.pipe_names.index(name) :]
    for batch in minibatch(predict_examples(nlp, golds, disable=later), nlp.batch_size):
        docs = [example.predicted for example in batch]
        truth = read_truth(
            [_hide_unknown(eg, pipe.labels) for eg in batch], pipe.labels
        )
        lengths = np.array([len(doc) for doc in docs], dtype="int64")
        certain = np.zeros((len(truth), count_tags(len(pipe.labels))), dtype="float32")
        for tags, found, right in zip(
            np.split(truth, np.cumsum(lengths)[:-1]),
            pipe.predict(docs),
            find_entities(truth, certain, lengths),
            strict=True,
        ):
            known = set(zip(*(x.tolist() for x in right[:3]), strict=True))
            for *place, score in zip(*(x.tolist() for x in found), strict=True):
                start, end, _ = place
                if (tags[start:end] != MISSING).all():
                    yield score, tuple(place) in known


def _hide_unknown(example: Example, labels: Sequence[str]) -> Example:
    """Mark entities of types that the component can't find as missing, in a copy."""
    missing = [ent for ent in example.reference.ents if ent.label_ not in labels]
    if missing:
        example.reference = example.reference.copy()
        example.reference.set_ents([], missing=missing, default="unmodified")
    return example
