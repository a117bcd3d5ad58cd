"""Docs of many sentences, to be scored beside the single ones of a corpus."""

from collections.abc import Iterator, Sequence
from itertools import repeat
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc

from ...arguments import check_integers
from ...training.joined import READER, is_sentence, regroup
from .sources import Inputs

#: How many sentences are joined unless somebody says otherwise.
SENTENCES = 10


def choose_sentences(join: int | None, inputs: Inputs, *, is_of_entities: bool) -> int:
    """Choose how many sentences to join: what was asked for, by default `SENTENCES`
    where a pipeline is given entities of single sentences, and else 0, none.
    """
    golds, is_pipeline = inputs.gold.docs, inputs.predictions.is_pipeline
    is_possible = is_of_entities and is_pipeline
    is_possible = is_possible and all(isinstance(gold, Doc) for gold in golds)
    # spaCy says that each Doc of one token has sentence boundaries
    longer = [gold for gold in golds if len(gold) > 1] if is_possible else []
    if join is None:
        return SENTENCES if longer and all(map(is_sentence, longer)) else 0
    check_integers(0, join=join)
    is_known = not longer or any(gold.has_annotation("SENT_START") for gold in longer)
    if join and not (is_possible and is_known):
        raise ValueError(
            f"'join' is {join}, but needs gold Docs, not Examples, with entities and "
            "sentence boundaries, and a pipeline. Leave it out, or give these."
        )
    return join


def join_gold(inputs: Inputs) -> Inputs:
    """Put Docs of `join` sentences in the place of the gold ones, joined or cut."""
    docs = list(regroup(inputs.gold.docs, repeat(inputs.join), enough=inf))
    name = f"{inputs.predictions.name} on texts of {inputs.join} sentences"
    predictions = inputs.predictions._replace(name=name)
    return inputs._replace(
        gold=inputs.gold._replace(docs=docs), predictions=predictions
    )


def stack_together(
    runs: Sequence[tuple[NDArray[Any], Sequence[int], Sequence[Doc]]],
) -> Iterator[NDArray[Any]]:
    """Sum the counts of two runs over the same tokens to those of the smallest texts
    that both have whole: of Docs joined or cut, the larger ones.

    runs: Counts of documents, their numbers among Docs with tokens, and all Docs.
    *Shape:* two of (n_documents, n_things, 3) -> two of (n_texts, n_things, 3)
    """
    ends = [np.cumsum([len(doc) for doc in docs if len(doc)]) for *_, docs in runs]
    common = np.intersect1d(ends[0], ends[1])
    for (counts, numbers, _), of_docs in zip(runs, ends, strict=True):
        totals = np.zeros((len(common), *counts.shape[1:]), counts.dtype)
        np.add.at(totals, np.searchsorted(common, of_docs[list(numbers)]), counts)
        yield totals


def joins_in_training(nlp: Language) -> bool:
    """Return True if a pipeline was trained on sentences joined."""
    train = nlp.config.get("corpora", {}).get("train")
    return isinstance(train, dict) and train.get("@readers") == READER
