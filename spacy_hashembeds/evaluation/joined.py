"""Docs of many sentences, to be scored beside the single ones of a corpus."""

from dataclasses import replace
from itertools import repeat
from math import inf

from spacy.tokens import Doc

from ..checks import check_integers
from ..corpora.joined import is_sentence, regroup
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
        are_sentences = is_possible and len(golds) > 1 and all(map(is_sentence, golds))
        return SENTENCES if are_sentences else 0
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
