"""Layers whose tables depend on the symbols of a corpus.

Such a layer is built before anything is counted, and takes its symbols later, before it
is initialised, by its kind of column in an attribute, which a wrapped layer has too:

    attrs={"key": "NORM", "symbols": None, "symbol_taker": LookupColumn}

Its `take_symbols` sets the attribute "symbols", which is saved with the layer, or
raises a ValueError.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model, Ops

from ..thinc_internals import partial


class Symbols(NamedTuple):
    """The distinct values of an attribute that were seen often enough in a corpus, as
    `Doc.to_array` has them, in any order, and how often, or None if that is not known.

    *Shapes:* of one dimension, uint64.
    """

    frequent: NDArray
    counts: NDArray | None = None


def find_symbol_takers(model: Model) -> list[Model]:
    """Find the layers anywhere inside a model that take symbols, wrapped or not.

    Their attribute "key" says what its symbols are, e.g. "NORM".
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
    """Set distinct symbols, of which the dimension `dim` has to be one more."""
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
    """Refuse symbols that can't be the layer's: all of `n_rows` rows but one."""
    symbols = get_symbols(model)
    if not are_sorted_symbols(symbols) or len(symbols) + 1 != n_rows:
        raise ValueError(
            f"The symbols for {model.attrs['key']} should be distinct numbers in "
            f"ascending order, one for each of {n_rows} rows but one, but are not: the "
            "saved pipeline is damaged."
        )


def find_symbols(keys: Any, symbols: Any) -> tuple[Any, Any]:
    """Find the place of each key among ascending symbols, of which there are some, and
    whether it is the one there. *Shapes:* `(n,)`.
    """
    found = np.minimum(np.searchsorted(symbols, keys), len(symbols) - 1)
    return found, symbols[found] == keys


def look_up(ops: Ops, ids: Any, symbols: NDArray, *, unk: int) -> Any:
    """Find the row of each key, if `unk` is that of all but some ascending symbols.

    *Shape:* `(n,)`, an array of these operations, to `(n, 1)`, uint32.
    """
    if len(symbols) == 0:
        return ops.xp.full((len(ids), 1), unk, dtype="uint32")
    keys = ops.as_contig(ids, dtype="uint64")
    found, is_known = find_symbols(keys, symbols)
    rows = np.where(is_known, found + (found >= unk), unk)
    return rows.astype("uint32").reshape(-1, 1)


@dataclass
class Source:
    """Source of, for instance, a model's symbols when it is initialised.

    Not before: what a token's norm is depends on lookups and on the tokenizer, which
    spaCy initialises after `before_init` and before any component.

    is_for_once (bool): Whether to forget it then, and to leave it out of pickles: a
        trained model shall not hold on to a corpus and a pipeline. One that waits can
        be pickled, but waits in vain.
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
    """Make a model hand out what it gets of its attribute `name` when initialised.

    `hand_out` is called before the layers are initialised, with the model, its
    `Source.get`, which is None if nobody has set it, and the sample of input.
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
