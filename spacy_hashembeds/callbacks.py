"""Callbacks of a config, before or after a pipeline is created or initialised."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import islice
from typing import Any, TypeVar

from spacy.attrs import NORM
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger, registry
from thinc.api import Model, get_current_ops, set_current_ops

from .acceleration.blas import choose_ops, use_fastest_blas, walk_layers
from .annotation import Annotation, annotate, find_annotation, has_params
from .architectures.embedders.symbol_source import SYMBOL_SOURCE
from .checks import check_integers
from .inputs import check_items, check_pipeline
from .layers.source import Source
from .layers.symboltaker import find_symbol_takers
from .symbols import Counts, SymbolTables, count_values, cut_symbols

# What a callback is given and gives back: a pipeline's class, or the pipeline.
_Target = TypeVar("_Target", type[Language], Language)


def create_count_symbols(
    *, corpus: str = "corpora.train", min_freq: int = 10, limit: int = 0
) -> Callable[[Language], None]:
    """Have the symbols of a corpus counted for every embedder that waits for them:
    those with an argument `tables`, such as `MultiEmbed`, that have no file there.

    For `[initialize.before_init]`. The counting itself happens when the first such
    layer is initialised, once for all of them: only then are the lookups and the
    tokenizer ready that decide about norms. What [training] annotating_components that
    stand ahead set is counted as training will see it; if they have yet to learn, the
    gold annotation is. Frozen and sourced components keep the symbols that they were
    trained with.

    corpus (str): The corpus to count, as [training] names its own. Any registered
        reader will do. It is read once, a Doc at a time, and its augmentation, if any,
        is counted too.
    min_freq (int): How often a symbol must be seen to get a row of its own,
        inclusive. The report uses 10; on small corpora a lower number may be much
        better (AnEM gains 11 F1 points at 1: report, §A.2), at the cost of more rows
        and of an unknown row that sees less training.
    limit (int): Read at most this many Docs, or all if 0. For corpora without an end.

    RAISES (ValueError): Later, if there is no such corpus, or not a token in it.
    """
    check_integers(1, min_freq=min_freq)
    check_integers(0, limit=limit)

    def count_for_waiting_layers(nlp: Language) -> None:
        _let_wait(
            nlp,
            lambda attrs: read_corpus(nlp, corpus, limit),
            min_freq,
            name=f"the corpus '{corpus}'",
            remedy="Does its path point to the training data?",
        )

    return count_for_waiting_layers


def count_symbols(
    nlp: Language,
    examples: Iterable[Example | Doc],
    *,
    min_freq: int = 10,
    limit: int = 0,
) -> None:
    """Have the symbols of docs counted for every embedder that waits for them.

    For training without a config: call it before `nlp.initialize`, with the same
    components enabled. It does what the callback `spacy-hashembeds.count_symbols.v1`
    does, with its `min_freq` and `limit`, and goes before it. The last call counts.
    Until the first layer is initialised, `examples` is held on to.

    examples (Iterable[Example | Doc]): The training data. Of Examples, the predicted
        side is counted, with what [training] annotating_components set. Read once, one
        after the other: a generator is used up, and `nlp.initialize` needs another.
    RAISES (TypeError): If `nlp` is no pipeline, or `examples` holds no Examples or
        Docs; of an iterator, that shows in `nlp.initialize`.
    RAISES (ValueError): If no layer waits for symbols, or for bad numbers; in
        `nlp.initialize`, if there is not a token in `examples`, or another language.
    """
    check_pipeline(nlp)
    check_items("Examples or Docs", examples=examples)
    if isinstance(examples, Sequence):  # can be read again
        for item in examples:
            check_example(item)
    check_integers(1, min_freq=min_freq)
    check_integers(0, limit=limit)

    def read(attrs: Sequence[str]) -> Iterator[Example]:
        for item in islice(examples, limit or None):
            yield _get_example(item, nlp)
        if "NORM" in attrs:
            _warn_of_old_norms(nlp)

    remedy = "A generator can be read only once: give a list, or another generator."
    if not _let_wait(nlp, read, min_freq, name="'examples'", remedy=remedy, again=True):
        raise ValueError(
            "'nlp' should have an embedder that waits for symbols, but has none "
            f"(components: {', '.join(nlp.pipe_names) or 'none'}). Add it before, and "
            "leave out its argument `tables`."
        )


def _let_wait(
    nlp: Language,
    read: Callable[[Sequence[str]], Iterable[Example]],
    min_freq: int,
    *,
    name: str,
    remedy: str,
    again: bool = False,
) -> bool:
    """Have embedders, if there are any, get symbols when the first is initialised.

    `read` is given the attributes to count; `name` and `remedy` are for errors. With
    `again`, those are found too that wait for another corpus to be counted.
    """
    attrs_of: dict[Annotation, set[str]] = {}

    @cache
    def get_tables(annotation: Annotation) -> SymbolTables:
        attrs = sorted(attrs_of[annotation])
        counts = count_values(annotate(nlp, read(attrs), annotation), attrs)
        _check_counts(counts, name, remedy)
        tables = cut_symbols(counts, min_freq=min_freq, lang=nlp.vocab.lang or "")
        sizes = ", ".join(f"{k} {len(t.frequent)}" for k, t in tables.tables.items())
        logger.info("Counted symbols seen %d times or more: %s", min_freq, sizes)
        return tables

    for model, annotation in find_waiting(nlp, SYMBOL_SOURCE):
        source = model.attrs[SYMBOL_SOURCE]
        if source.get is None or (again and source.is_for_once):
            keys = {taker.attrs["key"] for taker in find_symbol_takers(model)}
            needed = annotation.restrict(keys)
            attrs_of.setdefault(needed, set()).update(keys)
            model.attrs[SYMBOL_SOURCE] = Source(partial(get_tables, needed))
    return bool(attrs_of)


def _check_counts(counts: Counts, name: str, remedy: str) -> None:
    values = {attr: counter.get_counts()[0] for attr, counter in counts.items()}
    if not any(map(len, values.values())):
        raise ValueError(
            f"There is not a token in {name}, so there are no symbols to count. "
            f"{remedy}"
        )
    for attr, of_attr in values.items():
        if not of_attr.any():
            warnings.warn(
                f"No token in {name} has a value for {attr}: all will share one row. "
                "What a component sets, such as POS, is there in training only if it "
                "stands ahead and is among [training] annotating_components.",
                stacklevel=2,
            )


def _get_example(item: Example | Doc, nlp: Language) -> Example:
    check_example(item)
    example = item if isinstance(item, Example) else Example(item, item)
    doc = example.predicted
    if doc.vocab.lang != nlp.vocab.lang:
        raise ValueError(
            f"'examples' should be of the pipeline's language, '{nlp.vocab.lang}', but "
            f"hold one of '{doc.vocab.lang}', whose norms may differ. Make Docs with "
            "`nlp.make_doc` or for `nlp.vocab`."
        )
    return example


def check_example(item: object) -> None:
    """Check an item of the argument 'examples'."""
    if not isinstance(item, Example | Doc):
        raise TypeError(
            "'examples' should hold Examples or Docs, but holds a "
            f"{type(item).__name__}. Make Docs with `nlp.make_doc`."
        )


def _warn_of_old_norms(nlp: Language) -> None:
    """Warn where a pipeline that is saved and loaded will not know the symbols."""
    # spaCy gives a word its norm when it meets it first, and never again
    vocab: Any = nlp.vocab  # whose types lack this
    get_norm = vocab.lex_attr_getters[NORM]
    old = [word.text for word in vocab if word.norm_ != get_norm(word.text)]
    if old:
        warnings.warn(
            f"{len(old)} words, such as '{old[0]}', were met before the lookups of "
            "their norms were loaded, and keep others until the pipeline is loaded "
            "anew. Set `nlp.vocab.lookups` before the first Doc is made.",
            stacklevel=2,
        )


def find_waiting(nlp: Language, source: str) -> list[tuple[Model, Annotation]]:
    """Find what is to be initialised and has such a `Source`, in all components, and
    what annotates the Docs that it will read.

    Frozen and sourced components are disabled while others are initialised. Those that
    have no weights yet count too: `spacy pretrain` disables all components before it
    initialises one of them.
    """
    return [
        (node, find_annotation(nlp, name))
        for name, node in walk_layers(nlp)
        if isinstance(node.attrs.get(source), Source)
        and (name in nlp.pipe_names or not has_params(node))
    ]


def read_corpus(nlp: Language, corpus: str, limit: int) -> Iterator[Example]:
    """Read a corpus that the config names, all of it if `limit` is 0."""
    config = nlp.config.interpolate()
    if not limit and config["training"].get("max_epochs") == -1:
        logger.warning(
            "Counting symbols reads the corpus '%s' to its end, although "
            "[training] max_epochs = -1 streams it. If it has no end, set 'limit' in "
            "[initialize.before_init].",
            corpus,
        )
    return islice(get_reader(config, corpus)(nlp), limit or None)


def get_reader(config: dict[str, Any], corpus: str) -> Callable:
    """Make the reader of a corpus that the config names."""
    section, _, name = corpus.partition(".")
    block = config.get(section, {})
    if any(key.startswith("@") for key in block):
        # a function that makes all corpora at once
        reader = registry.resolve({section: block})[section].get(name)
    elif name in block:
        reader = registry.resolve({name: block[name]})[name]
    else:
        reader = None
    if not callable(reader):
        raise ValueError(
            f"'corpus' should name a corpus of the config, such as 'corpora.train', "
            f"but is '{corpus}'. There are: {', '.join(config.get('corpora', {}))}."
        )
    return reader


def create_use_fastest_blas() -> Callable[[_Target], _Target]:
    """Put a pipeline's work on the CPU on the fastest BLAS present.

    Thinc's own, blis, falls back to generic kernels on many processors, where numpy's
    is several times as fast. That one is used only where a short measurement, once a
    process, shows it to be clearly faster, and on one thread, as blis. On GPUs, and
    with the operations of thinc-apple-ops, nothing changes. Results differ by rounding
    alone.

    For `[nlp.before_creation]`: all layers that are made from then on in the same
    thread use it, also those of pipelines that are loaded later. Or for
    `[nlp.after_pipeline_creation]`: the layers of this one pipeline use it.
    `spacy hashembeds doctor` shows what it brings.
    """
    return _use_fastest_blas


def _use_fastest_blas(target: _Target) -> _Target:
    if isinstance(target, Language):
        use_fastest_blas(target)
    else:
        set_current_ops(choose_ops(get_current_ops()))
    return target
