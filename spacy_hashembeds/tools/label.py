"""Label texts by an ensemble of pipelines, as training data for one pipeline."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch

from ..arguments import check_items, check_pipeline
from ..components.entity_tags import forbid_tags, set_entities
from ..components.token_ner import TokenNER
from ..files import quote
from ..training.annotation import check_docs
from ..training.prediction import (
    copy_words,
    find_inputs,
    find_needed,
    warn_missing_features,
)

#: Name for errors, pipeline, name of its recognizer, recognizer.
_Recognizer = tuple[str, Language, str, TokenNER]


def label_entities(pipelines: Iterable[Language], docs: Iterable[Doc]) -> Iterator[Doc]:
    """Set the entities that an ensemble of pipelines finds, and keep existing ones.

    Tags are decoded from the mean of the pipelines' probabilities, with the mean of
    their `outside_bias`: see `TokenNER`. To train one pipeline on their labels:
    docs/ner.md.

    pipelines (Iterable[Language]): Pipelines of one language, each with a `token_ner`
        with the same labels and decoding. Only components before `token_ner` run.
    docs (Iterable[Doc]): Tokenized texts. Pipelines get only features that they read.
    RETURNS (Iterator[Doc]): The same Docs, except those without tokens.
    RAISES (ValueError): If there is no pipeline, or pipelines differ in these respects;
        later, if components before `token_ner` set entities or change tokens.

    Source: Bucila et al., "Model Compression" (2006).
    """
    check_items("pipelines", pipelines=pipelines)
    check_items("Docs", docs=docs)
    found = [_find_recognizer(i, nlp) for i, nlp in enumerate(pipelines)]
    if not found:
        raise ValueError("'pipelines' should hold one or more, but is empty.")
    traits = [(nlp.lang, pipe.decoding, pipe.labels) for _, nlp, _, pipe in found]
    for (name, *_), own in zip(found, traits, strict=True):
        if own != traits[0]:
            raise ValueError(
                f"{name} should have the language, decoding and labels of the first, "
                f"{quote(traits[0])}, but has {quote(own)}. Train all with one config "
                "on the same data."
            )
    needed = find_needed(found[0][1])
    batches = minibatch(
        warn_missing_features(needed, filter(len, check_docs(docs, "docs"))), 128
    )
    return chain.from_iterable(_label_batch(batch, found) for batch in batches)


def _find_recognizer(number: int, nlp: Language) -> _Recognizer:
    check_pipeline(nlp)
    name = f"'{nlp.path or f'pipelines[{number}]'}'"
    pipes = [(key, pipe) for key, pipe in nlp.pipeline if isinstance(pipe, TokenNER)]
    if len(pipes) != 1:
        raise ValueError(
            f"{name} should have one 'token_ner', but has {len(pipes)} (components: "
            f"{', '.join(nlp.pipe_names) or 'none'})."
        )
    return name, nlp, *pipes[0]


def _label_batch(docs: list[Doc], found: Sequence[_Recognizer]) -> list[Doc]:
    lengths = np.array([len(doc) for doc in docs], dtype="int64")
    probs: Any = 0.0
    for name, nlp, component, pipe in found:
        inputs = find_inputs(nlp)
        copies = [copy_words(doc, nlp.vocab, inputs) for doc in docs]
        for own, token in zip(chain(*copies), chain(*docs), strict=True):
            # norms set by the tokenizer, such as "not" in "don't"
            if token.norm != token.lex.norm:
                own.norm_ = token.norm_
        later = nlp.pipe_names[nlp.pipe_names.index(component) :]
        copies = list(nlp.pipe(copies, disable=later))
        for doc, copy in zip(docs, copies, strict=True):
            if copy.ents or len(copy) != len(doc):
                raise ValueError(
                    f"{name} should set entities only by '{component}', but an earlier "
                    f"component sets entities or changes tokens in {quote(doc.text)}. "
                    "Save the pipeline without that component."
                )
        probs = probs + np.exp(pipe.predict_tags(copies))
    with np.errstate(divide="ignore"):  # log(0) for forbidden tags
        scores = np.log(probs / len(found))
    bias = float(np.mean([pipe.cfg["outside_bias"] for *_, pipe in found]))
    forbid_tags(scores, docs)
    *_, first = found[0]
    for doc, ents in zip(docs, first.decode(scores, lengths, bias), strict=True):
        set_entities(doc, ents, first.labels, None)
    return docs
