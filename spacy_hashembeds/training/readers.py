"""Readers of `.spacy` files that keep features, and that join sentences to Docs."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, count, islice
from pathlib import Path

import numpy as np
from spacy.errors import Errors
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example
from spacy.training.augment import dont_augment
from spacy.vocab import Vocab

from ..arguments import check_choice, check_features, check_integers, check_items
from .docbin import read_docs
from .features import MISALIGNED, copy_features, find_stored, keep_features, read_stored
from .joined import ENOUGH_TOKENS, regroup

#: The registered names of the readers.
READER, JOINED_READER = "spacy-hashembeds.Corpus.v1", "spacy-hashembeds.JoinedCorpus.v1"

#: Numbers of sentences of a Doc in training, drawn with equal probability.
LENGTHS = (1, 1, 2, 3, 5, 10)

Augmenter = Callable[[Language, Example], Iterator[Example]]


class FeatureCorpus(Corpus):
    """Read `.spacy` files as `spacy.Corpus.v1` does, and keep features that they store,
    for pipelines whose embedder reads features that no component sets.

    spaCy makes the Docs to predict of words and spaces alone. This reader copies to
    them what the gold Docs store, by the alignment of their tokens. `spacy evaluate`
    does not use it: evaluate with `spacy hashembeds evaluate`.

    path (Path): A `.spacy` file, or a folder of them.
    gold_preproc (bool): Whether to cut Docs at sentences and to use the tokens of the
        file instead of those of the pipeline's tokenizer. Docs with unknown spaces,
        such as all that `prepare` writes from token files, always keep the tokens.
    max_length (int): Upper limit (exclusive) of the tokens of a Doc: longer ones are
        cut at sentences. 0: no limit.
    limit (int): Stop after this many Docs of the files. 0: read all.
    augmenter (Callable): Changes examples, like spaCy's augmenters. Features that it
        loses are copied by position, if the number of gold tokens stays.
    keep (list[str]): The features to keep: "_.name" for the stored values of
        `token._.name`, "spans.key" for `doc.spans["key"]`.
    misaligned (str): What to do where tokens do not align one to one: "first" takes the
        value of the first aligned token of the file; "error" raises a ValueError.
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
        misaligned: str = "first",
    ) -> None:
        if path is None:
            raise ValueError(Errors.E913)  # the same error as spaCy's reader
        check_integers(0, max_length=max_length, limit=limit)
        self.keep, self.misaligned = check_features(keep=keep), misaligned
        check_choice(MISALIGNED, misaligned=misaligned)
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
            if missing:  # the gold side of an augmented example may have none
                missing -= find_stored(example.reference)
                missing -= {name for name, _ in read_stored(example.predicted)}
            yield example
        if missing:
            warnings.warn(
                f"'keep' has {', '.join(sorted(missing))}, of which '{self.path}' "
                "stores no value. `spacy hashembeds analyze` lists what it stores.",
                stacklevel=2,
            )

    def read_docbin(self, vocab: Vocab, locs: Iterable[str | Path]) -> Iterator[Doc]:
        """Read Docs that have a token. Errors name damaged files."""
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
        """Make examples of sentences, with gold tokens."""
        for part in chain.from_iterable(map(self._cut, reference_docs)):
            yield self._make_example(nlp, part, True)

    def _cut(self, doc: Doc) -> Iterator[Doc]:
        """Cut a Doc at its sentences, if they are known."""
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
            # spaCy's augmenters make Docs of words and annotation alone
            if lost := sorted(stored - find_stored(new.predicted)):
                if len(new.reference) != len(gold):
                    raise ValueError(
                        "'augmenter' changes the number of tokens and loses the "
                        f"features to 'keep' ({', '.join(lost)}). Leave it out, or let "
                        "it copy `user_data` and `spans`."
                    )
                keep_features(new, lost, source=gold, misaligned=self.misaligned)
            yield new


class JoinedCorpus(FeatureCorpus):
    """Read `.spacy` files as `spacy.Corpus.v1` does, in Docs of one sentence and of
    many, so that a pipeline learns from both: for `[corpora.train]`.

    Docs of one sentence are joined to the following ones in the file, with a space
    between them. Docs of several sentences are cut, but not inside an entity, span or
    tree. All annotation and `user_data` are kept. Each reading makes new draws: `spacy
    train` reads once, or, with `max_epochs = -1`, in each epoch.

    Docs without sentence boundaries, with `cats`, or with groups of spans that have
    `attrs` are neither joined nor cut. Sentences are not joined across -DOCSTART- lines
    read by `spacy hashembeds prepare`, if their `user_data` of the whole Doc differs,
    if one lacks annotation that the other has, or if the result would have more than
    500 tokens.

    path (Path): A `.spacy` file, or a folder of them.
    gold_preproc (bool): Whether training uses the tokens of the file instead of those
        of the pipeline's tokenizer. Docs with unknown spaces, such as all that
        `prepare` writes from token files, always keep the tokens of the file.
    max_length (int): Upper limit (exclusive) of the tokens of joined or cut Docs.
        Longer sentences are left out, as by `spacy.Corpus.v1`. 0: no limit.
    limit (int): Stop after this many Docs of the files. 0: read all.
    augmenter (Callable): Changes examples after joining, like spaCy's augmenters.
    lengths (Sequence[int]): Numbers of sentences, one of which is drawn for each Doc. A
        number that is listed twice is drawn twice as often.
    seed (int): The seed of the draws.
    keep (list[str]): The features to keep, as for `FeatureCorpus`.
    misaligned (str): "first" or "error", as for `FeatureCorpus`.
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
        lengths: Sequence[int] = LENGTHS,
        seed: int = 0,
        keep: Sequence[str] = (),
        misaligned: str = "first",
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
        """Make examples with gold tokens, also of several sentences, unlike spaCy's."""
        for reference in self._regroup(reference_docs):
            yield self._make_example(nlp, reference, True)

    def _regroup(self, docs: Iterable[Doc]) -> Iterator[Doc]:
        rng = np.random.default_rng([self.seed, next(self._epochs)])
        draws = (self.lengths[rng.integers(len(self.lengths))] for _ in count())
        longest = self.max_length - 1 if self.max_length else ENOUGH_TOKENS
        return regroup(docs, draws, enough=min(longest, ENOUGH_TOKENS))
