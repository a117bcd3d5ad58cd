"""Symbol tables: saved, loaded, and given to embedders when these are initialised."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model

from ..files import replacing
from ..layers.symboltaker import (
    Source,
    Symbols,
    find_symbol_takers,
    give_symbols,
    wait_for,
)
from ..thinc_internals import partial

#: The attribute with the `Source`, which gives `SymbolTables`.
SYMBOL_SOURCE = "symbol_source"

#: The most bytes of arrays for each byte of a file. Hashes of symbols hardly compress,
#: so that saved tables have 2 or 3, and 10 if symbols are numbers in sequence.
MAX_EXPANSION = 32


@dataclass(frozen=True)
class SymbolTables:
    """The symbols of attributes that were counted in one corpus, most frequent first.

    Norms depend on `lang`, that of the pipeline that made the Docs. Symbols that were
    seen `min_freq` times or more are there.
    """

    tables: Mapping[str, Symbols]
    lang: str
    min_freq: int

    def get_table(self, attr: str) -> Symbols:
        """Get the table of one attribute."""
        if attr not in self.tables:
            raise ValueError(
                f"There is no symbol table for {attr}, only for "
                f"{', '.join(sorted(self.tables))}. Make one with "
                f"`spacy hashembeds tables … --attrs {attr},…`."
            )
        return self.tables[attr]


def save_symbols(path: str | Path, symbols: SymbolTables) -> None:
    """Save symbol tables to a `.npz` file, whole or not at all."""
    arrays: dict[str, Any] = {"lang": np.array(symbols.lang)}
    arrays["min_freq"] = np.array(symbols.min_freq)
    for attr, table in symbols.tables.items():
        _check_table(attr, table)  # numpy 2.0 would pickle what is no number
        arrays[f"symbols/{attr}"] = table.frequent
        arrays[f"counts/{attr}"] = table.counts
    with replacing(path) as temporary, temporary.open("wb") as file_:
        np.savez_compressed(file_, **arrays)


def load_symbols(path: str | Path) -> SymbolTables:
    """Load symbol tables that `save_symbols` saved."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no file of symbol tables at '{path}', from '{Path.cwd()}'. If "
            "`spacy hashembeds config --raw` wrote it, run this where that ran. Make "
            "one with `spacy hashembeds tables`, or leave out `tables` and count "
            'with `@callbacks = "spacy-hashembeds.count_symbols.v1"`.'
        )
    with path.open("rb") as file_:
        try:
            _check_size(file_)
            with np.load(file_, allow_pickle=False) as arrays:
                return _read_arrays(arrays)
        except Exception as e:  # damaged bytes fail anywhere between zip and array
            raise ValueError(
                f"'{path}' is not a file of symbol tables, or it is damaged. Make it "
                "anew with `spacy hashembeds tables`."
            ) from e


def _check_size(file_: IO[bytes]) -> None:
    """Refuse a file whose arrays are too large for it, before they take memory."""
    n_bytes = sum(member.file_size for member in ZipFile(file_).infolist())
    limit = MAX_EXPANSION * file_.seek(0, os.SEEK_END)
    if n_bytes > limit:
        raise ValueError(f"There are arrays of {n_bytes} bytes, more than {limit}")
    file_.seek(0)


def _read_arrays(arrays: Mapping[str, np.ndarray]) -> SymbolTables:
    names = list(arrays)
    if len({*names}) < len(names):  # only the last would be read
        raise ValueError(f"arrays twice: {names}")
    attrs = [name[len("symbols/") :] for name in names if name.startswith("symbols/")]
    lang = _read_scalar(arrays, "lang", "U")
    min_freq = _read_scalar(arrays, "min_freq", "i")
    tables = {}
    for attr in attrs:
        symbols, counts = arrays[f"symbols/{attr}"], arrays[f"counts/{attr}"]
        tables[attr] = Symbols(symbols, counts)
        _check_table(attr, tables[attr])
        # Nobody but a reader uses them, but where they are wrong, symbols may be too.
        if min_freq < 1 or (counts < min_freq).any():
            raise ValueError(
                f"{attr}: counts below min_freq, or this below 1 ({min_freq})"
            )
        if (counts[1:] > counts[:-1]).any():
            raise ValueError(f"{attr}: the most frequent symbols don't come first")
    return SymbolTables(tables, lang=lang, min_freq=min_freq)


def _read_scalar(arrays: Mapping[str, Any], name: str, kind: str) -> Any:
    array = arrays[name]
    if array.ndim != 0 or array.dtype.kind != kind:
        raise ValueError(f"{name}: {array.dtype} of shape {array.shape}")
    return array.item()


def _check_table(attr: str, table: Symbols) -> None:
    symbols, counts = table
    if not attr:
        raise ValueError("a table without the name of an attribute")
    for name, array in {"symbols": symbols, "counts": counts}.items():
        if array is not None and (array.ndim != 1 or array.dtype != "uint64"):
            raise ValueError(f"{attr}: {name} {array.dtype} of shape {array.shape}")
    if counts is None or len(symbols) != len(counts):
        raise ValueError(f"{attr}: not one count for each of {len(symbols)} symbols")
    if len(np.unique(symbols)) != len(symbols):
        raise ValueError(f"{attr}: a symbol is there twice")


def wait_for_symbols(model: Model, tables: str | Path | None) -> Model:
    """Let an embedder hand symbols to its layers before it is initialised.

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
