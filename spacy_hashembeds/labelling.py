"""Labels for texts without any, by several pipelines together, to train one on."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch
from spacy.vocab import Vocab

from .annotation import copy_words
from .components.annotation import forbid_tags, set_entities
from .components.token_ner import TokenNER
from .files import quote
from .inputs import check_items, check_pipeline

_BATCH_SIZE = 128


def label_entities(pipelines: Iterable[Language], docs: Iterable[Doc]) -> Iterator[Doc]:
    """Set the entities that pipelines find together, beside those that Docs have.

    The tags of tokens are chosen by the mean of their probabilities by each pipeline,
    and by the mean of what `balance` has chosen: see `TokenNER`. Trained from several
    seeds, pipelines are right more often together than each alone. One that is trained
    on what they find in many texts, beside the training data, takes that over.

    pipelines (Iterable[Language]): Of one language, with a `token_ner` each that has
        the same labels and decoding. Components ahead of it annotate, others don't.
    docs (Iterable[Doc]): Tokenized texts, whose annotation no pipeline sees, though
        their entities stay.
    RETURNS (Iterator[Doc]): The same Docs, but for those without tokens.
    RAISES (ValueError): If there is no pipeline, or they don't fit together; later, if
        components ahead of `token_ner` set entities or change tokens.

    Source: Bucila et al., "Model Compression" (2006).
    """
    check_items("pipelines", pipelines=pipelines)
    check_items("Docs", docs=docs)
    recognizers = [_find_recognizer(i, nlp) for i, nlp in enumerate(pipelines)]
    if not recognizers:
        raise ValueError("'pipelines' should hold one or more, but is empty.")
    for recognizer in recognizers:
        _check_fits(recognizer, recognizers[0])
    return (
        doc
        for batch in minibatch(filter(len, docs), _BATCH_SIZE)
        for doc in _label_batch(batch, recognizers)
    )


class _Recognizer(NamedTuple):
    number: int
    nlp: Language
    name: str
    pipe: TokenNER

    def predict_tags(self, docs: Sequence[Doc]) -> NDArray:
        """Give the log-probabilities of the tags of Docs, which stay as they are."""
        later = self.nlp.pipe_names[self.nlp.pipe_names.index(self.name) :]
        copies = [_copy_tokens(doc, self.nlp.vocab) for doc in docs]
        copies = list(self.nlp.pipe(copies, disable=later))
        for doc, copy in zip(docs, copies, strict=True):
            if copy.ents or len(copy) != len(doc):
                raise ValueError(
                    f"'pipelines[{self.number}]' should find entities by '{self.name}' "
                    "alone, in the tokens that are given, but a component ahead of it "
                    f"sets entities or changes tokens in {quote(doc.text)}. Save the "
                    "pipeline without that component."
                )
        return self.pipe.predict_tags(copies)


def _copy_tokens(doc: Doc, vocab: Vocab) -> Doc:
    # a tokenizer gives norms to tokens, not words: the second of "don't" has "not"
    copy = copy_words(doc, vocab)
    for own, token in zip(copy, doc, strict=True):
        if token.norm != token.lex.norm:
            own.norm_ = token.norm_
    return copy


def _find_recognizer(number: int, nlp: Language) -> _Recognizer:
    check_pipeline(nlp)
    pipes = [(name, p) for name, p in nlp.pipeline if isinstance(p, TokenNER)]
    if len(pipes) != 1:
        raise ValueError(
            f"'pipelines[{number}]' should have one 'token_ner', whose probabilities "
            f"can be added up, but has {len(pipes)} (components: "
            f"{', '.join(nlp.pipe_names) or 'none'})."
        )
    return _Recognizer(number, nlp, *pipes[0])


def _check_fits(recognizer: _Recognizer, first: _Recognizer) -> None:
    """Check that a pipeline gives its probabilities to the same tags as the first."""
    for what, own, wanted in (
        ("language", recognizer.nlp.lang, first.nlp.lang),
        ("labels", list(recognizer.pipe.labels), list(first.pipe.labels)),
        ("decoding", recognizer.pipe.decoding, first.pipe.decoding),
    ):
        if own != wanted:
            raise ValueError(
                f"'pipelines[{recognizer.number}]' should have the {what} of the "
                f"first, {quote(wanted)}, but has {quote(own)}. Train all by one "
                "config, on the same data."
            )


def _label_batch(docs: list[Doc], recognizers: Sequence[_Recognizer]) -> list[Doc]:
    lengths = np.array([len(doc) for doc in docs], dtype="int64")
    probs: Any = sum(np.exp(each.predict_tags(docs)) for each in recognizers)
    with np.errstate(divide="ignore"):  # of tags that a token can't have
        scores = np.log(probs / len(recognizers))
    bias = float(np.mean([each.pipe.cfg["outside_bias"] for each in recognizers]))
    forbid_tags(scores, docs)
    first = recognizers[0].pipe
    for doc, found in zip(docs, first.decode(scores, lengths, bias), strict=True):
        set_entities(doc, found, first.labels, None)
    return docs
