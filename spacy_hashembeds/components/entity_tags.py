"""Convert between entities of Docs or Examples and tags."""

from collections.abc import Sequence
from itertools import compress

import numpy as np
from numpy.typing import NDArray
from spacy.strings import get_string_id
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example

from ..files import quote
from .decoding import (
    BEGIN,
    END,
    INSIDE,
    MISSING,
    OUTSIDE,
    SINGLE,
    TAG_KINDS,
    Entities,
    get_tag_ids,
    split_tags,
)

# Values of `Token.ent_iob`.
_IN, _OUT, _BEGIN = 1, 2, 3


def read_truth(examples: Sequence[Example], labels: Sequence[str]) -> NDArray:
    """Read the gold tags of a batch, aligned to the predicted side. *Shape:* `(n,)`.

    Like `Example.get_aligned_ner`, but faster if tokens are equal, and without white
    space at the ends of entities, which `forbid_tags` forbids. Tokens without
    annotation, and entities not aligned with tokens, get `MISSING`.
    """
    types = {ent.label_ for example in examples for ent in example.reference.ents}
    if unknown := sorted(types.difference(labels)):
        raise ValueError(
            f"The training data has entities of type {quote(unknown[0])}, which is not "
            "a label of the component. Add it by `add_label`."
        )
    docs = [example.predicted for example in examples]
    is_same = [
        np.array_equal(eg.predicted.to_array("ORTH"), eg.reference.to_array("ORTH"))
        for eg in examples
    ]
    is_same_token = np.repeat(is_same, [len(doc) for doc in docs])
    tags = np.empty(len(is_same_token), dtype="int64")
    if any(is_same):
        tags[is_same_token] = read_gold_tags(
            [eg.reference for eg in compress(examples, is_same)], labels
        )
    numbers = get_tag_ids(labels)
    tags[~is_same_token] = [
        numbers[tag]
        for example in compress(examples, (not same for same in is_same))
        for tag in example.get_aligned_ner()
    ]
    _trim_entities(tags, docs)
    return tags


def _trim_entities(tags: NDArray, docs: Sequence[Doc]) -> None:
    """Exclude white space at the ends of entities, in place."""
    is_space = np.concatenate([doc.to_array("IS_SPACE").reshape(-1) for doc in docs])
    spaces = ((is_space == 1) & (tags > OUTSIDE)).nonzero()[0].tolist()  # few
    for i in spaces:
        if split_tags(tags[i])[0] == BEGIN:
            tags[i + 1] -= 1 if split_tags(tags[i + 1])[0] == INSIDE else 3
            tags[i] = OUTSIDE
    for i in reversed(spaces):
        kind = split_tags(tags[i])[0]
        if kind == END:
            tags[i - 1] += 1 if split_tags(tags[i - 1])[0] == INSIDE else -1
        if kind in (END, SINGLE):
            tags[i] = OUTSIDE


def read_gold_tags(docs: Sequence[Doc], labels: Sequence[str]) -> NDArray:
    """Read the tags of gold Docs, without alignment. *Shape:* `(n,)`."""
    attrs: list[int | str] = ["ENT_IOB", "ENT_TYPE", "IS_SPACE"]
    iob, types, is_space = np.concatenate([doc.to_array(attrs) for doc in docs]).T
    has_any = [doc.has_annotation("ENT_IOB") for doc in docs]
    is_annotated = np.repeat(has_any, [len(doc) for doc in docs])
    is_in = (iob == _IN) | ((iob == _BEGIN) & (types != 0))
    is_continued = np.append(iob[1:] == _IN, False)
    first, later = np.where(is_continued, [[BEGIN], [INSIDE]], [[SINGLE], [END]])
    kinds = np.where(iob == _IN, later, first)
    tags = np.full(len(iob), MISSING)
    tags[(iob == _OUT) | (is_annotated & (is_space == 1))] = OUTSIDE
    offsets = {
        get_string_id(label): len(TAG_KINDS) * k for k, label in enumerate(labels)
    }
    type_offsets = [offsets[label] for label in types[is_in].tolist()]
    tags[is_in] = np.array(type_offsets, dtype="int64") + kinds[is_in]
    return tags


def forbid_tags(scores: NDArray, docs: Sequence[Doc]) -> None:
    """Set the log-probabilities of forbidden tags to -inf, in place.

    Tokens in existing entities, and blocked ones (`Doc.set_ents`), can only be O. White
    space can't begin or end an entity. *Shape:* `(n, 4P + 1)`.
    """
    known = np.concatenate([doc.to_array(["ENT_IOB", "IS_SPACE"]) for doc in docs])
    scores[np.isin(known[:, 0], (_IN, _BEGIN)), 1:] = -np.inf
    for kind in (SINGLE, BEGIN, END):
        scores[known[:, 1] == 1, kind :: len(TAG_KINDS)] = -np.inf


def set_entities(
    doc: Doc, entities: Entities, labels: Sequence[str], spans_key: str | None
) -> None:
    """Add entities to a Doc. They must not overlap with its entities.

    All other tokens, except blocked ones, become O. Scored entities in the span group
    keep their scores.
    """
    *places, scores = entities
    spans = [
        Span(doc, start, end, label=labels[k])
        for start, end, k in zip(*(array.tolist() for array in places), strict=True)
    ]
    scored = list(zip(spans, scores, strict=True))
    if doc.has_annotation("ENT_IOB"):
        if spans_key in doc.spans:
            scored += _find_scored(doc, doc.spans[spans_key])
            scored.sort(key=lambda pair: pair[0].start)
        known = doc.to_array(["ENT_IOB", "ENT_TYPE"])
        is_blocked = (known[:, 0] == _BEGIN) & (known[:, 1] == 0)
        blocked = [doc[i : i + 1] for i in is_blocked.nonzero()[0].tolist()]
        doc.set_ents([*doc.ents, *spans], blocked=blocked)
    else:  # faster
        doc.set_ents(spans)
    if spans_key is not None:
        doc.spans[spans_key] = SpanGroup(
            doc,
            name=spans_key,
            spans=[span for span, _ in scored],
            attrs={"scores": np.array([s for _, s in scored], dtype=scores.dtype)},
        )


def _find_scored(doc: Doc, group: SpanGroup) -> list[tuple[Span, float]]:
    """Return the spans of a group that are entities of the Doc, with scores."""
    scores = group.attrs.get("scores", ())
    if np.shape(scores) != (len(group),):
        return []
    entities = {(ent.start, ent.end, ent.label) for ent in doc.ents}
    return [
        (span, score)
        for span, score in zip(group, scores, strict=True)
        if (span.start, span.end, span.label) in entities
    ]
