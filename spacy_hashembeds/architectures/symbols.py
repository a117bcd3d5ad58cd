"""Save and load symbol tables, and pass them to embedders at initialization."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc
from thinc.api import Model

from ..files import replacing
from ..layers.vocabulary import (
    Symbols,
    assign_symbols,
    call_before_init,
    find_vocabulary_layers,
)
from ..thinc_internals import partial

#: Model attribute that holds the `SymbolSource` of `SymbolTables`.
SYMBOL_SOURCE = "symbol_source"


@dataclass(frozen=True)
class SymbolTables:
    """Symbols of a corpus by attribute, most frequent first, counts >= `min_freq`.

    `lang` is the language of the pipeline that made the Docs, on which norms depend.
    """

    tables: Mapping[str, Symbols]
    lang: str
    min_freq: int

    def get_table(self, attr: str) -> Symbols:
        """Return the table of an attribute."""
        if attr not in self.tables:
            raise ValueError(
                f"There is no symbol table for {attr}, only for "
                f"{', '.join(sorted(self.tables))}. Make one with "
                f"`spacy hashembeds tables … --attrs {attr},…`."
            )
        return self.tables[attr]


def save_symbols(path: str | Path, symbols: SymbolTables) -> None:
    """Save symbol tables to a `.npz` file, atomically."""
    arrays: dict[str, Any] = {"lang": symbols.lang, "min_freq": symbols.min_freq}
    for attr, table in symbols.tables.items():
        arrays[f"symbols/{attr}"] = table.frequent
        arrays[f"counts/{attr}"] = table.counts
    with replacing(path) as temporary, temporary.open("wb") as file_:
        np.savez_compressed(file_, **arrays)


def load_symbols(path: str | Path) -> SymbolTables:
    """Load symbol tables saved by `save_symbols`."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no symbol table file '{path}' (relative to '{Path.cwd()}'). If "
            "`spacy hashembeds config --raw` wrote it, run in the same folder. Or make "
            "one with `spacy hashembeds tables`, or omit `tables` and count with "
            '`@callbacks = "spacy-hashembeds.count_symbols.v1"`.'
        )
    try:
        with path.open("rb") as file_, np.load(file_, allow_pickle=False) as arrays:
            lang, min_freq = arrays["lang"].item(), arrays["min_freq"].item()
            tables = {
                attr: _check_table(arrays[name], arrays[f"counts/{attr}"])
                for name in arrays
                if (attr := name.removeprefix("symbols/")) != name
            }
    except Exception as e:  # damaged bytes may raise any error of zipfile or numpy
        raise ValueError(
            f"'{path}' is not a symbol table file, or is damaged. Recreate it with "
            "`spacy hashembeds tables`."
        ) from e
    return SymbolTables(tables, lang, min_freq)


def _check_table(symbols: NDArray, counts: NDArray) -> Symbols:
    for array in (symbols, counts):
        if array.ndim != 1 or array.dtype != "uint64":
            raise ValueError(f"{array.dtype} of shape {array.shape}")
    if not len(symbols) == len(np.unique(symbols)) == len(counts) or not counts.all():
        raise ValueError("symbols are not distinct, or a count is missing or 0")
    return Symbols(symbols, counts)


def set_symbols_at_init(model: Model, tables: str | Path | None) -> Model:
    """Make an embedder set the symbols of its layers when it is initialized.

    Symbols come from the file `tables`, or else from the source set by a callback.
    """
    if tables is None:
        call_before_init(SYMBOL_SOURCE, model, _set_symbols)
    else:
        model.init = partial(_init_from_file, tables, model.init)
    return model


def _init_from_file(
    path: str | Path,
    init_layers: Callable,
    model: Model,
    X: list[Doc] | None = None,
    Y: Any = None,
) -> None:
    _set_symbols(model, partial(load_symbols, path), X)
    init_layers(model, X, Y)


def _set_symbols(
    model: Model, get_tables: Callable[[], SymbolTables] | None, X: list[Doc] | None
) -> None:
    if get_tables is None:
        return
    tables = get_tables()
    if X and tables.lang != X[0].vocab.lang:
        lang = X[0].vocab.lang
        raise ValueError(
            f"The symbols in 'tables' were counted with language '{tables.lang}', "
            f"but the pipeline's is '{lang}', whose norms may differ. Recount with "
            f"`spacy hashembeds tables … --lang {lang}`."
        )
    for layer in find_vocabulary_layers(model):
        assign_symbols(layer, tables.get_table(layer.attrs["key"]))
