"""Training as texts are served: sentences joined to Docs, and Docs cut at sentences."""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import HEAD, IDS
from spacy.errors import Errors
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.tokens._serialize import ALL_ATTRS
from spacy.training import Corpus, Example
from spacy.vocab import Vocab

from ..arguments import check_integers, check_items
from .docbin import read_docs

#: The name that it is registered by.
READER = "spacy-hashembeds.JoinedCorpus.v1"

#: The numbers of sentences of a Doc in training, all of them as often.
LENGTHS = (1, 1, 2, 3, 5, 10)

#: The tokens from which on no more is joined: some annotate texts, not sentences.
ENOUGH_TOKENS = 500

# Where a Doc keeps the name of its document, in `user_data`: as an extension attribute
# of its first token, which is kept in files and with `Doc.copy`.
_DOCUMENT: Any = ("._.", "spacy_hashembeds_document", 0, None)

_ATTRS: Any = [IDS[attr] for attr in ALL_ATTRS]

#: Layers that all Docs joined have, or none: spaCy would take what nobody annotated for
#: annotation.
_LAYERS = ("ENT_IOB", "TAG", "POS", "MORPH", "LEMMA", "DEP")


class JoinedCorpus(Corpus):
    """Examples of `.spacy` files in Docs of as many sentences as are drawn: what
    `spacy.Corpus.v1` reads, otherwise. See `create_joined_reader`.
    """

    def __init__(
        self, path: str | Path, *, lengths: Sequence[int], seed: int, **options: Any
    ) -> None:
        super().__init__(path, **options)
        self.lengths = tuple(lengths)
        self.seed = seed
        self._epochs = count()

    def read_docbin(self, vocab: Vocab, locs: Iterable[str | Path]) -> Iterator[Doc]:
        """Read Docs that have a token. Damaged files are refused by their paths."""
        docs = chain.from_iterable(read_docs(path, vocab) for path in locs)
        return islice(filter(len, docs), self.limit or None)

    def make_examples(
        self, nlp: Language, reference_docs: Iterable[Doc]
    ) -> Iterator[Example]:
        """Make examples as texts are served: tokenized by the pipeline."""
        return super().make_examples(nlp, self._regroup(reference_docs))

    def make_examples_gold_preproc(
        self, nlp: Language, reference_docs: Iterable[Doc]
    ) -> Iterator[Example]:
        """Make examples with gold tokens. What sets sentences apart is the draw."""
        for reference in self._regroup(reference_docs):
            yield self._make_example(nlp, reference, True)

    def _regroup(self, docs: Iterable[Doc]) -> Iterator[Doc]:
        rng = np.random.default_rng([self.seed, next(self._epochs)])
        draws = (self.lengths[rng.integers(len(self.lengths))] for _ in count())
        longest = self.max_length - 1 if self.max_length else ENOUGH_TOKENS
        return regroup(docs, draws, enough=min(longest, ENOUGH_TOKENS))


def create_joined_reader(
    *,
    path: Path | None,
    gold_preproc: bool = False,
    max_length: int = 0,
    limit: int = 0,
    augmenter: Callable[[Language, Example], Iterator[Example]] | None = None,
    lengths: Sequence[int] = LENGTHS,
    seed: int = 0,
) -> JoinedCorpus:
    """Read `.spacy` files as `spacy.Corpus.v1` does, in Docs of one sentence and of
    many, so that a pipeline learns from both: for `[corpora.train]`.

    Docs of one sentence are joined to those that follow in the file, with a space
    between them. Docs of several are cut, but not where an entity, span or tree goes
    on. All annotation is kept, and `user_data`. Each reading draws anew: `spacy train`
    reads once, or, with `max_epochs = -1`, in each epoch.

    Docs without sentence boundaries are neither joined nor cut, nor are those with
    `cats` or with `attrs` of groups of spans. Sentences are not joined across the
    -DOCSTART- lines that `spacy hashembeds prepare` read, if their `user_data` of the
    whole Doc differs, if one has annotation that the other lacks, or if together they
    have more than 500 tokens.

    path (Path): A `.spacy` file, or a folder of them.
    gold_preproc (bool): Whether training gets the tokens of the file, and not those
        that the pipeline's tokenizer makes. What has unknown spaces, as all that
        `prepare` writes of token files, has the tokens of the file in any case.
    max_length (int): What is joined or cut has fewer tokens; a longer sentence is left
        out, as `spacy.Corpus.v1` does. 0: no limit.
    limit (int): Stop after as many Docs of the files. 0: read all.
    augmenter (Callable): Changes examples, as spaCy's do, once they are joined.
    lengths (Sequence[int]): How many sentences a Doc may have. One of these numbers is
        drawn for each, so that what stands twice is drawn twice as often.
    seed (int): Draws them.
    RETURNS (JoinedCorpus): Makes `Example` objects, given `nlp`.
    RAISES (ValueError): No path, or a setting that cannot be.
    """
    if path is None:
        raise ValueError(Errors.E913)  # as spaCy's own
    check_integers(0, max_length=max_length, limit=limit, seed=seed)
    check_items("numbers of sentences", lengths=lengths)
    numbers = {f"lengths[{i}]": n for i, n in enumerate(lengths)}
    check_integers(1, **{"len(lengths)": len(numbers)}, **numbers)
    options: dict[str, Any] = {"gold_preproc": gold_preproc, "max_length": max_length}
    options |= {"limit": limit, "augmenter": augmenter}
    return JoinedCorpus(path, lengths=lengths, seed=seed, **options)


