"""Embedders that get symbols when they are initialised: from a file or a callback."""

from collections.abc import Callable
from pathlib import Path

from spacy.tokens import Doc
from thinc.api import Model

from ...layers.source import Source, wait_for
from ...layers.symboltaker import find_symbol_takers, give_symbols
from ...symbols import SymbolTables, load_symbols
from ...thinc_internals import partial

#: The attribute with the `Source`, which gives `SymbolTables`.
SYMBOL_SOURCE = "symbol_source"


def wait_for_symbols(model: Model, tables: str | Path | None) -> Model:
    """Have an embedder hand symbols to its layers before it is initialised.

    Those of a file, or else of the source that a callback sets.
    """
    source = Source()
    if tables is not None:
        source = Source(partial(load_symbols, tables), is_for_once=False)
    wait_for(SYMBOL_SOURCE, model, _give_symbols, source)
    return model


def _give_symbols(
    model: Model, get_tables: Callable[[], SymbolTables] | None, X: list[Doc] | None
) -> None:
    if get_tables is None:
        return
    tables = get_tables()
    if X and tables.lang != X[0].vocab.lang:
        lang = X[0].vocab.lang
        raise ValueError(
            f"The symbols in 'tables' were counted with language '{tables.lang}', "
            f"but the pipeline's is '{lang}': their norms may differ. Count them "
            f"again with `spacy hashembeds tables … --lang {lang}`."
        )
    for layer in find_symbol_takers(model):
        give_symbols(layer, tables.get_table(layer.attrs["key"]))
