"""Training as texts are served: sentences joined to Docs, and Docs cut at sentences."""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import HEAD
from spacy.errors import Errors
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.tokens._serialize import ALL_ATTRS
from spacy.training import Corpus, Example

from ..checks import check_integers
from ..files import quote

#: The name that it is registered by.
READER = "spacy-hashembeds.JoinedCorpus.v1"

#: How many sentences a Doc of training may have, each as often as the others.
LENGTHS = (1, 1, 2, 3, 5, 10)

#: The tokens from which on no more is joined: some annotate texts, not sentences.
ENOUGH_TOKENS = 500

# Where a Doc keeps the name of its document, in `user_data`: as an extension attribute
# of its first token, which is kept in files and with `Doc.copy`.
_DOCUMENT: Any = ("._.", "spacy_hashembeds_document", 0, None)

_ATTRS: list[int | str] = [*ALL_ATTRS]

#: The spans of each group, as `Span` takes them.
_Spans = dict[str, list[dict[str, Any]]]

#: What all of a joined Doc has, or nothing of it, or spaCy would take what nobody
#: annotated for annotation.
_LAYERS = ("ENT_IOB", "TAG", "POS", "MORPH", "LEMMA", "DEP")


class JoinedCorpus(Corpus):
    """Examples of `.spacy` files in Docs of as many sentences as are drawn: what
    `spacy.Corpus.v1` reads, otherwise. See `create_joined_reader`.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        lengths: Sequence[int] = LENGTHS,
        seed: int = 0,
        **options: Any,
    ) -> None:
        super().__init__(path, **options)
        self.lengths = tuple(lengths)
        self.seed = seed
        self._epochs = count()

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
        n_lengths = len(self.lengths)
        draws = (self.lengths[rng.integers(n_lengths)] for _ in count())
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

    Docs of one sentence are joined to those that follow, with a space between them,
    until there are as many as was drawn; of Docs with more sentences each is cut at its
    sentences likewise, but not where an entity, span or tree goes on. Annotation of
    tokens and spans is kept; what is of a whole Doc, `user_data` and `attrs` of groups
    of spans, is not. Each reading draws anew: `spacy train` reads once, or, with
    `max_epochs = -1`, in each epoch. One Doc is in memory at a time, beside the file.

    Never joined are Docs with `cats`, which are of a whole text and not cut either;
    those of two documents, where `spacy hashembeds prepare` was told by marks; and Docs
    of which one has annotation, such as tags, that the other has not. A Doc without
    sentence boundaries counts as one sentence. None is joined to what has 500 tokens.

    path (Path): A `.spacy` file, or a folder of them.
    gold_preproc (bool): Whether training gets the tokens of the file, and not those
        that the pipeline's tokenizer makes. What has unknown spaces, as all that
        `prepare` writes of token files, has the tokens of the file in any case.
    max_length (int): What is joined or cut has fewer tokens; a longer sentence is left
        out, as `spacy.Corpus.v1` does. 0: no limit.
    limit (int): Stop after as many Docs of the file. 0: read all.
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
    if not isinstance(lengths, list | tuple) or not lengths:
        raise ValueError(
            "'lengths' should be numbers of sentences, such as [1, 2, 5], but is "
            f"{quote(lengths)}."
        )
    check_integers(1, **{f"lengths[{i}]": n for i, n in enumerate(lengths)})
    return JoinedCorpus(
        path,
        lengths=lengths,
        seed=seed,
        gold_preproc=gold_preproc,
        max_length=max_length,
        limit=limit,
        augmenter=augmenter,
    )


def name_document(doc: Doc, name: str) -> None:
    """Say which document a Doc is a part of: parts of others are never joined to it."""
    doc.user_data[_DOCUMENT] = name


def get_document(doc: Doc) -> str | None:
    """Get the name of the document that a Doc is a part of, if it is known."""
    name = doc.user_data.get(_DOCUMENT)
    return name if isinstance(name, str) else None


def regroup(
    docs: Iterable[Doc], draws: Iterator[int], *, enough: float = ENOUGH_TOKENS
) -> Iterator[Doc]:
    """Join Docs of a sentence to those that follow, and cut others at their sentences.

    draws (Iterator[int]): How many sentences the next Doc shall have.
    enough (float): The tokens of a Doc which nothing more is joined to.
    """
    waiting: list[Doc] = []
    wanted = next(draws)
    for doc in filter(len, docs):
        ends = _find_ends(doc)
        is_text = len(ends) > 1 or bool(doc.cats)
        if waiting and (is_text or not _may_follow(waiting, doc, enough)):
            yield join_docs(waiting)
            waiting, wanted = [], next(draws)
        if doc.cats:
            yield doc
        elif is_text:
            yield from _cut(doc, ends, draws, enough)
        else:
            waiting.append(doc)
        if len(waiting) == wanted:
            yield join_docs(waiting)
            waiting, wanted = [], next(draws)
    if waiting:
        yield join_docs(waiting)


def is_sentence(doc: Doc) -> bool:
    """Tell whether a Doc is known to hold one sentence."""
    return doc.has_annotation("SENT_START") and len(_find_ends(doc)) == 1


def _may_follow(waiting: Sequence[Doc], doc: Doc, enough: float) -> bool:
    """Tell whether a sentence may be joined to those that wait."""
    together = [*waiting, doc]
    return (
        sum(map(len, together)) <= enough
        and _describe(waiting[-1]) == _describe(doc)
        and len(_find_boundaries(together)) < 2
    )


def _find_boundaries(docs: Sequence[Doc]) -> set[bool]:
    """Find whether Docs have sentence boundaries: of one token spaCy says so always."""
    return {doc.has_annotation("SENT_START") for doc in docs if len(doc) > 1}


def _describe(doc: Doc) -> list[Any]:
    annotated = map(doc.has_annotation, _LAYERS)
    return [id(doc.vocab), get_document(doc), doc.has_unknown_spaces, *annotated]


def _find_ends(doc: Doc) -> list[int]:
    """Find where a Doc can be cut, and its end: the ends of sentences at which no
    entity, span or tree goes on.
    """
    if not doc.has_annotation("SENT_START"):
        return [len(doc)]
    ends = [sent.end for sent in doc.sents]
    if len(ends) > 1:
        going_on = _count_going_on(doc)
        ends = [end for end in ends if not going_on[end]]
    return ends


def _count_going_on(doc: Doc) -> NDArray[Any]:
    """Count what begins before each token and ends after its start."""
    steps = np.zeros(len(doc) + 2, dtype="int64")
    for span in chain(doc.ents, *doc.spans.values()):
        if len(span):
            steps[span.start + 1] += 1
            steps[span.end] -= 1
    tokens = np.arange(len(doc))
    heads = tokens + doc.to_array([HEAD]).astype("int64")
    np.add.at(steps, np.minimum(tokens, heads) + 1, 1)
    np.add.at(steps, np.maximum(tokens, heads) + 1, -1)
    return steps.cumsum()[:-1]


def _cut(
    doc: Doc, ends: Sequence[int], draws: Iterator[int], enough: float
) -> Iterable[Doc]:
    """Cut a Doc after as many sentences as are drawn, or as make `enough` tokens."""
    start, left = 0, deque(ends)
    pieces = []
    while left:
        end, wanted = left.popleft(), next(draws)
        while left and wanted > 1 and left[0] - start <= enough:
            end, wanted = left.popleft(), wanted - 1
        pieces.append(slice(start, end))
        start = end
    return [doc] if len(pieces) == 1 else _cut_at(doc, pieces)


def _cut_at(doc: Doc, pieces: Sequence[slice]) -> Iterator[Doc]:
    """Cut a Doc where nothing goes on. `Span.as_doc`, which looks at all of a Doc for
    each piece, leaves out spans and that spaces are unknown.
    """
    words, spaces, array = _read_tokens(doc)
    starts = [piece.start for piece in pieces]
    spans: list[_Spans] = [{key: [] for key in doc.spans} for _ in pieces]
    for key, group in doc.spans.items():
        for span in group:
            number = bisect_right(starts, span.start) - 1
            spans[number][key].append(_describe_span(span, -starts[number]))
    for piece, found in zip(pieces, spans, strict=True):
        yield _make_doc(doc, words[piece], spaces[piece], array[piece], found)


def join_docs(docs: Sequence[Doc]) -> Doc:
    """Join Docs, with a space where there is none between. `Doc.from_docs` leaves out
    that spaces are unknown, and warns of each value in `user_data`.
    """
    if len(docs) == 1:
        return docs[0]
    all_words: list[str] = []
    all_spaces: list[bool] = []
    arrays = []
    spans: _Spans = {}
    for doc in docs:
        words, spaces, array = _read_tokens(doc)
        for key, group in doc.spans.items():
            found = (_describe_span(span, len(all_words)) for span in group)
            spans.setdefault(key, []).extend(found)
        all_words += words
        all_spaces += [*spaces[:-1], spaces[-1] or not doc[-1].is_space]
        arrays.append(array)
    all_spaces[-1] = spaces[-1]
    joined = np.concatenate(arrays)
    if _find_boundaries(docs) == {False}:
        # or each Doc would begin a sentence, and nothing else
        joined[:, ALL_ATTRS.index("SENT_START")] = 0
    return _make_doc(docs[0], all_words, all_spaces, joined, spans)


def _read_tokens(doc: Doc) -> tuple[list[str], list[bool], NDArray[Any]]:
    words, spaces = zip(*((t.text, bool(t.whitespace_)) for t in doc), strict=True)
    return list(words), list(spaces), doc.to_array(_ATTRS)


def _describe_span(span: Span, offset: int) -> dict[str, Any]:
    return {
        "start": span.start + offset,
        "end": span.end + offset,
        "label": span.label,
        "kb_id": span.kb_id,
        "span_id": span.id,
    }


def _make_doc(
    like: Doc, words: list[str], spaces: list[bool], array: Any, spans: _Spans
) -> Doc:
    doc = Doc(like.vocab, words=words, spaces=spaces)
    doc.from_array(_ATTRS, array)
    doc.has_unknown_spaces = like.has_unknown_spaces
    for key, group in spans.items():
        doc.spans[key] = [Span(doc, **span) for span in group]
    return doc
