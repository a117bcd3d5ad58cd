"""Count symbols and n-grams of a corpus when the first layer that needs them is
initialized.
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
from ..layers.vocabulary import Symbols, SymbolSource, find_vocabulary_layers
from .annotation import (
    Annotation,
    annotate,
    check_example,
    find_annotation,
    has_params,
    walk_layers,
)
from .key_counter import KeyCounter

#: Docs per batch; and the limit of counted n-grams, as a multiple of those kept.
_BATCH, _SPARE = 256, 8

#: Counters of values, by attribute.
Counters = Mapping[str, KeyCounter]


def create_count_symbols(
    *, corpus: str = "corpora.train", min_freq: int = 10, limit: int = 0
) -> Callable[[Language], None]:
    """Count the symbols of a corpus for every embedder without symbols: those, such as
    `MultiEmbed`, whose argument `tables` is not set.

    Use it in `[initialize.before_init]`. Symbols are counted once, when the first such
    layer is initialized. Attributes set by preceding components in [training]
    annotating_components are counted as set in training, or, if these components are
    untrained, as in the gold annotation. Frozen and sourced components keep their
    symbols. To count the examples passed to `nlp.initialize`, use
    `spacy_hashembeds.count_symbols` instead.

    corpus (str): The corpus to count, in the notation of [training], with any reader.
        It is streamed once, including augmentation.
    min_freq (int): Minimum count of symbols with a separate row. The report uses 10.
        Lower values may be much better on small corpora (AnEM gains 11 F1 points at 1:
        report, §A.2), but add rows, and train the unknown row less.
    limit (int): Read at most this many Docs. 0: read all. Required for infinite
        corpora.

    RAISES (ValueError): At initialization, if the corpus is missing or has no tokens,
        or if the pipeline already has weights, as after loading.
    """
    check_integers(1, min_freq=min_freq)
    check_integers(0, limit=limit)

    def count_for_layers(nlp: Language) -> None:
        read = partial(_read_corpus, nlp, corpus, limit)
        _count_symbols_later(nlp, read, min_freq, corpus)

    return count_for_layers


def count_symbols(
    nlp: Language,
    examples: Iterable[Example | Doc],
    *,
    min_freq: int = 10,
    limit: int = 0,
) -> None:
    """Count the symbols of docs for every embedder without symbols.

    For training without a config: call it before `nlp.initialize`, with the same
    components enabled. Takes precedence over the callback
    `spacy-hashembeds.count_symbols.v1`, which has the same `min_freq` and `limit`. A
    later call replaces an earlier one. Set `nlp.vocab.lookups` before making Docs,
    since words keep their norms.

    examples (Iterable[Example | Doc]): The training data. For Examples, the predicted
        side is counted, annotated by [training] annotating_components. Read once: a
        generator is exhausted, and `nlp.initialize` needs another.
    RAISES (TypeError): If `nlp` is not a pipeline, or `examples` is not iterable. In
        `nlp.initialize`, if items are not Examples or Docs.
    RAISES (ValueError): If no layer needs symbols, or numbers are invalid. In
        `nlp.initialize`, if `examples` have no tokens.
    """
    check_pipeline(nlp)
    check_items("Examples or Docs", examples=examples)
    check_integers(1, min_freq=min_freq)
    check_integers(0, limit=limit)

    def read() -> Iterator[Example]:
        for item in islice(examples, limit or None):
            check_example(item)
            yield item if isinstance(item, Example) else Example(item, item)

    if not _count_symbols_later(nlp, read, min_freq, corpus=None):
        raise ValueError(
            "'nlp' should have an embedder that needs symbols, but has none. Add "
            "one first, without the argument `tables`."
        )


def _count_symbols_later(
    nlp: Language,
    read: Callable[[], Iterable[Example]],
    min_freq: int,
    corpus: str | None,
) -> bool:
    """Set embedders' symbols when the first one is initialized. Return True if any
    embedder needs symbols.

    corpus (str, optional): The config's corpus that `read` returns. None for examples
        from Python, which replace existing sources.
    """
    attrs_of: dict[Annotation, set[str]] = {}

    @cache
    def get_tables(annotation: Annotation) -> SymbolTables:
        attrs = sorted(attrs_of[annotation])
        counts = count_values(annotate(nlp, read(), annotation), attrs)
        _check_counts(counts, corpus)
        tables = filter_symbols(counts, min_freq=min_freq, lang=nlp.vocab.lang or "")
        sizes = ", ".join(f"{k} {len(t.frequent)}" for k, t in tables.tables.items())
        logger.info("Counted symbols seen %d times or more: %s", min_freq, sizes)
        return tables

    for model, annotation in _find_uninitialized(nlp, SYMBOL_SOURCE, corpus):
        keys = {taker.attrs["key"] for taker in find_vocabulary_layers(model)}
        needed = annotation.restrict(keys)
        attrs_of.setdefault(needed, set()).update(keys)
        model.attrs[SYMBOL_SOURCE] = SymbolSource(partial(get_tables, needed))
    return bool(attrs_of)


def _check_counts(counts: Counters, corpus: str | None) -> None:
    name = "'examples'" if corpus is None else f"the corpus '{corpus}'"
    values = {attr: counter.get_counts()[0] for attr, counter in counts.items()}
    if not any(map(len, values.values())):
        raise ValueError(
            f"There are no tokens to count in {name}. Check that its path is the "
            "training data. A generator can be read only once."
        )
    for attr, keys in values.items():
        if not keys.any():
            warnings.warn(
                f"No token in {name} has a value for {attr}: all will share one row. "
                "Check that the component that sets it comes before, and is listed in "
                "[training] annotating_components.",
                stacklevel=2,
            )


def _find_uninitialized(
    nlp: Language, source: str, corpus: str | None
) -> list[tuple[Model, Annotation]]:
    """Return layers that need a `SymbolSource`, each with its input's annotation.

    Layers with weights are skipped, except an error for those of enabled components if
    `corpus` is given. Disabled components without weights are included: `spacy
    pretrain` disables all components before initialization.
    """
    uninitialized = []
    for name, node in walk_layers(nlp):
        found = node.attrs.get(source)
        if not isinstance(found, SymbolSource):
            continue
        if corpus is not None and found.get is not None:
            continue  # set from Python
        if not has_params(node):
            uninitialized.append((node, find_annotation(nlp, name)))
        elif corpus is not None and name in nlp.pipe_names:
            raise ValueError(
                f"'nlp' should be a new pipeline, but '{name}' has weights. Create one "
                "by `spacy.util.load_model_from_config(nlp.config)`. To count other "
                f"examples than '{corpus}', then call `spacy_hashembeds.count_symbols`."
            )
    return uninitialized


def _read_corpus(nlp: Language, corpus: str, limit: int) -> Iterator[Example]:
    """Read a corpus of the config, up to `limit` Docs, or all if 0."""
    config = nlp.config.interpolate()
    if not limit and config["training"].get("max_epochs") == -1:
        logger.warning(
            "The streamed corpus '%s' is read to its end to count symbols. If it is "
            "infinite, set 'limit' in [initialize.before_init].",
            corpus,
        )
    return islice(get_reader(config, corpus)(nlp), limit or None)


def get_reader(config: dict[str, Any], corpus: str) -> Callable:
    """Create the reader of a corpus of the config."""
    section, _, name = corpus.partition(".")
    block = config.get(section, {})
    if not registry.is_promise(block):  # else a single function creates all corpora
        block = {key: value for key, value in block.items() if key == name}
    reader = registry.resolve({section: block})[section].get(name)
    if not callable(reader):
        raise ValueError(
            f"'corpus' should name a corpus of the config, such as 'corpora.train', "
            f"but is '{corpus}'. Available: {', '.join(config.get('corpora', {}))}."
        )
    return reader


def count_values(
    docs: Iterable[Doc], attrs: Sequence[str], limit: int | None = None
) -> Counters:
    """Count the values of attributes, at most `limit` distinct ones each."""
    counts = {attr: KeyCounter(limit) for attr in attrs}
    names = list(counts)
    for doc in docs:
        columns = read_keys([doc], names).T
        for counter, column in zip(counts.values(), columns, strict=True):
            counter.add(column)
    return counts


def filter_symbols(counts: Counters, *, min_freq: int, lang: str) -> SymbolTables:
    """Return symbols with counts >= `min_freq`, sorted by descending count, then by
    value.
    """
    tables = {}
    for attr, counter in counts.items():
        values, numbers = counter.get_counts()
        order = np.argsort(-numbers, kind="stable")
        order = order[numbers[order] >= min_freq]
        tables[attr] = Symbols(values[order], counts=numbers[order].astype("uint64"))
    return SymbolTables(tables, lang=lang, min_freq=min_freq)


def count_ngrams_at_init(
    nlp: Language,
    *,
    source: str,
    find_limit: Callable[[Any], int],
    corpus: str,
    limit: int,
) -> None:
    """Count a corpus' n-grams when the first layer that needs them is initialized.

    source (str): Layer attribute that holds the `SymbolSource`.
    find_limit (Callable): Returns the maximum number of n-grams of a kind. A kind is
        hashable, and has a token attribute `attr` and a method `read`, which returns
        the n-grams of Docs, `(n,)`, uint64.
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
                f"No word in the corpus '{corpus}' has a {kind.attr}. Check that its "
                "path is the training data, and that the component that sets "
                f"{kind.attr} is in [training] annotating_components."
            )
        logger.info("Counted n-grams: kept %d", len(ngrams))
        return ngrams

    for model, annotation in _find_uninitialized(nlp, source, corpus):
        # cached by kind and annotation
        model.attrs[source] = SymbolSource(
            lambda kind, a=annotation: count_ngrams(a.restrict([kind.attr]), kind)
        )
