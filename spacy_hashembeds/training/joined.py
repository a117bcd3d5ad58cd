"""Join sentences to Docs, or cut Docs at sentences, with all annotation."""

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

#: Docs with this many tokens are not extended: some corpora have Docs of whole texts.
ENOUGH_TOKENS = 500

#: Name of the attribute, which is not registered, with a Doc's document.
DOCUMENT = "spacy_hashembeds_document"
# Its key in `user_data`: that of the first token, which files and `Doc.copy` keep.
_DOCUMENT: Any = ("._.", DOCUMENT, 0, None)

_ATTRS: Any = [IDS[attr] for attr in ALL_ATTRS]

#: Layers of annotation that either all joined Docs have or none of them: spaCy would
#: treat missing annotation of a part as annotation.
_LAYERS = ("ENT_IOB", "TAG", "POS", "MORPH", "LEMMA", "DEP")


def name_document(doc: Doc, name: str) -> None:
    """Set a Doc's document. Docs of different documents are not joined."""
    doc.user_data[_DOCUMENT] = name


def get_document(doc: Doc) -> str | None:
    """Return the name of the document of which a Doc is a part, if known."""
    return doc.user_data.get(_DOCUMENT)


def is_sentence(doc: Doc) -> bool:
    """Return True if a Doc is known to have exactly one sentence."""
    return doc.has_annotation("SENT_START") and len(list(doc.sents)) == 1


def regroup(
    docs: Iterable[Doc], draws: Iterator[int], *, enough: float = ENOUGH_TOKENS
) -> Iterator[Doc]:
    """Join Docs of one sentence to the following ones, and cut others at sentences.

    draws (Iterator[int]): The numbers of sentences of the next Docs.
    enough (float): The number of tokens from which on a Doc is not extended.
    """
    waiting: list[Span] = []
    wanted = next(draws)
    has_sentences = True
    kind: list[Any] = []
    for doc in filter(len, docs):
        if len(doc) > 1:  # spaCy says that each Doc of one token has boundaries
            has_sentences = doc.has_annotation("SENT_START")
        # annotation that belongs to the whole Doc
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
    """Return the properties in which joined Docs must be equal."""
    annotated = map(doc.has_annotation, _LAYERS)
    user_data: Any = doc.user_data
    data = {key: value for key, value in user_data.items() if not is_placed(key)}
    spaces = doc.has_unknown_spaces
    return [id(doc.vocab), get_document(doc), spaces, *annotated, data]


def _are_equal(one: list[Any], other: list[Any]) -> bool:
    with suppress(Exception):  # comparing arrays and tensors in `user_data` may fail
        return one == other
    return False


def is_placed(key: Any) -> bool:
    """Return True if a key of `user_data` is of an attribute of a token or span."""
    if not (isinstance(key, tuple) and len(key) == 4 and key[0] == "._."):
        return False
    _, name, start, end = key
    is_token = isinstance(name, str) and isinstance(start, int)
    return is_token and isinstance(end, int | None)


class _UserData:
    """The `user_data` of a Doc, with the keys of tokens and spans by their place."""

    def __init__(self, data: Any) -> None:
        self.data = data
        self.whole = [key for key in data if not is_placed(key)]
        self.placed = sorted(filter(is_placed, data), key=itemgetter(2))
        self.starts = [start for _, _, start, _ in self.placed]

    def copy_part(self, new: dict[Any, Any], piece: Span, offset: int) -> None:
        """Copy the data of a part of the Doc, whose characters are moved by `offset`.

        Attributes outside the part, which `Span.as_doc` may have left, are left out.
        """
        for key in self.whole:
            new[key] = copy(self.data[key])
        first, last = piece.start_char, piece.end_char
        places = bisect_left(self.starts, first), bisect_right(self.starts, last)
        for key in self.placed[slice(*places)]:
            _, name, start, end = key
            is_last = start == end == last and piece.end == len(piece.doc)
            is_inside = start < last and (end is None or start <= end <= last)
            if is_last or is_inside:
                moved = None if end is None else end + offset
                new["._.", name, start + offset, moved] = copy(self.data[key])


def _cut(
    doc: Doc, ends: Sequence[int], draws: Iterator[int], enough: float
) -> Iterator[Doc]:
    """Cut a Doc after the drawn number of sentences, or once `enough` is reached."""
    reach, data = _find_reach(doc), _UserData(doc.user_data)
    start, left = 0, deque(end for end in ends if reach[end - 1] <= end)
    while left:
        end, wanted = left.popleft(), next(draws)
        while left and wanted > 1 and left[0] - start <= enough:
            end, wanted = left.popleft(), wanted - 1
        yield _assemble([doc[start:end]], data)
        start = end


def _find_reach(doc: Doc) -> NDArray[Any]:
    """Find, for each token, the last end of all annotations that begin up to there."""
    tokens = np.arange(len(doc))
    heads = tokens + doc.to_array([HEAD]).astype("int64")
    reach = np.zeros(len(doc), dtype="int64")
    np.maximum.at(reach, np.minimum(tokens, heads), np.maximum(tokens, heads) + 1)
    for span in filter(len, chain(doc.ents, *doc.spans.values())):
        reach[span.start] = max(reach[span.start], span.end)
    starts = [token.idx for token in doc]
    keys: Iterable[Any] = doc.user_data
    for _, _, start, end in filter(is_placed, keys):
        if end is not None and 0 <= start < end <= starts[-1] + len(doc[-1]):
            place = bisect_right(starts, start) - 1
            reach[place] = max(reach[place], bisect_left(starts, end))
    return np.maximum.accumulate(reach)


# pieces are Spans, whose types lack `to_array`
def _assemble(pieces: Sequence[Any], data: _UserData | None = None) -> Doc:
    """Join parts of Docs to a new Doc, with a space between them. No annotation may
    cross the bounds of a part. A single part that is a whole Doc is returned itself.
    `data` is that of the Doc, if there is a single part.

    `Doc.from_docs` loses `user_data` of the whole Doc, `Span.as_doc` loses spans, and
    both lose the information that spaces are unknown.
    """
    if len(pieces) == 1 and len(pieces[0]) == len(pieces[0].doc):
        return pieces[0].doc
    words: list[str] = []
    spaces: list[bool] = []
    spans: dict[str, list[tuple[int, Span]]] = {}
    user_data: dict[Any, Any] = {}
    n_chars = 0
    for piece in pieces:
        of = piece.doc
        if spaces and not spaces[-1] and not words[-1].isspace():
            spaces[-1] = True
            n_chars += 1
        offset = len(words) - piece.start
        for key, group in of.spans.items():
            inside = [(offset, x) for x in group if _begins_in(x, piece)]
            spans.setdefault(key, []).extend(inside)
        of_doc = data or _UserData(of.user_data)
        of_doc.copy_part(user_data, piece, n_chars - piece.start_char)
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
    """Return True if a span begins in a part, or is empty and at the end of the Doc."""
    is_last = span.start == piece.end == len(piece.doc)
    return is_last or piece.start <= span.start < piece.end
