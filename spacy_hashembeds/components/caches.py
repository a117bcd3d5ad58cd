"""Keys of tokens, for caches of values computed from their attributes; and versions of
mutable objects, to recognise stale values computed from them.

A cache first reads the version, then computes the value, and stores both as one tuple.
A value computed while another thread makes a change is thus never used as up to date.
"""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.pipeline import factories
from spacy.pipeline.pipe import Pipe

factories.register_factories()  # otherwise only the first pipeline does so


def make_keys(attributes: Any) -> list[bytes]:
    """Make a key of each row of a uint64 array such as that of `Doc.to_array`. Keys are
    the rows' bytes, which are smaller and faster than tuples.
    """
    rows = np.ascontiguousarray(attributes)
    # numpy strips trailing null bytes, but rows of one length stay distinct
    return rows.view(f"S{rows.itemsize * rows.shape[1]}").ravel().tolist()


def get_version(of: Any) -> object:
    """Return the version of an object, which each change replaces."""
    return vars(of).setdefault("_version", object())


def renews_version(change: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a method to replace the version of its object, even if it fails."""

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
    """Register `cached_{factory}`, which makes `cls` with the settings of `factory`.

    It calls `make`, changes the class of the component to `cls`, which has a property
    in place of `attribute`, and sets the value of the attribute again through the
    property.
    """

    @wraps(make)
    def make_cached(*args: Any, **kwargs: Any) -> Any:
        component = make(*args, **kwargs)
        value = vars(component).pop(attribute)
        component.__class__ = cls
        setattr(component, attribute, value)
        return component

    make_cached.__doc__ = cls.__doc__
    # spaCy reads the arguments of a wrapped function only from here
    shown = signature(make).replace(return_annotation=cls.__name__)
    make_cached.__signature__ = shown  # type: ignore[attr-defined]
    meta: Any = Language.get_factory_meta(factory)
    names = "default_config assigns requires retokenizes default_score_weights".split()
    settings = {name: getattr(meta, name) for name in names}
    return Language.factory(f"cached_{factory}", **settings)(make_cached)
