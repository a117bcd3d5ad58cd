"""Read raw texts as Docs, and the reader for `spacy pretrain`."""

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, count, islice
from operator import attrgetter
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import NORM, ORTH, SENT_START, SPACY
from spacy.language import Language
from spacy.strings import get_string_id
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger
from spacy.vocab import Vocab

from ..arguments import check_integers, check_items, check_shares
from ..files import parse_json, quote
from .docbin import read_examples
from .features import find_stored, keep_features
from .lines import (
    MAX_TEXT,
    check_is_regular,
    check_length,
    check_path,
    fail,
    is_text,
    read_lines,
)

# Suffixes and lines of files that do not have one text per line.
_COLUMN_SUFFIXES = (".csv", ".tsv", ".conll", ".conllu", ".iob", ".json")
_COLUMNS = re.compile(r"#.*|-DOCSTART-.*|.*\t.*|\S+ (.* )?(O|[BILUES]-\S+)\s*")

Measures = dict[str, Callable[[Iterable[Doc]], float]]
#: A dict per Doc, in which the objective of `spacy pretrain` (it gets only Docs) stores
#: a function from other Docs to their mean loss per token.
MEASURES: WeakKeyDictionary[Doc, Measures] = WeakKeyDictionary()

#: Function that returns a Doc from an example of a `.spacy` file.
Take = Callable[[Example], Doc]
_take_predicted: Take = attrgetter("predicted")

#: Minimum improvement of the held-out loss, in nats.
TOLERANCE = 0.001

# `spacy pretrain` has no option to enable INFO messages
_logger = logger.getChild("pretrain")
_logger.setLevel(logging.INFO)


def create_raw_texts_reader(
    *,
    path: Path | None,
    held_out: float = 0.02,
    patience: int = 1,
    exclude: Sequence[Path] = (),
    min_length: int = 5,
    max_length: int = 500,
    seed: int = 0,
) -> Callable[[Language], Iterator[Example]]:
    """Read texts for `spacy pretrain`, each once per epoch in a new order, until the
    loss of held-out texts no longer falls: further epochs are then empty.

    Use it in `[corpora.pretrain]`. `PretrainShuffleRandom` measures and logs the
    held-out loss between epochs. Other objectives get all texts from the second epoch
    on, until `max_epochs`. Texts are tokenized once, and kept in memory.

    path (Path): A UTF-8 file with one text (.txt) or one JSON object with a "text"
        (.jsonl) per line, or a .spacy file or folder, whose annotation is ignored.
    held_out (float): The fraction of texts held out, at least one, chosen by hash. 0:
        do not measure the loss, and do not stop early.
    patience (int): Stop after this many epochs without an improvement by 0.001.
    exclude (Sequence[Path]): Files of texts to exclude, such as test sets. Whole texts
        are compared, ignoring white space.
    min_length (int): Skip texts with fewer tokens.
    max_length (int): Split longer texts into pieces of this many tokens. 0: no limit.
    seed (int): Seed of the order of texts.
    RETURNS (Callable): Returns the examples of the next epoch at each call with `nlp`.
    RAISES (ValueError): If a setting is invalid; when called (`spacy train` creates the
        reader too), if the path is missing, or texts are unreadable or too few.
    """
    check_shares(held_out=held_out)
    check_items("paths", exclude=exclude)
    check_integers(0, min_length=min_length, max_length=max_length, seed=seed)
    check_integers(1, patience=patience)
    runs: WeakKeyDictionary[Language, Iterator] = WeakKeyDictionary()

    def read_epoch(nlp: Language) -> Iterator[Example]:
        if nlp in runs:
            return next(runs[nlp], iter(()))
        longest = max_length or nlp.max_length
        found, n_excluded = read_distinct(nlp, path, exclude, pack_doc)
        if exclude:
            n = len(found) + n_excluded
            _logger.info("Texts: %d, excluded: %d", n, n_excluded)
        pieces = (
            [found[key][start : start + longest] for start in starts]
            for key in sorted(found)  # deterministic across files and processes
            for starts in [range(0, len(found[key]), longest)]
        )
        kept = ([x for x in text if len(x) >= min_length] for text in pieces)
        texts = [text for text in kept if text]
        n = max(1, round(held_out * len(texts))) if held_out else 0
        if len(texts) <= n:
            raise ValueError(
                f"'{path}' should contain texts to train on, but {len(texts)} remain "
                f"('exclude', 'min_length' {min_length}, 'max_length' {longest}), and "
                f"'held_out' ({held_out}) takes {n} of them."
            )
        learned, hidden = ([*chain(*part)] for part in (texts[n:], texts[:n]))
        runs[nlp] = _read_epochs(nlp.vocab, learned, hidden, patience, seed)
        return next(runs[nlp])

    return read_epoch


