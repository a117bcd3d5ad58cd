"""Layers whose tables depend on the symbols of a corpus.

Symbols are counted after such a layer is built. Before the layer is initialized, the
class in its attribute "symbol_setter" sets them by its method `assign_symbols`:

    attrs={"key": "NORM", "symbols": None, "symbol_setter": LookupColumn}

The method sets the attribute "symbols", which is saved with the layer, or raises a
ValueError.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model, Ops

from ..thinc_internals import partial


class Symbols(NamedTuple):
    """Distinct frequent values of an attribute, as in `Doc.to_array`, in any order, and
    their counts, if known. *Shapes:* `(n,)`, uint64.
    """

    frequent: NDArray
    counts: NDArray | None = None


def find_vocabulary_layers(model: Model) -> list[Model]:
    """Find all layers in a model that need symbols of their attribute "key"."""
    return [n for n in model.walk() if callable(n.attrs.get("symbol_setter"))]


def assign_symbols(model: Model, symbols: Symbols) -> None:
    model.attrs["symbol_setter"](model).assign_symbols(symbols)


def get_symbols(model: Model) -> Any:
    symbols = model.attrs["symbols"]
    if symbols is None:
        raise ValueError(
            f"The layer '{model.name}' has no symbols for {model.attrs['key']} yet. "
            "Count them in the training corpus, by `@callbacks = "
            '"spacy-hashembeds.count_symbols.v1"` in [initialize.before_init], or in '
            "Python by `spacy_hashembeds.count_symbols(nlp, examples)`; or set the "
            "argument `tables` to a file made by `spacy hashembeds tables`."
        )
    return symbols


def set_symbols(model: Model, symbols: NDArray, dim: str) -> None:
    """Set distinct symbols, one fewer than the dimension `dim` if that is set."""
    symbols, n_rows = np.sort(symbols), len(symbols) + 1
    if model.has_param("E") and model.get_dim(dim) != n_rows:
        raise ValueError(
            f"The table for {model.attrs['key']} is already initialized with "
            f"{model.get_dim(dim)} rows, but {len(symbols)} symbols need {n_rows}. "
            "Build a new pipeline from the config to train it on other data."
        )
    symbols.flags.writeable = False  # they are not checked again
    model.attrs["symbols"] = symbols


def are_sorted_symbols(symbols: Any) -> bool:
    return (
        isinstance(symbols, np.ndarray)
        and symbols.ndim == 1
        and symbols.dtype == "uint64"
        and bool((symbols[1:] > symbols[:-1]).all())
    )


def check_symbols(model: Model, *, n_rows: int | None) -> None:
    """Check that there are `n_rows - 1` symbols in ascending order."""
    symbols = get_symbols(model)
    if not are_sorted_symbols(symbols) or len(symbols) + 1 != n_rows:
        raise ValueError(
            f"The symbols for {model.attrs['key']} should be distinct numbers in "
            f"ascending order, one fewer than the {n_rows} rows, but are not. The "
            "saved pipeline is damaged."
        )


def find_symbols(keys: Any, symbols: Any) -> tuple[Any, Any]:
    """Return the position of each key in ascending, non-empty symbols, and whether the
    key is a symbol. *Shapes:* `(n,)`.
    """
    found = np.minimum(np.searchsorted(symbols, keys), len(symbols) - 1)
    return found, symbols[found] == keys


def look_up(ops: Ops, ids: Any, symbols: NDArray, *, unk: int) -> Any:
    """Find the row of each key: `unk` for keys that are not symbols.

    *Shape:* `(n,)`, an array of these ops, to `(n, 1)`, uint32.
    """
    if len(symbols) == 0:
        return ops.xp.full((len(ids), 1), unk, dtype="uint32")
    keys = ops.as_contig(ids, dtype="uint64")
    found, is_known = find_symbols(keys, symbols)
    rows = np.where(is_known, found + (found >= unk), unk)
    return rows.astype("uint32").reshape(-1, 1)


@dataclass
class SymbolSource:
    """Function that supplies data, such as symbols, when a model is initialized.

    Norms of tokens depend on lookups and on the tokenizer, which spaCy initializes
    after `before_init` and before all components. The function is deleted afterwards,
    and omitted from pickles, so that a trained model does not keep a corpus and a
    pipeline in memory.
    """

    get: Callable[..., Any] | None = None

    def __deepcopy__(self, memo: Any) -> "SymbolSource":
        return replace(self)

    def __reduce__(self) -> tuple:
        return SymbolSource, ()


def call_before_init(name: str, model: Model, callback: Callable) -> None:
    """Call `callback(model, get, X)` before the layers of a model are initialized.

    `get` is the function of the `SymbolSource` in the attribute `name`, or None if not
    set; X is the sample of input.
    """
    model.attrs[name] = SymbolSource()
    model.init = partial(_init, name, callback, model.init)


def _init(
    name: str,
    callback: Callable,
    init_layers: Callable,
    model: Model,
    X: Any = None,
    Y: Any = None,
) -> None:
    source, model.attrs[name] = model.attrs[name], SymbolSource()
    callback(model, source.get, X)
    init_layers(model, X, Y)
