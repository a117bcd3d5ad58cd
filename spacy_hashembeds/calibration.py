"""Scores of entities that say how often they are right: one temperature is fitted."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger, minibatch

from .callbacks import check_example, get_reader
from .components.annotation import read_truth
from .components.temperature import fit_temperature
from .components.token_ner import TokenNER
from .evaluation.sources import predict_examples
from .inputs import check_items, check_pipeline


def create_calibrate_ner(
    *, corpus: str = "corpora.dev"
) -> Callable[[Language], Language]:
    """Have the scores of each `token_ner` calibrated before a pipeline is saved.

    For `[training.before_to_disk]`: at each save, which is at each evaluation, it costs
    a prediction of the corpus. Frozen components stay as they are. A temperature, by
    which log-probabilities of tags are divided, is from 1/20 to 20, and 1, with a
    warning, where no known tag is got wrong.

    corpus (str): The corpus to fit temperatures on, as [training] names its own. Not
        the training corpus, where a pipeline is surer than elsewhere, and right.
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


def calibrate_ner(nlp: Language, examples: Iterable[Example | Doc]) -> dict[str, float]:
    """Calibrate the scores of each `token_ner` in a trained pipeline.

    The temperature under which the tags of `examples` are the likeliest is kept in the
    `cfg` of the component, and saved with it. No entity changes. Where no known tag is
    got wrong, it is 1, with a warning.

    examples (Iterable[Example | Doc]): Gold docs that the pipeline was not trained on,
        such as the development set. Nothing in them is changed. Where they annotate
        fewer types than a component has as labels, as for one that was sourced, mark as
        missing what may be of the others: O says that a token is no entity of any type.
    RETURNS (dict[str, float]): The temperatures by the names of components.
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
) -> dict[str, float]:
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
        pipe.cfg["temperature"] = 1.0  # what was fitted to other weights is stale
        batches = list(_read_tags(nlp, name, pipe, golds))
        if any((scores.argmax(axis=1) != truth).any() for scores, truth in batches):
            found = fit_temperature(*map(np.concatenate, zip(*batches, strict=True)))
            pipe.cfg["temperature"] = round(found, 4)  # as JSON keeps it
            logger.info("Temperature of '%s': %.4g", name, found)
        else:
            warnings.warn(
                f"The temperature of '{name}' is 1, as of what is not calibrated: of "
                f"{sum(len(truth) for _, truth in batches)} tokens with known tags "
                f"in {source} none gets a wrong one. To fit one takes errors: are "
                "there Docs with entities, and others than the pipeline learned from?",
                stacklevel=3,
            )
    return {name: pipe.cfg["temperature"] for name, pipe in pipes.items()}


def _read_tags(
    nlp: Language, name: str, pipe: TokenNER, golds: Sequence[Example | Doc]
) -> Iterator[tuple[NDArray, NDArray]]:
    """Give the log-probabilities of tags, and the right ones, of tokens with any."""
    later = nlp.pipe_names[nlp.pipe_names.index(name) :]
    for batch in minibatch(predict_examples(nlp, golds, disable=later), nlp.batch_size):
        known = [_hide_unknown(example, pipe.labels) for example in batch]
        truth = read_truth(known, pipe.labels)
        scores = pipe.predict_tags([example.predicted for example in batch])
        yield scores[truth >= 0], truth[truth >= 0]


def _hide_unknown(example: Example, labels: Sequence[str]) -> Example:
    """Mark entities of types that the component can't find as missing, in a copy."""
    missing = [ent for ent in example.reference.ents if ent.label_ not in labels]
    if missing:
        example.reference = example.reference.copy()
        example.reference.set_ents([], missing=missing, default="unmodified")
    return example
