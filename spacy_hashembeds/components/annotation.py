"""Entities of Docs and Examples, read and written."""

from collections.abc import Sequence
from itertools import compress

import numpy as np
from numpy.typing import NDArray
from spacy.strings import get_string_id
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example

from .decoding import Entities, split_tags
from .tags import (
    BEGIN,
    END,
    INSIDE,
    KINDS,
    MISSING,
    OUTSIDE,
    SOLE,
    encode_tags,
    number_tags,
    refuse_label,
)

# `Token.ent_iob`
_IN, _OUT, _BEGIN = 1, 2, 3


def read_truth(examples: Sequence[Example], labels: Sequence[str]) -> NDArray:
    """Read the tags that a batch's tokens should have on the predicted side, `(n,)`.

    As `Example.get_aligned_ner`, but faster where both sides have the same tokens, and
    without white space at the ends of entities, which `forbid_tags` forbids. `MISSING`
    without annotation, or where an entity does not begin and end with tokens.
    """
    numbers = number_tags(labels)
    is_same = [
        np.array_equal(eg.predicted.to_array("ORTH"), eg.reference.to_array("ORTH"))
        for eg in examples
    ]
    is_own = np.repeat(is_same, [len(example.predicted) for example in examples])
    tags = np.empty(len(is_own), dtype="int64")
    if any(is_same):
        tags[is_own] = read_own_tags(
            [eg.reference for eg in compress(examples, is_same)], labels
        )
    tags[~is_own] = [
        tag
        for eg, same in zip(examples, is_same, strict=True)
        if not same
        for tag in encode_tags(eg.get_aligned_ner(), numbers)
    ]
    trim_entities(tags, [example.predicted for example in examples])
    return tags


def trim_entities(tags: NDArray, docs: Sequence[Doc]) -> None:
    """Leave white space at either end out of entities, in place."""
    is_space = np.concatenate([doc.to_array("IS_SPACE").reshape(-1) for doc in docs])
    spaces = ((is_space == 1) & (tags > OUTSIDE)).nonzero()[0].tolist()  # hardly any
    for i in spaces:
        if split_tags(tags[i])[0] == BEGIN:
            tags[i + 1] -= 1 if split_tags(tags[i + 1])[0] == INSIDE else 3
            tags[i] = OUTSIDE
    for i in reversed(spaces):
        if split_tags(tags[i])[0] == END:
            tags[i - 1] += 1 if split_tags(tags[i - 1])[0] == INSIDE else -1
            tags[i] = OUTSIDE
        elif split_tags(tags[i])[0] == SOLE:
            tags[i] = OUTSIDE


def read_own_tags(docs: Sequence[Doc], labels: Sequence[str]) -> NDArray:
    """Read the tags of gold Docs: see `read_truth`. *Shape:* `(n,)`."""
    attrs: list[int | str] = ["ENT_IOB", "ENT_TYPE", "IS_SPACE"]
    known = np.concatenate([doc.to_array(attrs) for doc in docs])
    iob, types, is_space = known[:, 0], known[:, 1], known[:, 2]
    has_any = [doc.has_annotation("ENT_IOB") for doc in docs]
    is_annotated = np.repeat(has_any, [len(doc) for doc in docs])
    is_in = (iob == _IN) | ((iob == _BEGIN) & (types != 0))
    goes_on = np.append(iob[1:] == _IN, False)
    kinds = np.where(goes_on, BEGIN, SOLE)
    kinds[iob == _IN] = np.where(goes_on, INSIDE, END)[iob == _IN]
    tags = np.full(len(known), MISSING)
    tags[(iob == _OUT) | (is_annotated & (is_space == 1))] = OUTSIDE
    offsets = {get_string_id(label): len(KINDS) * k for k, label in enumerate(labels)}
    for label, name in {(e.label, e.label_) for doc in docs for e in doc.ents}:
        if label not in offsets:
            raise refuse_label(name)
    of_type = [offsets[label] for label in types[is_in].tolist()]
    tags[is_in] = np.array(of_type, dtype="int64") + kinds[is_in]
    return tags


def forbid_tags(scores: NDArray, docs: Sequence[Doc]) -> None:
    """Set the log-probabilities of what tokens can't have to -inf, in place.

    Tokens that are in an entity already, or blocked (`Doc.set_ents`), have no tag but
    O. And white space neither begins nor ends an entity. *Shape:* `(n, 4P + 1)`.
    """
    known = np.concatenate([doc.to_array(["ENT_IOB", "IS_SPACE"]) for doc in docs])
    scores[np.isin(known[:, 0], (_IN, _BEGIN)), 1:] = -np.inf
    for kind in (SOLE, BEGIN, END):
        scores[known[:, 1] == 1, kind :: len(KINDS)] = -np.inf


def set_entities(
    doc: Doc, entities: Entities, labels: Sequence[str], spans_key: str | None
) -> None:
    """Add entities to those of a Doc, with which they don't overlap.

    All tokens that are in none, and not blocked, are O then.
    """
    *places, scores = entities
    spans = [
        Span(doc, start, end, label=labels[k])
        for start, end, k in zip(*(array.tolist() for array in places), strict=True)
    ]
    if doc.has_annotation("ENT_IOB"):
        known = doc.to_array(["ENT_IOB", "ENT_TYPE"])
        is_blocked = (known[:, 0] == _BEGIN) & (known[:, 1] == 0)
        blocked = [doc[i : i + 1] for i in is_blocked.nonzero()[0].tolist()]
        doc.set_ents([*doc.ents, *spans], blocked=blocked)
    else:  # as most, and faster
        doc.set_ents(spans)
    if spans_key is not None:
        doc.spans[spans_key] = SpanGroup(
            doc, name=spans_key, spans=spans, attrs={"scores": scores}
        )
