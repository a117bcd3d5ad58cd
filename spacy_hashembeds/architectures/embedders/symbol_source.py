"""Embedders that get symbols when they are initialised: from a file or a callback."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d
from thinc.util import partial

from ...layers.symboltaker import Symbols, find_symbol_takers, give_symbols
from ...symbols import SymbolTables, load_symbols


@dataclass
class SymbolSource:
    """Where an embedder gets its symbols from when it is initialised.

    get_tables (Callable[[], SymbolTables], optional): Gets them. It is called then,
        not before: what a token's norm is depends on lookups and on the tokenizer,
        which spaCy initialises after `before_init` and before any component.
    is_for_once (bool): Whether to forget it then: a trained model shall not hold on to
        a corpus and a pipeline.
    """

    get_tables: Callable[[], SymbolTables] | None = None
    is_for_once: bool = False

    def __deepcopy__(self, memo: Any) -> "SymbolSource":
        return replace(self)


def wait_for_symbols(model: Model, tables: str | Path | None) -> Model:
    """Have an embedder hand symbols to its layers before it is initialised.

    tables (str | Path, optional): A file made by `spacy hashembeds tables`. Without
        one, the embedder waits for a callback to set its source.
    """
    get_tables = None if tables is None else partial(load_symbols, tables)
    model.attrs["symbol_source"] = SymbolSource(get_tables)
    model.init = partial(init, model.init)
    return model


def find_symbol_waiters(model: Model) -> list[Model]:
    """Find the embedders anywhere inside a model that get symbols, wrapped or not."""
    nodes = model.walk()
    return [n for n in nodes if isinstance(n.attrs.get("symbol_source"), SymbolSource)]


def has_symbol_source(model: Model, *, but_for_once: bool = False) -> bool:
    """Tell whether an embedder will get its symbols when it is initialised.

    but_for_once (bool): Whether a source that it forgets then does not count.
    """
    source: SymbolSource = model.attrs["symbol_source"]
    return source.get_tables is not None and not (but_for_once and source.is_for_once)


def init(
    init_rest: Callable,
    model: Model[list[Doc], list[Floats2d]],
    X: list[Doc] | None = None,
    Y: list[Floats2d] | None = None,
) -> None:
    """Hand symbols to all layers that take them, then initialise as ever."""
    source: SymbolSource = model.attrs["symbol_source"]
    if source.get_tables is not None:
        tables = source.get_tables()
        if X and tables.lang != X[0].vocab.lang:
            lang = X[0].vocab.lang
            raise ValueError(
                f"The symbols in 'tables' were counted with language '{tables.lang}', "
                f"but the pipeline's is '{lang}': their norms may differ. Count them "
                f"again with `spacy hashembeds tables … --lang {lang}`."
            )
        for layer in find_symbol_takers(model):
            table = tables.get_table(layer.attrs["key"])
            give_symbols(layer, Symbols(table.symbols, table.rare))
        if source.is_for_once:
            model.attrs["symbol_source"] = SymbolSource()
    init_rest(model, X, Y)
