"""What a config runs before or after a pipeline is initialised."""

from collections.abc import Callable, Iterator
from itertools import islice

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import logger, resolve_dot_names
from thinc.api import Model

from .layers.symbolembed import find_symbol_embeds, set_symbols
from .symbols import SymbolTables, count_symbols, cut_symbols


def create_count_symbols(
    *, corpus: str = "corpora.train", min_freq: int = 10, limit: int = 0
) -> Callable[[Language], None]:
    """Count the symbols of a corpus and give them to every `MultiEmbed` that has none.

    For `[initialize.before_init]`. Only components that are about to be initialised
    are looked at, so frozen and sourced ones keep the symbols they were trained with.

    corpus (str): The corpus to count, as [training] names its own, e.g.
        "corpora.train". Any registered reader will do. It is read once, a Doc at a
        time, and its augmentation, if any, is counted too.
    min_freq (int): How often a symbol must be seen to get a row of its own,
        inclusive. The report uses 10; on small corpora a lower number may be much
        better (AnEM gains 11 F1 points at 1: report, §A.2), at the cost of more rows
        and of an unknown row that sees less training.
    limit (int): Read at most this many Docs, or all if 0. For corpora without an end.

    RAISES (ValueError): If `min_freq` is below 1 or `limit` below 0; when run, if the
        corpus has no tokens.
    """
    if min_freq < 1:
        raise ValueError(f"'min_freq' should be at least 1, but is {min_freq}.")
    if limit < 0:
        raise ValueError(f"'limit' should be 0 (no limit) or more, but is {limit}.")

    def set_counted_symbols(nlp: Language) -> None:
        embeds = _find_waiting_embeds(nlp)
        if not embeds:
            logger.debug("No MultiEmbed waits for symbols: nothing to count.")
            return
        attrs = sorted({embed.attrs["key"] for embed in embeds})
        counts = count_symbols(_read_docs(nlp, corpus, limit), attrs)
        if not any(counts.values()):
            raise ValueError(
                f"There is not a token in the corpus '{corpus}', so there are no "
                "symbols to count. Does its path point to the training data?"
            )
        tables = cut_symbols(counts, min_freq=min_freq, lang=nlp.vocab.lang)
        for embed in embeds:
            set_symbols(embed, tables.get_symbols(embed.attrs["key"]))
        _log_sizes(tables)

    return set_counted_symbols


def _find_waiting_embeds(nlp: Language) -> list[Model]:
    embeds = []
    for _, pipe in nlp.pipeline:
        model = getattr(pipe, "model", None)
        if isinstance(model, Model):
            from_file = {
                embed.id
                for node in model.walk()
                if node.attrs.get("tables") is not None
                for embed in find_symbol_embeds(node)
            }
            embeds += [e for e in find_symbol_embeds(model) if e.id not in from_file]
    return embeds


def _read_docs(nlp: Language, corpus: str, limit: int) -> Iterator[Doc]:
    (reader,) = resolve_dot_names(nlp.config.interpolate(), [corpus])
    return (example.predicted for example in islice(reader(nlp), limit or None))


def _log_sizes(tables: SymbolTables) -> None:
    sizes = ", ".join(f"{k} {len(t.symbols)}" for k, t in sorted(tables.tables.items()))
    logger.info("Counted symbols seen %d times or more: %s", tables.min_freq, sizes)
