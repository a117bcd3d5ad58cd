"""Scores of entities that say how often they are right: one temperature is fitted."""

import warnings
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger, minibatch

from .callbacks import get_reader
from .checks import check_items, check_pipeline
from .components.annotation import read_truth
from .components.tags import count_tags
from .components.temperature import fit_temperature
from .components.token_ner import TokenNER
from .evaluation.sources import predict_examples

#: How many Docs are tagged at a time.
_BATCH = 128


def create_calibrate_ner(
    *, corpus: str = "corpora.dev"
) -> Callable[[Language], Language]:
    """Have the scores of each `token_ner` calibrated before a pipeline is saved.

    For `[training.before_to_disk]`. `spacy train` calls it at each save, with averaged
    weights in place, if there are any. It costs one prediction of the corpus. Training
    and the entities that are found are the same with and without it.

    corpus (str): The corpus to fit temperatures on, as [training] names its own. Not
        the training corpus: there, a pipeline is surer than elsewhere, and right.

    RAISES (ValueError): At the first save, before there is anything to lose, if there
        is no such corpus, or no `token_ner` in the pipeline.
    """

    def calibrate(nlp: Language) -> Language:
        pipes = _find_recognizers(nlp)
        examples = get_reader(nlp.config.interpolate(), corpus)(nlp)
        _calibrate(nlp, pipes, list(examples), f"the corpus '{corpus}'")
        return nlp

    return calibrate


def calibrate_ner(nlp: Language, examples: Iterable[Example | Doc]) -> dict[str, float]:
    """Calibrate the scores of each `token_ner` in a pipeline, as its config may have
    done by the callback `spacy-hashembeds.calibrate_ner.v1`.

    The temperature is the one under which the tags of `examples` are the likeliest
    (Guo et al. 2017). It is kept in the `cfg` of the component, and saved with it;
    1 is that of pipelines that were never calibrated. No entity changes by it.

    examples (Iterable[Example | Doc]): Gold docs that the pipeline was not trained on,
        such as the development set. Nothing in them is changed.
    RETURNS (dict[str, float]): The temperatures by the names of components. Where no
        tag of `examples` is wrong, or none is known, that of the component stays, and
        there is a warning.
    RAISES (TypeError): If `nlp` is no pipeline, or `examples` no Examples or Docs.
    RAISES (ValueError): If there is no `token_ner`.
    """
    check_pipeline(nlp)
    check_items("Examples or Docs", examples=examples)
    return _calibrate(nlp, _find_recognizers(nlp), list(examples), "'examples'")


def _find_recognizers(nlp: Language) -> dict[str, TokenNER]:
    found = {name: p for name, p in nlp.pipeline if isinstance(p, TokenNER)}
    if not found:
        raise ValueError(
            "'nlp' should have a 'token_ner', whose scores can be calibrated, but has "
            f"none (components: {', '.join(nlp.pipe_names) or 'none'}). Remove the "
            "callback 'spacy-hashembeds.calibrate_ner.v1', or add the component."
        )
    return found


def _calibrate(
    nlp: Language,
    pipes: dict[str, TokenNER],
    golds: Sequence[Example | Doc],
    source: str,
) -> dict[str, float]:
    for name, pipe in pipes.items():
        scores, truth = _read_tags(nlp, name, pipe, golds)
        if (scores.argmax(axis=1) == truth).all():
            warnings.warn(
                f"The temperature of '{name}' stays at {pipe.cfg['temperature']:.4g}: "
                f"of {len(truth)} tokens with known tags in {source} none has a wrong "
                "one. To fit a temperature takes errors.",
                stacklevel=3,
            )
        else:
            # as JSON keeps it
            pipe.cfg["temperature"] = round(fit_temperature(scores, truth), 4)
            logger.info("Temperature of '%s': %.4g", name, pipe.cfg["temperature"])
    return {name: pipe.cfg["temperature"] for name, pipe in pipes.items()}


def _read_tags(
    nlp: Language, name: str, pipe: TokenNER, golds: Sequence[Example | Doc]
) -> tuple[NDArray, NDArray]:
    """Give the log-probabilities of tags, and the right ones of tokens where known."""
    later = nlp.pipe_names[nlp.pipe_names.index(name) :]
    n_tags = count_tags(len(pipe.labels))
    scores, truth = [np.zeros((0, n_tags), "float32")], [np.zeros(0, "int64")]
    for examples in minibatch(predict_examples(nlp, golds, disable=later), _BATCH):
        for example in examples:
            _hide_unknown(example, pipe.labels)
        tags = read_truth(examples, pipe.labels)
        found = pipe.predict_tags([example.predicted for example in examples])
        scores.append(found[tags >= 0])
        truth.append(tags[tags >= 0])
    return np.concatenate(scores), np.concatenate(truth)


def _hide_unknown(example: Example, labels: Sequence[str]) -> None:
    """Mark entities of types that the component can't find as missing, in a copy."""
    if any(ent.label_ not in labels for ent in example.reference.ents):
        example.reference = example.reference.copy()
        missing = [e for e in example.reference.ents if e.label_ not in labels]
        example.reference.set_ents([], missing=missing, default="unmodified")
