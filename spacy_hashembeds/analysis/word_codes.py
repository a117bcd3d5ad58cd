"""The codes that a pipeline has for words in the place of rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.vocab import Vocab
from thinc.api import Model

from ..architectures.embedders.distinct_words import Words
from ..architectures.embedders.hash_former_embed import WordColumn
from ..layers.lshhasher import takes_ngrams
from .codes import count_sharing
from .features import Vocabulary
from .sizes import count_parameters


def measure_codes(
    vocab: Vocab, column: WordColumn, train: Vocabulary
) -> dict[str, Any]:
    """Measure what an embedder makes of an attribute by codes, and of a vocabulary.

    vocab (Vocab): That of the pipeline, which has the vocabulary's texts.
    column (WordColumn): One of the embedder's.
    train (Vocabulary): What the training corpus holds.
    RETURNS (dict[str, Any]): "attr": the attribute. "hasher", "compressor": the names
        of the layers that hash it, and make vectors of codes. "bits": those of a code,
        None if it is a row. "rows": how many there are, None if a code has bits.
        "width": of a vector. "parameters": those of the compressor. "values": distinct
        values in the training corpus. "sharing_code": those that share all bits with
        another, or their row, so that they can't be told apart; None if the n-grams
        that count are not known yet.
    """
    (hasher,), compressor = column.hashing.layers, column.compressor
    values, _ = train.count_values(column.attr)
    rows = column.hashing.maybe_get_dim("nV")
    return {
        "attr": column.attr,
        "hasher": hasher.name,
        "compressor": compressor.name,
        "bits": hasher.get_dim("nO") if rows is None else None,
        "rows": rows,
        "width": compressor.get_dim("nO"),
        "parameters": _count_parameters(compressor),
        "values": len(values),
        "sharing_code": _count_sharing(vocab, hasher, values),
    }


def _count_parameters(compressor: Model) -> int:
    """Count parameters, also where there are none yet, as in a config."""
    is_new = not any(n.has_param(p) for n in compressor.walk() for p in n.param_names)
    return count_parameters([compressor.copy().initialize() if is_new else compressor])


def _count_sharing(vocab: Vocab, hasher: Model, values: NDArray) -> int | None:
    if takes_ngrams(hasher) and hasher.attrs["ngrams"] is None:
        return None
    words = Words([vocab], values.reshape(-1, 1))
    codes: NDArray[np.integer] = hasher.predict(words.read_texts())
    return count_sharing(codes.astype("uint64"))
