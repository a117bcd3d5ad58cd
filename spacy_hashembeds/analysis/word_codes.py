"""The codes that a pipeline has for words in the place of rows."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from thinc.api import Model

from ..architectures.embedders.character_ngrams import find_ngram_waiters
from ..architectures.embedders.distinct_words import Words
from ..architectures.embedders.hash_former_embed import WordColumn, find_columns
from ..layers.lshhasher import takes_ngrams
from .codes import count_sharing
from .features import Vocabulary
from .sizes import count_parameters


@dataclass(frozen=True, kw_only=True)
class CodeMeasures:
    """What a `HashFormerEmbed` makes of an attribute, and of a corpus.

    component (str): The name of its component.
    attr (str): The attribute.
    hasher (str): The name of the layer that hashes it.
    compressor (str): The name of the layer that makes vectors of codes.
    bits (int, optional): The bits of a code, None if it is a row.
    rows (int, optional): How many rows there are, None if a code has bits.
    width (int): Of a vector.
    parameters (int): Those of the compressor.
    values (int): Distinct values in the training corpus.
    sharing_code (int, optional): Those that share all bits with another, or their row,
        so that they can't be told apart. None if the n-grams that count are not known
        yet.
    """

    component: str
    attr: str
    hasher: str
    compressor: str
    bits: int | None
    rows: int | None
    width: int
    parameters: int
    values: int
    sharing_code: int | None


def find_code_columns(nlp: Language) -> Iterator[tuple[str, WordColumn]]:
    """Find what embeds attributes by codes, with the names of components."""
    for name, pipe in nlp.pipeline:
        model = getattr(pipe, "model", None)
        for embedder in find_ngram_waiters(model) if isinstance(model, Model) else ():
            for column in find_columns(embedder):
                yield name, column


def measure_codes(
    nlp: Language, component: str, column: WordColumn, train: Vocabulary
) -> CodeMeasures:
    """Measure the codes of an attribute on a vocabulary.

    nlp (Language): The pipeline, whose vocab has the vocabulary's texts.
    component (str): The name of a component in it.
    column (WordColumn): One of its layers.
    train (Vocabulary): What the training corpus holds.
    """
    (hasher,), compressor = column.hashing.layers, column.compressor
    values, _ = train.count_values(column.attr)
    rows = column.hashing.maybe_get_dim("nV")
    return CodeMeasures(
        component=component,
        attr=column.attr,
        hasher=hasher.name,
        compressor=compressor.name,
        bits=hasher.get_dim("nO") if rows is None else None,
        rows=rows,
        width=compressor.get_dim("nO"),
        parameters=_count_parameters(compressor),
        values=len(values),
        sharing_code=_count_sharing(nlp, hasher, values),
    )


def _count_parameters(compressor: Model) -> int:
    """Count parameters, also where there are none yet, as in a config."""
    is_new = not any(n.has_param(p) for n in compressor.walk() for p in n.param_names)
    return count_parameters([compressor.copy().initialize() if is_new else compressor])


def _count_sharing(nlp: Language, hasher: Model, values: NDArray) -> int | None:
    if takes_ngrams(hasher) and hasher.attrs["ngrams"] is None:
        return None
    words = Words([nlp.vocab], values.reshape(-1, 1))
    codes: NDArray[np.integer] = hasher.predict(words.read_texts())
    return count_sharing(codes.astype("uint64"))
