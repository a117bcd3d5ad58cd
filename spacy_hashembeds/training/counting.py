"""Count the symbols and n-grams of a corpus when the first layer that needs them is
initialised, in bounded memory if requested; and the callback that requests the
counting.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger, minibatch, registry
from thinc.api import Model

from ..architectures.features import read_keys
from ..architectures.symbols import SYMBOL_SOURCE, SymbolTables
from ..arguments import check_integers, check_items, check_pipeline
from ..layers.symboltaker import Source, Symbols, find_symbol_takers
from .annotation import (
    Annotation,
    annotate,
    check_example,
    find_annotation,
    has_params,
    walk_layers,
)

#: Keys are counted once this many are gathered. Each array adds `_AN_ARRAY` to the
#: number, for its overhead.
_GATHERED = 1_000_000
_AN_ARRAY = 32
#: Docs that are read at a time; and the most distinct n-grams in memory, as a multiple
#: of the number to keep.
_BATCH, _SPARE = 256, 8

#: Counters of the values of each attribute.
Counters = Mapping[str, "KeyCounter"]


def create_count_symbols(
    *, corpus: str = "corpora.train", min_freq: int = 10, limit: int = 0
) -> Callable[[Language], None]:
    """Count the symbols of a corpus for every embedder that waits for them:
    those with an argument `tables`, such as `MultiEmbed`, that have no file there.

    Use it in `[initialize.before_init]`. Symbols are counted when the first such layer
    is initialised, once for all of them. Attributes set by earlier components in
    [training] annotating_components are counted as training will see them, or, if these
    components are untrained, as in the gold annotation. Frozen and sourced components
    keep the symbols with which they were trained. The examples passed to
    `nlp.initialize` are not counted: see `spacy_hashembeds.count_symbols` for those.

    corpus (str): The corpus to count, in the notation of [training]. Any registered
        reader works. The corpus is read once, a Doc at a time, with its augmentation.
    min_freq (int): The smallest count for which a symbol gets a row of its own. The
        report uses 10; on small corpora a lower number may be much better (AnEM gains
        11 F1 points at 1: report, §A.2), at the cost of more rows and of an unknown row
        that sees less training.
    limit (int): Read at most this many Docs, or all if 0. Needed for infinite corpora.

    RAISES (ValueError): Later, if there is no such corpus, or it has no token, or if
        the pipeline has weights already, as after loading it.
    """
    check_integers(1, min_freq=min_freq)
    check_integers(0, limit=limit)

    def count_for_waiting_layers(nlp: Language) -> None:
        read = partial(_read_corpus, nlp, corpus, limit)
        _count_symbols_later(nlp, read, min_freq, corpus)

    return count_for_waiting_layers


def count_symbols(
    nlp: Language,
    examples: Iterable[Example | Doc],
    *,
    min_freq: int = 10,
    limit: int = 0,
) -> None:
    """Count the symbols of docs for every embedder that waits for them.

    Use it for training without a config: call it before `nlp.initialize`, with the same
    components enabled. It does the same as the callback
    `spacy-hashembeds.count_symbols.v1`, with the same `min_freq` and `limit`, and takes
    precedence over it. A later call replaces an earlier one. Set `nlp.vocab.lookups`
    before the first Doc is made, since words keep their norms.

    examples (Iterable[Example | Doc]): The training data. The predicted side of
        Examples is counted, with the annotation by [training] annotating_components.
        They are read once: a generator is used up, and `nlp.initialize` needs another.
    RAISES (TypeError): If `nlp` is no pipeline, or `examples` can't be iterated over;
        in `nlp.initialize`, if its items are not Examples or Docs.
    RAISES (ValueError): If no layer waits for symbols, or numbers are invalid; in
        `nlp.initialize`, if `examples` have no token, or another language.
    """
    check_pipeline(nlp)
    check_items("Examples or Docs", examples=examples)
    check_integers(1, min_freq=min_freq)
    check_integers(0, limit=limit)

    def read() -> Iterator[Example]:
        for item in islice(examples, limit or None):
            check_example(item)
            example = item if isinstance(item, Example) else Example(item, item)
            if (lang := example.predicted.vocab.lang) != nlp.vocab.lang:
                raise ValueError(
                    f"'examples' should be of the pipeline's language, but hold a Doc "
                    f"of '{lang}'. Make Docs with `nlp.make_doc`."
                )
            yield example

    if not _count_symbols_later(nlp, read, min_freq, corpus=None):
        raise ValueError(
            "'nlp' should have an embedder that waits for symbols, but has none. Add "
            "it before, and leave out its argument `tables`."
        )


def _count_symbols_later(
    nlp: Language,
    read: Callable[[], Iterable[Example]],
    min_freq: int,
    corpus: str | None,
) -> bool:
    """Set embedders' symbols when the first one is initialised. Return True if
    there are embedders that wait for symbols.

    corpus (str, optional): The corpus of the config whose examples `read` returns. None
        if the examples come from Python, which replace sources that are set already.
    """
    attrs_of: dict[Annotation, set[str]] = {}

    @cache
    def get_tables(annotation: Annotation) -> SymbolTables:
        attrs = sorted(attrs_of[annotation])
        counts = count_values(annotate(nlp, read(), annotation), attrs)
        _check_counts(counts, corpus)
        tables = cut_symbols(counts, min_freq=min_freq, lang=nlp.vocab.lang or "")
        sizes = ", ".join(f"{k} {len(t.frequent)}" for k, t in tables.tables.items())
        logger.info("Counted symbols seen %d times or more: %s", min_freq, sizes)
        return tables

    for model, annotation in _find_waiting(nlp, SYMBOL_SOURCE, corpus):
        keys = {taker.attrs["key"] for taker in find_symbol_takers(model)}
        needed = annotation.restrict(keys)
        attrs_of.setdefault(needed, set()).update(keys)
        model.attrs[SYMBOL_SOURCE] = Source(partial(get_tables, needed))
    return bool(attrs_of)


def _check_counts(counts: Counters, corpus: str | None) -> None:
    name = "'examples'" if corpus is None else f"the corpus '{corpus}'"
    values = {attr: counter.get_counts()[0] for attr, counter in counts.items()}
    if not any(map(len, values.values())):
        raise ValueError(
            f"There is not a token in {name} to count. Does its path point to the "
            "training data? A generator can be read only once."
        )
    for attr, of_attr in values.items():
        if not of_attr.any():
            warnings.warn(
                f"No token in {name} has a value for {attr}: all will share one row. "
                "Is what sets it ahead, and among [training] annotating_components?",
                stacklevel=2,
            )


def _find_waiting(
    nlp: Language, source: str, corpus: str | None
) -> list[tuple[Model, Annotation]]:
    """Find the layers of all components that wait for such a `Source` and will be
    initialised, each with the annotation of the Docs that it will read.

    Frozen and sourced components, which are disabled during initialisation, are left
    out if they have weights. Disabled ones without weights are included: `spacy
    pretrain` disables all components before it initialises one of them.
    """
    waiting = []
    for name, node in walk_layers(nlp):
        found = node.attrs.get(source)
        if not isinstance(found, Source):
            continue
        waits = found.get is None or (corpus is None and found.is_for_once)
        is_trained = has_params(node)
        if waits and (name in nlp.pipe_names or not is_trained):
            if corpus is not None and is_trained:
                raise ValueError(
                    f"'nlp' should be a new pipeline, but '{name}' has weights. Make "
                    "one by `spacy.util.load_model_from_config(nlp.config)`; to count "
                    f"other examples than '{corpus}', call `count_symbols` then."
                )
            waiting.append((node, find_annotation(nlp, name)))
    return waiting


def _read_corpus(nlp: Language, corpus: str, limit: int) -> Iterator[Example]:
    """Read a corpus that the config names, all of it if `limit` is 0."""
    config = nlp.config.interpolate()
    if not limit and config["training"].get("max_epochs") == -1:
        logger.warning(
            "The corpus '%s', which is streamed, is read to its end to count symbols. "
            "If it has none, set 'limit' in [initialize.before_init].",
            corpus,
        )
    return islice(get_reader(config, corpus)(nlp), limit or None)


def get_reader(config: dict[str, Any], corpus: str) -> Callable:
    """Make the reader of a corpus that the config names."""
    section, _, name = corpus.partition(".")
    block = config.get(section, {})
    if not registry.is_promise(block):  # otherwise one function makes all corpora
        block = {key: value for key, value in block.items() if key == name}
    reader = registry.resolve({section: block})[section].get(name)
    if not callable(reader):
        raise ValueError(
            f"'corpus' should name a corpus of the config, such as 'corpora.train', "
            f"but is '{corpus}'. There are: {', '.join(config.get('corpora', {}))}."
        )
    return reader


class KeyCounter:
    """Counts keys: exactly without a limit, or else at most `limit` distinct ones.

    If there are more, the rarest are dropped, down to half as many, and counted from 0
    when they occur again: counts may be too low by `error` at most.
    """

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.error = 0
        self._keys = np.zeros(0, dtype="uint64")
        self._counts = np.zeros(0, dtype="int64")
        self._gathered: list[NDArray] = []
        self._n_gathered = 0

    def add(self, keys: NDArray) -> None:
        """Count keys. *Shape:* `(n,)`, uint64."""
        self._gathered.append(keys)
        self._n_gathered += len(keys) + _AN_ARRAY
        if self._n_gathered >= max(_GATHERED, (self.limit or 0) // 8):
            self._count()

    def get_counts(self) -> tuple[NDArray, NDArray]:
        """Return keys in ascending order, uint64, and their counts, int64: `(n,)`."""
        self._count()
        return self._keys, self._counts

    def get_most_frequent(self, n: int) -> NDArray:
        """Return the `n` most frequent keys. *Shape:* `(n,)` or less, ascending."""
        self._count()
        return self._keys[self._find_top(n)]

    def _count(self) -> None:
        if not self._gathered:  # inserting no keys would copy all arrays
            return
        gathered = np.concatenate(self._gathered)
        self._gathered, self._n_gathered = [], 0
        keys, counts = np.unique(gathered, return_counts=True)
        places = np.searchsorted(self._keys, keys)
        is_new = places == np.searchsorted(self._keys, keys, side="right")
        self._counts[places[~is_new]] += counts[~is_new]
        # one after the other, to have only one copy in memory
        self._keys = np.insert(self._keys, places[is_new], keys[is_new])
        self._counts = np.insert(self._counts, places[is_new], counts[is_new])
        if self.limit is not None and len(self._keys) > self.limit:
            is_kept = np.zeros(len(self._keys), dtype=bool)
            is_kept[self._find_top(max(1, self.limit // 2))] = True
            self.error += int(self._counts[~is_kept].max())
            self._keys, self._counts = self._keys[is_kept], self._counts[is_kept]

    def _find_top(self, n: int) -> NDArray:
        """Find places of the `n` largest counts. *Shape:* `(n,)` or less, ascending."""
        if len(self._counts) <= n:
            return np.arange(len(self._counts))
        return np.sort(np.argpartition(self._counts, -n)[-n:])


def count_values(
    docs: Iterable[Doc], attrs: Sequence[str], limit: int | None = None
) -> Counters:
    """Count the values of attributes, in memory for at most `limit` distinct ones."""
    counts = {attr: KeyCounter(limit) for attr in attrs}
    names = list(counts)
    for doc in docs:
        columns = read_keys([doc], names).T
        for counter, column in zip(counts.values(), columns, strict=True):
            counter.add(column)
    return counts


def cut_symbols(counts: Counters, *, min_freq: int, lang: str) -> SymbolTables:
    """Return the symbols with a count of at least `min_freq`, the most frequent first.

    Symbols of equal counts are in the order of their values.
    """
    tables = {}
    for attr, counter in counts.items():
        values, numbers = counter.get_counts()
        order = np.argsort(-numbers, kind="stable")
        order = order[numbers[order] >= min_freq]
        tables[attr] = Symbols(values[order], counts=numbers[order].astype("uint64"))
    return SymbolTables(tables, lang=lang, min_freq=min_freq)


def count_ngrams_later(
    nlp: Language,
    *,
    source: str,
    find_limit: Callable[[Any], int],
    corpus: str,
    limit: int,
) -> None:
    """Count a corpus' n-grams when the first layer that needs them is initialised.

    source (str): Name of the layers' attribute that holds their `Source`.
    find_limit (Callable): Returns the largest number of n-grams of a kind. A kind is
        hashable; it has the token attribute that it reads, `attr`, and a method `read`,
        which returns the n-grams of Docs, `(n,)`, uint64.
    """

    @cache
    def count_ngrams(annotation: Annotation, kind: Any) -> NDArray:
        most = find_limit(kind)
        counter = KeyCounter(_SPARE * most)
        docs = annotate(nlp, _read_corpus(nlp, corpus, limit), annotation)
        for batch in minibatch(docs, _BATCH):
            counter.add(kind.read(batch))
        ngrams = counter.get_most_frequent(most)
        if len(ngrams) == 0:
            raise ValueError(
                f"No word in the corpus '{corpus}' has a {kind.attr}. Does its path "
                "point to the training data, and is what sets it among [training] "
                "annotating_components?"
            )
        logger.info("Counted n-grams: %d are known from now on", len(ngrams))
        return ngrams

    for model, annotation in _find_waiting(nlp, source, corpus):
        # count once for layers with the same kind of n-grams and the same annotation
        model.attrs[source] = Source(
            lambda kind, a=annotation: count_ngrams(a.restrict([kind.attr]), kind)
        )
