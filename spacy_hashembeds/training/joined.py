"""Join sentences to Docs, or split Docs at sentences, keeping all annotation."""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import HEAD, IDS
from spacy.tokens import Doc, Span
from spacy.tokens._serialize import ALL_ATTRS

#: Maximum tokens of joined Docs. Some corpora have one Doc per text.
ENOUGH_TOKENS = 500

#: Unregistered attribute with the document name of a Doc.
DOCUMENT = "spacy_hashembeds_document"
# Key in `user_data`, of the first token, preserved by files and `Doc.copy`.
_DOCUMENT: Any = ("._.", DOCUMENT, 0, None)

_ATTRS: Any = [IDS[attr] for attr in ALL_ATTRS]

#: Annotation that all joined Docs must have, or none: else spaCy would treat missing
#: values as annotated.
_LAYERS = ("ENT_IOB", "TAG", "POS", "MORPH", "LEMMA", "DEP")


def set_document(doc: Doc, name: str) -> None:
    """Set the document name of a Doc. Docs of different documents are not joined."""
    doc.user_data[_DOCUMENT] = name


def get_document(doc: Doc) -> str | None:
    """Return the document name of a Doc, if known."""
    return doc.user_data.get(_DOCUMENT)


def is_sentence(doc: Doc) -> bool:
    """True if a Doc is annotated as exactly one sentence."""
    return doc.has_annotation("SENT_START") and len(list(doc.sents)) == 1


def regroup(
    docs: Iterable[Doc], draws: Iterator[int], *, enough: float = ENOUGH_TOKENS
) -> Iterator[Doc]:
    """Join Docs of one sentence to the following ones, and split others at sentences.

    draws (Iterator[int]): Numbers of sentences of the next Docs.
    enough (float): Maximum number of tokens of a joined Doc.
    """
    waiting: list[Span] = []
    wanted = next(draws)
    has_sentences = True
    kind: list[Any] = []
    for doc in filter(len, docs):
        if len(doc) > 1:  # always true for Docs of one token
            has_sentences = doc.has_annotation("SENT_START")
        # Doc-level annotation can't be split
        is_whole = bool(doc.cats) or any(group.attrs for group in doc.spans.values())
        is_whole = is_whole or not has_sentences
        ends = [] if is_whole else [sent.end for sent in doc.sents]
        before, kind = kind, _describe(doc) if len(ends) == 1 else []
        n_tokens = sum(map(len, waiting)) + len(doc)
        if waiting and (n_tokens > enough or not _are_equal(before, kind)):
            yield _assemble(waiting)
            waiting, wanted = [], next(draws)
        if is_whole:
            yield doc
        elif len(ends) > 1:
            yield from _cut(doc, ends, draws, enough)
        else:
            waiting.append(doc[:])
        if len(waiting) == wanted:
            yield _assemble(waiting)
            waiting, wanted = [], next(draws)
    if waiting:
        yield _assemble(waiting)


def _describe(doc: Doc) -> list[Any]:
    """Return the properties that must be equal in joined Docs."""
    annotated = map(doc.has_annotation, _LAYERS)
    user_data: Any = doc.user_data
    data = {key: value for key, value in user_data.items() if not is_span_key(key)}
    spaces = doc.has_unknown_spaces
    return [id(doc.vocab), get_document(doc), spaces, *annotated, data]


def _are_equal(one: list[Any], other: list[Any]) -> bool:
    with suppress(Exception):  # comparing arrays and tensors in `user_data` may fail
        return one == other
    return False


def is_span_key(key: Any) -> bool:
    """True if a key of `user_data` belongs to a token or span."""
    if not (isinstance(key, tuple) and len(key) == 4 and key[0] == "._."):
        return False
    _, name, start, end = key
    is_token = isinstance(name, str) and isinstance(start, int)
    return is_token and isinstance(end, int | None)


