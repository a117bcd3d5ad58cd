"""Symbol tables for embedders: count, cut, save, load."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IDS
from spacy.tokens import Doc

from .counting import KeyCounter
from .files import replacing
from .layers.symboltaker import Symbols

Counts = Mapping[str, KeyCounter]


@dataclass(frozen=True)
class SymbolTables:
    """The symbols of attributes that were counted in one corpus, most frequent first.

    Norms depend on `lang`, that of the pipeline that made the Docs. A frequent symbol
    was seen `min_freq` times or more. Where memory did not hold all symbols of an
    attribute, counts are too low by its number in `errors` at most, and what is not
    there was seen so often at most.
    """

    tables: Mapping[str, Symbols]
    lang: str
    min_freq: int
    errors: Mapping[str, int] = field(default_factory=dict)

    def get_table(self, attr: str) -> Symbols:
        """Get the table of one attribute."""
        if attr not in self.tables:
            raise ValueError(
                f"There is no symbol table for {attr}, only for "
                f"{', '.join(sorted(self.tables))}. Make one with "
                f"`spacy hashembeds tables … --attrs {attr},…`."
            )
        return self.tables[attr]

    def count_distinct(self, attr: str) -> int:
        """Count the symbols of one attribute, frequent and rare."""
        return sum(len(values) for values in self._list_values(attr))

    def has_values(self, attr: str) -> bool:
        """Tell whether any token had a value."""
        return any(values.any() for values in self._list_values(attr))

    def _list_values(self, attr: str) -> list[NDArray]:
        frequent, rare, _ = self.tables[attr]
        return [frequent] if rare is None else [frequent, rare]


def count_values(
    docs: Iterable[Doc], attrs: Sequence[str], limit: int | None = None
) -> Counts:
    """Count the values that attributes take. Memory grows with distinct ones only, up
    to the limit.
    """
    counts = {attr: KeyCounter(limit) for attr in attrs}
    ids = [IDS[attr] for attr in counts]
    for doc in docs:
        columns = doc.to_array(ids).reshape(len(doc), len(ids)).T
        for counter, column in zip(counts.values(), columns, strict=True):
            counter.add(column)
    return counts


def cut_symbols(counts: Counts, *, min_freq: int, lang: str) -> SymbolTables:
    """Tell the symbols that were seen `min_freq` times or more from the rare ones."""
    tables = {
        attr: _cut_table(*counter.get_counts(), min_freq)
        for attr, counter in counts.items()
    }
    errors = {attr: each.error for attr, each in counts.items() if each.error}
    return SymbolTables(tables, lang=lang, min_freq=min_freq, errors=errors)


def _cut_table(values: NDArray, counts: NDArray, min_freq: int) -> Symbols:
    """Cut one table: values in ascending order, and their counts. *Shapes:* `(n,)`."""
    is_frequent = counts >= min_freq
    kept, numbers = values[is_frequent], counts[is_frequent]
    order = np.argsort(-numbers, kind="stable")  # equal counts: by value
    numbers = numbers[order].astype("uint64")
    return Symbols(kept[order], rare=values[~is_frequent], counts=numbers)


def save_symbols(path: str | Path, symbols: SymbolTables) -> None:
    """Save symbol tables to a `.npz` file, whole or not at all."""
    arrays: dict[str, Any] = {"lang": np.array(symbols.lang)}
    arrays["min_freq"] = np.array(symbols.min_freq)
    for attr, table in symbols.tables.items():
        _check_table(attr, table)  # numpy 2.0 would pickle what is no number
        arrays[f"symbols/{attr}"] = table.frequent
        arrays[f"counts/{attr}"] = table.counts
        if table.rare is not None:
            arrays[f"rare/{attr}"] = table.rare
        if error := symbols.errors.get(attr):
            arrays[f"error/{attr}"] = np.array(error, dtype="uint64")
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
            with np.load(file_, allow_pickle=False) as arrays:
                return _read_arrays(arrays)
        except Exception as e:  # damaged bytes fail anywhere between zip and array
            raise ValueError(
                f"'{path}' is not a file of symbol tables, or it is damaged. Make it "
                "anew with `spacy hashembeds tables`."
            ) from e


def _read_arrays(arrays: Mapping[str, np.ndarray]) -> SymbolTables:
    attrs = [name[len("symbols/") :] for name in arrays if name.startswith("symbols/")]
    kinds = ("symbols", "counts", "rare", "error")
    known = {f"{kind}/{attr}" for kind in kinds for attr in attrs}
    unknown = arrays.keys() - known - {"lang", "min_freq"}
    if unknown:
        raise ValueError(f"There are arrays that nobody knows: {sorted(unknown)}")
    lang = _read_scalar(arrays, "lang", "U")
    min_freq = _read_scalar(arrays, "min_freq", "i")
    tables = {}
    for attr in attrs:
        symbols, counts = arrays[f"symbols/{attr}"], arrays[f"counts/{attr}"]
        tables[attr] = Symbols(symbols, arrays.get(f"rare/{attr}"), counts)
        _check_table(attr, tables[attr])
        # Nobody but a reader uses them, but where they are wrong, symbols may be too.
        if min_freq < 1 or (counts < min_freq).any():
            raise ValueError(
                f"{attr}: counts below min_freq, or this below 1 ({min_freq})"
            )
        if (counts[1:] > counts[:-1]).any():
            raise ValueError(f"{attr}: the most frequent symbols don't come first")
    uncertain = [attr for attr in attrs if f"error/{attr}" in arrays]
    errors = {attr: _read_scalar(arrays, f"error/{attr}", "u") for attr in uncertain}
    return SymbolTables(tables, lang=lang, min_freq=min_freq, errors=errors)


def _read_scalar(arrays: Mapping[str, Any], name: str, kind: str) -> Any:
    array = arrays[name]
    if array.ndim != 0 or array.dtype.kind != kind:
        raise ValueError(f"{name}: {array.dtype} of shape {array.shape}")
    return array.item()


def _check_table(attr: str, table: Symbols) -> None:
    symbols, rare, counts = table
    arrays = {"symbols": symbols, "counts": counts, "rare symbols": rare}
    for name, array in arrays.items():
        if array is not None and (array.ndim != 1 or array.dtype != "uint64"):
            raise ValueError(f"{attr}: {name} {array.dtype} of shape {array.shape}")
    if counts is None or len(symbols) != len(counts):
        raise ValueError(f"{attr}: not one count for each of {len(symbols)} symbols")
    if len(np.unique(symbols)) != len(symbols):
        raise ValueError(f"{attr}: a symbol is there twice")
    if rare is None:
        return
    if not (rare[1:] > rare[:-1]).all():
        raise ValueError(f"{attr}: rare symbols are not in ascending order")
    # with a table, which it may choose by itself, numpy 2.0 fails from 2**63 on
    if np.isin(rare, symbols, kind="sort").any():
        raise ValueError(f"{attr}: a symbol is rare and frequent")
