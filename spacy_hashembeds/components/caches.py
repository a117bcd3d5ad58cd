"""Keys of tokens, for tables of what was computed of their attributes; and versions of
objects that change, to recognise stale values computed from them.

A cache reads the version first, computes, and stores both as one tuple. What is
computed while another thread makes a change is thus never taken for up to date.
"""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.pipeline import factories
from spacy.pipeline.pipe import Pipe

factories.register_factories()  # which otherwise the first pipeline does


def make_keys(attributes: Any) -> list[bytes]:
    """Make a key of each row of a uint64 array, as `Doc.to_array` gives: its bytes,
    which are smaller than a tuple, and faster.
    """
    rows = np.ascontiguousarray(attributes)
    # numpy takes null bytes off the end, which still tells rows of one length apart
    return rows.view(f"S{rows.itemsize * rows.shape[1]}").ravel().tolist()


def get_version(of: Any) -> object:
    """Return the version of an object, which is another one after each change."""
    return vars(of).setdefault("_version", object())


def renews_version(change: Callable[..., Any]) -> Callable[..., Any]:
    """Make a method renew the version of its object, even if it fails."""

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
    """Register a factory of the class, with all else as one of spaCy's has it.

    The class has a property in the place of the attribute, which it is given once more.
    """

    @wraps(make)
    def make_cached(*args: Any, **kwargs: Any) -> Any:
        component = make(*args, **kwargs)
        value = vars(component).pop(attribute)
        component.__class__ = cls
        setattr(component, attribute, value)
        return component

    make_cached.__doc__ = cls.__doc__
    # spaCy reads the arguments of what is wrapped from here alone
    shown = signature(make).replace(return_annotation=cls.__name__)
    make_cached.__signature__ = shown  # type: ignore[attr-defined]
    meta: Any = Language.get_factory_meta(factory)
    names = "default_config assigns requires retokenizes default_score_weights".split()
    settings = {name: getattr(meta, name) for name in names}
    return Language.factory(f"cached_{factory}", **settings)(make_cached)