def _read_epochs(
    vocab: Vocab,
    texts: list[NDArray],
    held_out: list[NDArray],
    patience: int,
    seed: int,
) -> Iterator[Iterator[Example]]:
    """Yield epochs until the held-out loss, measured between them, stalls."""
    measures: Measures = {}
    lowest, n_stalled = np.inf, 0

    def make_example(i: int) -> Example:
        doc = unpack_doc(vocab, texts[i])
        MEASURES[doc] = measures
        return Example(doc, doc)

    for epoch in count():
        order = np.random.default_rng([seed, epoch]).permutation(len(texts))
        yield map(make_example, order)
        if held_out and not measures:
            _logger.warning("No loss is measured: training on held-out texts too")
            texts, held_out = texts + held_out, []
        elif held_out:
            loss = measures["loss"](unpack_doc(vocab, tokens) for tokens in held_out)
            n_stalled = 0 if loss < lowest - TOLERANCE else n_stalled + 1
            lowest = min(lowest, loss)
            _logger.info("Held-out loss after epoch %d: %.4f a token", epoch, loss)
        if n_stalled >= patience:
            _logger.info("Held-out loss no longer falls: ending pretraining")
            return


def pack_doc(doc: Doc) -> NDArray:
    """Return words, norms and spaces of a Doc. *Shape:* `(n, 3)`, uint64."""
    return doc.to_array([ORTH, NORM, SPACY])


def unpack_doc(vocab: Vocab, tokens: NDArray) -> Doc:
    """Create a Doc from the output of `pack_doc`."""
    words, norms, spaces = tokens.T
    doc = Doc(vocab, words=words, spaces=spaces.astype(bool))
    # tokenizers set norms per token: the second token of "don't" has "not"
    return doc.from_array([NORM], norms)


def read_distinct(
    nlp: Language,
    path: Path | None,
    exclude: Iterable[Path],
    pack: Callable[[Doc], Any],
    take: Take = _take_predicted,
) -> tuple[dict[int, Any], int]:
    """Return distinct packed texts by hash, and the number of excluded texts."""
    if path is not None and not Path(path).is_dir():
        check_is_regular(Path(path))  # read again to count symbols
    excluded = {_hash(doc) for doc in read_text_docs(exclude, nlp)}
    docs = read_text_docs([path], nlp, take)
    texts = {_hash(doc): pack(doc) for doc in docs if doc.text.strip()}
    kept = {key: text for key, text in texts.items() if key not in excluded}
    return kept, len(texts) - len(kept)


def _hash(doc: Doc) -> int:
    return get_string_id("".join(doc.text.split()))


def read_text_docs(
    paths: Iterable[Path | None], nlp: Language, take: Take = _take_predicted
) -> Iterator[Doc]:
    """Read and tokenize texts of `.spacy` files, or folders, and of text files."""
    for path in map(check_path, paths):
        if path.is_dir() or path.suffix == ".spacy":
            yield from map(take, read_examples(path, nlp))
        else:
            yield from map(nlp.make_doc, read_texts(path, nlp.max_length))


def take_features(example: Example) -> Doc:
    """Return the predicted side, with all features of the gold side."""
    keep_features(example, sorted(find_stored(example.reference)))
    return example.predicted


def take_sentences(example: Example) -> Doc:
    """Return the predicted side with features and, if tokens are equal, with gold
    sentences and unknown spaces, which prevent retokenization.
    """
    doc, gold = take_features(example), example.reference
    if np.array_equal(doc.to_array([ORTH]), gold.to_array([ORTH])):
        starts: Any = gold.to_array([SENT_START])
        doc.from_array([SENT_START], starts)
        doc.has_unknown_spaces = gold.has_unknown_spaces
    return doc


def read_texts(path: Path, max_length: int = MAX_TEXT) -> Iterator[str]:
    """Yield the "text" of each line of a `.jsonl` file, or each line of other files.

    Skip blank lines. Refuse files with columns.
    """
    path = check_path(path)
    suffix = path.suffix.lower()
    is_json = suffix in (".jsonl", ".ndjson")
    lines = filter(lambda item: item[1].strip(), read_lines(path))
    first = list(islice(lines, 100))
    has_columns = len(first) > 2 and all(_COLUMNS.fullmatch(x) for _, x in first)
    if suffix in _COLUMN_SUFFIXES or (has_columns and not is_json):
        raise ValueError(
            f"'{path}' should have one text per line, or be .jsonl or .spacy, but has "
            "columns or another format. Convert it with `spacy hashembeds prepare` or "
            "`spacy convert`."
        )
    for number, line in chain(first, lines):
        text: Any = line
        if is_json:
            try:
                text = parse_json(line)["text"]
            except (ValueError, KeyError):
                text = None
        if not is_text(text):
            message = f'expected a JSON object with a "text", got {quote(line)}'
            fail(path, number, message)
        check_length(path, number, text, max_length)
        yield text
