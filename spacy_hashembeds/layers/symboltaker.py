"""Layers whose tables depend on the symbols of a corpus.

Such a layer is built before symbols are counted, and takes them before it is
initialised. Its attribute "symbol_taker", which wrapped layers also have, is the class
that takes them:

    attrs={"key": "NORM", "symbols": None, "symbol_taker": LookupColumn}

The method `take_symbols` of that class sets the attribute "symbols", which is saved
with the layer, or raises a ValueError.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model, Ops

from ..thinc_internals import partial


class Symbols(NamedTuple):
    """The distinct values of an attribute, as in `Doc.to_array`, that are frequent in a
    corpus, in any order; and their counts, or None if these are unknown.

    *Shapes:* one dimension, uint64.
    """

    frequent: NDArray
    counts: NDArray | None = None


def find_symbol_takers(model: Model) -> list[Model]:
    """Find all layers in a model that take symbols, wrapped or not.

    Their attribute "key" is the token attribute of the symbols, e.g. "NORM".
    """
    return [n for n in model.walk() if callable(n.attrs.get("symbol_taker"))]


def give_symbols(model: Model, symbols: Symbols) -> None:
    model.attrs["symbol_taker"](model).take_symbols(symbols)


def get_symbols(model: Model) -> Any:
    symbols = model.attrs["symbols"]
    if symbols is None:
        raise ValueError(
            f"The layer '{model.name}' has no symbols for {model.attrs['key']} yet. "
            "Count them in the training corpus, with a section "
            "[initialize.before_init] that says `@callbacks = "
            '"spacy-hashembeds.count_symbols.v1"`, or without a config with '
            "`spacy_hashembeds.count_symbols(nlp, examples)`; or set the argument "
            "`tables` to a file made by `spacy hashembeds tables`."
        )
    return symbols


def set_symbols(model: Model, symbols: NDArray, dim: str) -> None:
    """Set distinct symbols, one fewer than the dimension `dim` if that is known."""
    symbols, n_rows = np.sort(symbols, axis=-1), len(symbols) + 1
    if not are_sorted_symbols(symbols):
        raise ValueError(
            f"The symbols for {model.attrs['key']} should be distinct numbers in a "
            f"uint64 array of one dimension, but are {symbols.dtype} of shape "
            f"{symbols.shape}, or some are there twice."
        )
    if model.has_param("E") and model.get_dim(dim) != n_rows:
        raise ValueError(
            f"The table for {model.attrs['key']} is initialised with "
            f"{model.get_dim(dim)} rows and can't be given {len(symbols)} symbols, "
            f"which need {n_rows}, now. Build the pipeline anew from its config to "
            "train it on other data."
        )
    symbols.flags.writeable = False  # they are checked only once
    model.attrs["symbols"] = symbols


def are_sorted_symbols(symbols: Any) -> bool:
    return (
        isinstance(symbols, np.ndarray)
        and symbols.ndim == 1
        and symbols.dtype == "uint64"
        and bool((symbols[1:] > symbols[:-1]).all())
    )


def check_symbols(model: Model, *, n_rows: int | None) -> None:
    """Refuse symbols of a damaged layer: there must be `n_rows - 1`, in order."""
    symbols = get_symbols(model)
    if not are_sorted_symbols(symbols) or len(symbols) + 1 != n_rows:
        raise ValueError(
            f"The symbols for {model.attrs['key']} should be distinct numbers in "
            f"ascending order, one for each of {n_rows} rows but one, but are not: the "
            "saved pipeline is damaged."
        )


def find_symbols(keys: Any, symbols: Any) -> tuple[Any, Any]:
    """Find the position of each key among ascending symbols, at least one, and whether
    the symbol there equals the key. *Shapes:* `(n,)`.
    """
    found = np.minimum(np.searchsorted(symbols, keys), len(symbols) - 1)
    return found, symbols[found] == keys


def look_up(ops: Ops, ids: Any, symbols: NDArray, *, unk: int) -> Any:
    """Find the row of each key. All keys that are not among the symbols have row `unk`.

    *Shape:* `(n,)`, an array of these ops, to `(n, 1)`, uint32.
    """
    if len(symbols) == 0:
        return ops.xp.full((len(ids), 1), unk, dtype="uint32")
    keys = ops.as_contig(ids, dtype="uint64")
    found, is_known = find_symbols(keys, symbols)
    rows = np.where(is_known, found + (found >= unk), unk)
    return rows.astype("uint32").reshape(-1, 1)


@dataclass
class Source:
    """Function that supplies, for instance, symbols when a model is initialised.

    It is not called earlier: norms of tokens depend on lookups and on the tokenizer,
    which spaCy initialises after `before_init` and before any component.

    is_for_once (bool): Whether to delete `get` after initialisation, and to leave it
        out of pickles, so that a trained model does not keep a corpus and a pipeline in
        memory. A model that is pickled before has no source afterwards.
    """

    get: Callable[..., Any] | None = None
    is_for_once: bool = True

    def __deepcopy__(self, memo: Any) -> "Source":
        return replace(self)

    def __reduce__(self) -> tuple:
        get = None if self.is_for_once else self.get
        return Source, (get, self.is_for_once)


def wait_for(
    name: str, model: Model, hand_out: Callable, source: Source | None = None
) -> None:
    """Make a model call `hand_out` before its layers are initialised.

    The arguments of `hand_out` are the model, the function `get` of the `Source` in the
    attribute `name`, which is None if it was not set, and the sample of input.
    """
    model.attrs[name] = source or Source()
    model.init = partial(_init, name, hand_out, model.init)


def _init(
    name: str,
    hand_out: Callable,
    init_rest: Callable,
    model: Model,
    X: Any = None,
    Y: Any = None,
) -> None:
    source = model.attrs[name]
    if source.is_for_once:
        model.attrs[name] = Source()  # first: what it gives may be refused
    hand_out(model, source.get, X)
    init_rest(model, X, Y)
