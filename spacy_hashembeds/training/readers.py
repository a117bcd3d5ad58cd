"""Readers of `.spacy` files that keep features, and that join sentences."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from typing import Literal

import numpy as np
from spacy.errors import Errors
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example
from spacy.training.augment import dont_augment
from spacy.vocab import Vocab

from ..arguments import check_features, check_integers, check_items
from .docbin import read_docs
from .features import copy_features, find_stored, keep_features, read_stored
from .joined import ENOUGH_TOKENS, regroup

#: The registered names of the readers.
READER, JOINED_READER = "spacy-hashembeds.Corpus.v1", "spacy-hashembeds.JoinedCorpus.v1"

#: Numbers of sentences per Doc in training, drawn uniformly.
LENGTHS = (1, 1, 2, 3, 5, 10)

Augmenter = Callable[[Language, Example], Iterator[Example]]


class FeatureCorpus(Corpus):
    """Read `.spacy` files as `spacy.Corpus.v1` does, and keep features that they store,
    for pipelines whose embedder reads features that no component sets.

    spaCy creates predicted Docs from words and spaces only. This reader copies features
    from gold Docs, by token alignment. `spacy evaluate` does not use readers: evaluate
    with `spacy hashembeds evaluate`.

    path (Path): A `.spacy` file, or a folder of them.
    gold_preproc (bool): Split Docs at sentences, and use the file's tokens instead of
        the pipeline's tokenizer. Docs with unknown spaces, such as those written by
        `prepare` from token files, always keep their tokens.
    max_length (int): Exclusive limit of tokens per Doc. Longer ones are split at
        sentences. 0: no limit.
    limit (int): Read at most this many Docs. 0: read all.
    augmenter (Callable): A spaCy augmenter. Features that it drops are restored by
        position, unless the number of gold tokens changes.
    keep (list[str]): The features to keep: "_.name" for the stored values of
        `token._.name`, "spans.key" for `doc.spans["key"]`.
    misaligned (str): Policy for tokens that do not align one to one: "first" copies the
        value of the file's first aligned token; "error" raises a ValueError.
    RAISES (ValueError): If there is no path, or a setting is invalid.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        gold_preproc: bool = False,
        max_length: int = 0,
        limit: int = 0,
        augmenter: Augmenter | None = None,
        keep: Sequence[str] = (),
        misaligned: Literal["first", "error"] = "first",
    ) -> None:
        if path is None:
            raise ValueError(Errors.E913)  # as in spaCy
        check_integers(0, max_length=max_length, limit=limit)
        self.keep, self.misaligned = check_features(keep=keep), misaligned
        super().__init__(
            path,
            gold_preproc=gold_preproc,
            max_length=max_length,
            limit=limit,
            augmenter=partial(self._augment, augmenter or dont_augment),
        )

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield the examples."""
        missing = {*self.keep}
        for example in super().__call__(nlp):
            if missing:  # augmented gold Docs may have none
                missing -= find_stored(example.reference)
                missing -= {name for name, _ in read_stored(example.predicted)}
            yield example
        if missing:
            warnings.warn(
                f"'keep' has {', '.join(sorted(missing))}, but '{self.path}' stores no "
                "value. `spacy hashembeds analyze` lists the stored features.",
                stacklevel=2,
            )

    def read_docbin(self, vocab: Vocab, locs: Iterable[str | Path]) -> Iterator[Doc]:
        """Read non-empty Docs. Errors name damaged files."""
        docs = chain.from_iterable(read_docs(path, vocab) for path in locs)
        return islice(filter(len, docs), self.limit or None)

    def make_examples(
        self, nlp: Language, reference_docs: Iterable[Doc]
    ) -> Iterator[Example]:
        """Make examples whose predicted side is tokenized by the pipeline."""
        for doc in reference_docs:
            is_long = 0 < self.max_length <= len(doc)
            for part in self._cut(doc) if is_long else [doc]:
                if not self.max_length or len(part) < self.max_length:
                    yield self._make_example(nlp, part, False)

    def make_examples_gold_preproc(
        self, nlp: Language, reference_docs: Iterable[Doc]
    ) -> Iterator[Example]:
        """Make examples of single sentences, with gold tokens."""
        for part in chain.from_iterable(map(self._cut, reference_docs)):
            yield self._make_example(nlp, part, True)

    def _cut(self, doc: Doc) -> Iterator[Doc]:
        """Split a Doc at its sentences, if annotated."""
        if not doc.has_annotation("SENT_START"):
            yield doc
            return
        for sent in doc.sents:
            part = sent.as_doc()  # without features
            copy_features(doc, part, self.keep, np.arange(sent.start, sent.end))
            yield part

    def _make_example(
        self, nlp: Language, reference: Doc, gold_preproc: bool
    ) -> Example:
        example = super()._make_example(nlp, reference, gold_preproc)
        keep_features(example, self.keep, misaligned=self.misaligned)
        return example

    def _augment(
        self, augmenter: Augmenter, nlp: Language, example: Example
    ) -> Iterator[Example]:
        gold = example.reference
        stored = find_stored(gold).intersection(self.keep)
        for new in augmenter(nlp, example):
            # spaCy's augmenters create new Docs without features
            if lost := sorted(stored - find_stored(new.predicted)):
                if len(new.reference) != len(gold):
                    raise ValueError(
                        "'augmenter' changes the number of tokens and drops the "
                        f"features to 'keep' ({', '.join(lost)}). Remove it, or make "
                        "it copy `user_data` and `spans`."
                    )
                keep_features(new, lost, source=gold, misaligned=self.misaligned)
            yield new


class JoinedCorpus(FeatureCorpus):
    """Read `.spacy` files as `spacy.Corpus.v1` does, in Docs of one sentence and of
    many, so that a pipeline learns from both: for `[corpora.train]`.

    Docs of one sentence are joined to the following ones, separated by a space. Docs of
    several sentences are split, but not inside an entity, span or tree. All annotation
    and `user_data` are kept. Lengths are redrawn in each pass: `spacy train` makes one,
    or, with `max_epochs = -1`, one per epoch.

    Docs without sentence boundaries, with `cats`, or with span groups that have `attrs`
    are kept as is. Sentences are not joined across -DOCSTART- lines read by `spacy
    hashembeds prepare`, if Doc-level `user_data` differs, if only one has some
    annotation, or beyond 500 tokens.

    Other arguments are those of `spacy-hashembeds.Corpus.v1`.

    gold_preproc (bool): Use the file's tokens instead of the pipeline's tokenizer, as
        always for Docs with unknown spaces, but do not split into single sentences.
    max_length (int): Exclusive limit of tokens of joined or split Docs. Longer
        sentences are skipped, as in `spacy.Corpus.v1`. 0: no limit.
    augmenter (Callable): A spaCy augmenter, applied after joining.
    lengths (Sequence[int]): Numbers of sentences per Doc, drawn uniformly. Repeat a
        number to draw it more often.
    seed (int): Seed of the draws.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        gold_preproc: bool = False,
        max_length: int = 0,
        limit: int = 0,
        augmenter: Augmenter | None = None,
        lengths: Sequence[int] = LENGTHS,
        seed: int = 0,
        keep: Sequence[str] = (),
        misaligned: Literal["first", "error"] = "first",
    ) -> None:
        super().__init__(
            path,
            gold_preproc=gold_preproc,
            max_length=max_length,
            limit=limit,
            augmenter=augmenter,
            keep=keep,
            misaligned=misaligned,
        )
        check_integers(0, seed=seed)
        check_items("numbers of sentences", lengths=lengths)
        numbers = {f"lengths[{i}]": n for i, n in enumerate(lengths)}
        check_integers(1, **{"len(lengths)": len(numbers)}, **numbers)
        self.lengths = tuple(lengths)
        self.seed = seed
        self._epochs = count()

    def make_examples(
        self, nlp: Language, reference_docs: Iterable[Doc]
    ) -> Iterator[Example]:
        """Make examples whose predicted side is tokenized by the pipeline."""
        return super().make_examples(nlp, self._regroup(reference_docs))

    def make_examples_gold_preproc(
        self, nlp: Language, reference_docs: Iterable[Doc]
    ) -> Iterator[Example]:
        """Make examples with gold tokens, of one or several sentences."""
        for reference in self._regroup(reference_docs):
            yield self._make_example(nlp, reference, True)

    def _regroup(self, docs: Iterable[Doc]) -> Iterator[Doc]:
        rng = np.random.default_rng([self.seed, next(self._epochs)])
        draws = (self.lengths[rng.integers(len(self.lengths))] for _ in count())
        longest = self.max_length - 1 if self.max_length else ENOUGH_TOKENS
        return regroup(docs, draws, enough=min(longest, ENOUGH_TOKENS))
