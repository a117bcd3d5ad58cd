"""Cache keys of tokens, and versions of mutable objects to detect stale values.

To be thread-safe, read the version before computing a value, and store both in one
tuple: a value computed during a change then has a stale version.
"""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.pipeline import factories
from spacy.pipeline.pipe import Pipe

factories.register_factories()  # otherwise registered only by the first pipeline


def make_keys(attributes: Any) -> list[bytes]:
    """Return the bytes of each row of a uint64 array, as from `Doc.to_array`. Bytes are
    smaller and faster keys than tuples.
    """
    rows = np.ascontiguousarray(attributes)
    # numpy strips trailing null bytes; rows of equal length stay distinct
    return rows.view(f"S{rows.itemsize * rows.shape[1]}").ravel().tolist()


def get_version(obj: Any) -> object:
    """Return the version of an object, which each change replaces."""
    return vars(obj).setdefault("_version", object())


def renews_version(change: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a method to renew its object's version, even if it raises."""

    @wraps(change)
    def changing(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return change(self, *args, **kwargs)
        finally:
            vars(self)["_version"] = object()

    return changing


def register_cached(
    factory: str, make: Callable[..., Pipe], cls: Any, attribute: str
) -> Callable[..., Any]:
    """Register `cached_{factory}`, which builds a `cls` with the settings of `factory`.

    The component is built by `make`, its class set to `cls`, and `attribute` reassigned
    through the property of that name in `cls`.
    """

    @wraps(make)
    def make_cached(*args: Any, **kwargs: Any) -> Any:
        component = make(*args, **kwargs)
        value = vars(component).pop(attribute)
        component.__class__ = cls
        setattr(component, attribute, value)
        return component

    make_cached.__doc__ = cls.__doc__
    # spaCy inspects arguments of wrapped functions only here
    shown = signature(make).replace(return_annotation=cls.__name__)
    make_cached.__signature__ = shown  # type: ignore[attr-defined]
    meta: Any = Language.get_factory_meta(factory)
    names = "default_config assigns requires retokenizes default_score_weights".split()
    settings = {name: getattr(meta, name) for name in names}
    return Language.factory(f"cached_{factory}", **settings)(make_cached)
