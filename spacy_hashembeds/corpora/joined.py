"""Training as texts are served: sentences joined to Docs, and Docs cut at sentences."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Corpus, Example
from thinc.types import Ints2d

from ..checks import check_integers
from ..files import quote
from .lines import check_path

#: How many sentences a Doc of training may have, each as often as the others.
LENGTHS = (1, 1, 2, 3, 5, 10)

#: The tokens from which on no more is joined: some annotate texts, not sentences.
ENOUGH_TOKENS = 500

# The number of the document that the first token is of, in `Doc.user_data`. It is that
# of an extension attribute of a token, which spaCy keeps where it joins Docs.
_DOCUMENT: Any = ("._.", "document", 0, None)

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
    sentences likewise. All annotation of tokens and spans is kept. Each reading draws
    anew: `spacy train` reads once, or, with `max_epochs = -1`, in each epoch. One Doc
    is in memory at a time, beside the file.

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
    check_integers(0, max_length=max_length, limit=limit, seed=seed)
    if isinstance(lengths, str) or not lengths:
        raise ValueError(
            "'lengths' should be numbers of sentences, such as [1, 2, 5], but is "
            f"{quote(lengths)}."
        )
    check_integers(1, **{f"lengths[{i}]": n for i, n in enumerate(lengths)})
    return JoinedCorpus(
        check_path(path),
        lengths=lengths,
        seed=seed,
        gold_preproc=gold_preproc,
        max_length=max_length,
        limit=limit,
        augmenter=augmenter,
    )


def number_document(doc: Doc, number: int) -> None:
    """Say which document a Doc is a part of: parts of others are never joined to it."""
    doc.user_data[_DOCUMENT] = number


def get_document(doc: Doc) -> int | None:
    """Get the number of the document that a Doc is a part of, if it is known."""
    return doc.user_data.get(_DOCUMENT)


def regroup(
    docs: Iterable[Doc], draws: Iterator[int], *, enough: float = ENOUGH_TOKENS
) -> Iterator[Doc]:
    """Join Docs of a sentence to those that follow, and cut others at their sentences.

    draws (Iterator[int]): How many sentences the next Doc shall have.
    enough (float): The tokens of a Doc which nothing more is joined to.
    """
    waiting: list[Doc] = []
    wanted = next(draws)
    for doc in docs:
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
    n_tokens = sum(map(len, waiting)) + len(doc)
    return n_tokens <= enough and _describe(waiting[-1]) == _describe(doc)


def _describe(doc: Doc) -> list[Any]:
    annotated = map(doc.has_annotation, _LAYERS)
    return [id(doc.vocab), get_document(doc), doc.has_unknown_spaces, *annotated]


def _find_ends(doc: Doc) -> list[int]:
    """Find the ends of sentences where no entity or span is cut through."""
    if not doc.has_annotation("SENT_START"):
        return [len(doc)]
    spans = chain(doc.ents, *doc.spans.values())
    inside = {i for span in spans for i in range(span.start + 1, span.end)}
    return [sent.end for sent in doc.sents if sent.end not in inside]


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
        pieces.append((start, end))
        start = end
    return [doc] if len(pieces) == 1 else _cut_at(doc, pieces)


def _cut_at(doc: Doc, pieces: Iterable[tuple[int, int]]) -> Iterator[Doc]:
    """Cut a Doc between entities, spans and trees: nothing is left to be mended, as
    `Span.as_doc` does, which looks at all of a Doc for each piece.
    """
    attrs = list(Doc._get_array_attrs())
    array: Ints2d = doc.to_array(attrs)  # type: ignore[assignment]
    spans = list(doc.spans.items())
    for start, end in pieces:
        part = doc[start:end]
        words = [token.text for token in part]
        spaces = [bool(token.whitespace_) for token in part]
        piece = Doc(doc.vocab, words=words, spaces=spaces)
        piece.from_array(attrs, array[start:end])
        piece.has_unknown_spaces = doc.has_unknown_spaces
        for key, group in spans:
            piece.spans[key] = [
                Span(
                    piece,
                    span.start - start,
                    span.end - start,
                    label=span.label,
                    kb_id=span.kb_id,
                    span_id=span.id,
                )
                for span in group
                if start <= span.start and span.end <= end
            ]
        yield piece


def join_docs(docs: Sequence[Doc]) -> Doc:
    """Join Docs with their annotation, with a space where there is none between."""
    if len(docs) == 1:
        return docs[0]
    joined = Doc.from_docs(list(docs), exclude=["tensor"])  # type: ignore[call-arg]
    joined.has_unknown_spaces = docs[0].has_unknown_spaces
    return joined
