"""Docs of many sentences, to be scored beside the single ones of a corpus."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc

from ..checks import check_integers
from ..corpora.joined import READER, is_sentence, regroup
from .sources import Inputs

#: How many sentences are joined unless somebody says otherwise.
SENTENCES = 10


def choose_sentences(join: int | None, inputs: Inputs, *, is_of_entities: bool) -> int:
    """Choose how many sentences to join, or 0 for none.

    join (int, optional): What was asked for. By default it is `SENTENCES` where a
        pipeline is given entities of single sentences.
    RAISES (ValueError): If something was asked for that cannot be.
    """
    golds = inputs.gold.docs
    is_possible = (
        is_of_entities
        and inputs.predictions.is_pipeline
        and all(isinstance(gold, Doc) for gold in golds)
    )
    if join is None:
        golds = [gold for gold in golds if len(gold)] if is_possible else []
        # of one token, nothing says whether more were told apart
        is_known = max(map(len, golds), default=0) > 1
        return SENTENCES if is_known and all(map(is_sentence, golds)) else 0
    check_integers(0, join=join)
    if join and not is_possible:
        raise ValueError(
            f"'join' is {join}, but needs gold Docs, not Examples, with entities, and "
            "a pipeline that predicts them anew. Leave it out, or give these."
        )
    return join


def join_gold(inputs: Inputs) -> Inputs:
    """Put Docs of `join` sentences in the place of the gold ones, joined or cut."""
    docs = list(regroup(inputs.gold.docs, repeat(inputs.join), enough=inf))
    name = f"{inputs.predictions.name} on texts of {inputs.join} sentences"
    return replace(
        inputs,
        gold=replace(inputs.gold, docs=docs),
        predictions=replace(inputs.predictions, name=name),
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
    common = np.array(sorted(set(ends[0]).intersection(ends[1])))
    for (counts, numbers, _), of_docs in zip(runs, ends, strict=True):
        totals = np.zeros((len(common), *counts.shape[1:]), counts.dtype)
        np.add.at(totals, np.searchsorted(common, of_docs[list(numbers)]), counts)
        yield totals


def joins_in_training(nlp: Language) -> bool:
    """Tell whether a pipeline was trained on sentences joined."""
    train = nlp.config.get("corpora", {}).get("train")
    name = train.get("@readers") if isinstance(train, dict) else None
    return name == READER