def name_document(doc: Doc, name: str) -> None:
    """Set the document that a Doc is a part of: others are never joined to it."""
    doc.user_data[_DOCUMENT] = name


def get_document(doc: Doc) -> str | None:
    """Return the name of the document that a Doc is a part of, if it is known."""
    return doc.user_data.get(_DOCUMENT)


def is_sentence(doc: Doc) -> bool:
    """Return True if a Doc is known to hold one sentence."""
    return doc.has_annotation("SENT_START") and len(list(doc.sents)) == 1


def regroup(
    docs: Iterable[Doc], draws: Iterator[int], *, enough: float = ENOUGH_TOKENS
) -> Iterator[Doc]:
    """Join Docs of a sentence to those that follow, and cut others at their sentences.

    draws (Iterator[int]): How many sentences the next Doc shall have.
    enough (float): The tokens of a Doc which nothing more is joined to.
    """
    waiting: list[Span] = []
    wanted = next(draws)
    has_sentences = True
    kind: list[Any] = []
    for doc in filter(len, docs):
        if len(doc) > 1:  # spaCy says that each Doc of one token has boundaries
            has_sentences = doc.has_annotation("SENT_START")
        # annotation that no part of it could have
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
    """Describe what all Docs that are joined have alike."""
    annotated = map(doc.has_annotation, _LAYERS)
    user_data: Any = doc.user_data
    data = {key: value for key, value in user_data.items() if not _is_placed(key)}
    spaces = doc.has_unknown_spaces
    return [id(doc.vocab), get_document(doc), spaces, *annotated, data]


def _are_equal(one: list[Any], other: list[Any]) -> bool:
    with suppress(Exception):  # of arrays and tensors in `user_data`, among others
        return one == other
    return False


def _is_placed(key: Any) -> bool:
    """Return True if a key of `user_data` is of an attribute of a token or span."""
    return isinstance(key, tuple) and key[0] == "._." and key[2] is not None


def _cut(
    doc: Doc, ends: Sequence[int], draws: Iterator[int], enough: float
) -> Iterator[Doc]:
    """Cut a Doc after as many sentences as are drawn, or as make `enough` tokens."""
    reach = _find_reach(doc)
    start, left = 0, deque(end for end in ends if reach[end - 1] <= end)
    while left:
        end, wanted = left.popleft(), next(draws)
        while left and wanted > 1 and left[0] - start <= enough:
            end, wanted = left.popleft(), wanted - 1
        yield _assemble([doc[start:end]])
        start = end


def _find_reach(doc: Doc) -> NDArray[Any]:
    """Find where what begins at each token, or before it, ends."""
    tokens = np.arange(len(doc))
    heads = tokens + doc.to_array([HEAD]).astype("int64")
    reach = np.zeros(len(doc), dtype="int64")
    np.maximum.at(reach, np.minimum(tokens, heads), np.maximum(tokens, heads) + 1)
    for span in filter(len, chain(doc.ents, *doc.spans.values())):
        reach[span.start] = max(reach[span.start], span.end)
    starts = [token.idx for token in doc]
    keys: Iterable[Any] = doc.user_data
    for _, _, start, end in filter(_is_placed, keys):
        if end is not None and 0 <= start < end <= starts[-1] + len(doc[-1]):
            place = bisect_right(starts, start) - 1
            reach[place] = max(reach[place], bisect_left(starts, end))
    return np.maximum.accumulate(reach)


def _assemble(pieces: Sequence[Any]) -> Doc:  # Spans, whose types lack `to_array`
    """Make a Doc of parts of Docs, through which nothing goes on, with a space between
    them; or return the Doc of which one part is all.

    `Doc.from_docs` leaves out `user_data` of the whole Doc, `Span.as_doc` spans, and
    both that spaces are unknown.
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
        _copy_data(of.user_data, user_data, piece, n_chars - piece.start_char)
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
    """Return True if a span begins in a part of a Doc, or is empty at the Doc's end."""
    is_last = span.start == piece.end == len(piece.doc)
    return is_last or piece.start <= span.start < piece.end


def _copy_data(
    data: dict[Any, Any], new: dict[Any, Any], piece: Span, offset: int
) -> None:
    """Copy the `user_data` of a part of a Doc, whose characters move by `offset`.

    `Span.as_doc` may leave attributes of others there, which are left out.
    """
    first, last = piece.start_char, piece.end_char
    for key, value in data.items():
        if not _is_placed(key):
            new[key] = copy(value)
            continue
        _, name, start, end = key
        is_last = start == end == last and piece.end == len(piece.doc)
        if is_last or (first <= start < last and (end is None or start <= end <= last)):
            moved = None if end is None else end + offset
            new["._.", name, start + offset, moved] = copy(value)