class _UserData:
    """The `user_data` of a Doc, with token and span keys sorted by position."""

    def __init__(self, data: Any) -> None:
        self.data = data
        self.doc_keys = [key for key in data if not is_span_key(key)]
        self.span_keys = sorted(filter(is_span_key, data), key=itemgetter(2))
        self.starts = [start for _, _, start, _ in self.span_keys]

    def copy_part(self, new: dict[Any, Any], piece: Span, offset: int) -> None:
        """Copy the data of a piece, shifting character positions by `offset`.

        Attributes outside of the piece, as left by `Span.as_doc`, are dropped.
        """
        for key in self.doc_keys:
            new[key] = copy(self.data[key])
        first, last = piece.start_char, piece.end_char
        places = bisect_left(self.starts, first), bisect_right(self.starts, last)
        for key in self.span_keys[slice(*places)]:
            _, name, start, end = key
            is_last = start == end == last and piece.end == len(piece.doc)
            is_inside = start < last and (end is None or start <= end <= last)
            if is_last or is_inside:
                moved = None if end is None else end + offset
                new["._.", name, start + offset, moved] = copy(self.data[key])


def _cut(
    doc: Doc, ends: Sequence[int], draws: Iterator[int], enough: float
) -> Iterator[Doc]:
    """Split a Doc after the drawn number of sentences, or at `enough` tokens."""
    reach, data = _find_reach(doc), _UserData(doc.user_data)
    start, left = 0, deque(end for end in ends if reach[end - 1] <= end)
    while left:
        end, wanted = left.popleft(), next(draws)
        while left and wanted > 1 and left[0] - start <= enough:
            end, wanted = left.popleft(), wanted - 1
        yield _assemble([doc[start:end]], data)
        start = end


def _find_reach(doc: Doc) -> NDArray[Any]:
    """Return, for each token, the maximum end of annotations that start up to it."""
    tokens = np.arange(len(doc))
    heads = tokens + doc.to_array([HEAD]).astype("int64")
    reach = np.zeros(len(doc), dtype="int64")
    np.maximum.at(reach, np.minimum(tokens, heads), np.maximum(tokens, heads) + 1)
    for span in filter(len, chain(doc.ents, *doc.spans.values())):
        reach[span.start] = max(reach[span.start], span.end)
    starts = [token.idx for token in doc]
    keys: Iterable[Any] = doc.user_data
    for _, _, start, end in filter(is_span_key, keys):
        if end is not None and 0 <= start < end <= starts[-1] + len(doc[-1]):
            place = bisect_right(starts, start) - 1
            reach[place] = max(reach[place], bisect_left(starts, end))
    return np.maximum.accumulate(reach)


# Any: spaCy's type stubs of Span lack `to_array`
def _assemble(pieces: Sequence[Any], data: _UserData | None = None) -> Doc:
    """Join pieces, separated by spaces, to a new Doc, or return a piece that is a whole
    Doc. Annotation must not cross piece boundaries. `data` is the `user_data` of a
    single piece's Doc.

    `Doc.from_docs` drops Doc-level `user_data`, `Span.as_doc` drops spans, and both
    drop `has_unknown_spaces`.
    """
    if len(pieces) == 1 and len(pieces[0]) == len(pieces[0].doc):
        return pieces[0].doc
    words: list[str] = []
    spaces: list[bool] = []
    spans: dict[str, list[tuple[int, Span]]] = {}
    user_data: dict[Any, Any] = {}
    n_chars = 0
    for piece in pieces:
        doc = piece.doc
        if spaces and not spaces[-1] and not words[-1].isspace():
            spaces[-1] = True
            n_chars += 1
        offset = len(words) - piece.start
        for key, group in doc.spans.items():
            inside = [(offset, x) for x in group if _begins_in(x, piece)]
            spans.setdefault(key, []).extend(inside)
        doc_data = data or _UserData(doc.user_data)
        doc_data.copy_part(user_data, piece, n_chars - piece.start_char)
        words += [token.text for token in piece]
        spaces += [bool(token.whitespace_) for token in piece]
        n_chars += len(piece.text_with_ws)
    made = Doc(pieces[0].doc.vocab, words=words, spaces=spaces, user_data=user_data)
    array: Any = np.concatenate([piece.to_array(_ATTRS) for piece in pieces])
    made.from_array(_ATTRS, array)
    made.has_unknown_spaces = pieces[0].doc.has_unknown_spaces
    for key, found in spans.items():
        made.spans[key] = [
            Span(made, n + x.start, n + x.end, x.label, kb_id=x.kb_id, span_id=x.id)
            for n, x in found
        ]
    return made


def _begins_in(span: Span, piece: Span) -> bool:
    """True if a span starts in a piece, or is empty and at the end of the Doc."""
    is_last = span.start == piece.end == len(piece.doc)
    return is_last or piece.start <= span.start < piece.end
