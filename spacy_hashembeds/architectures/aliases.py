"""Aliases of our architectures under the names in the report's printed configs.

spaCy looks up entry points before functions registered by code. Entry points that named
our functions directly would therefore silently shadow functions that users register
under the same names, as the report's own project does. Instead, they name attributes of
this module. spaCy loads an entry point at each lookup, and `__getattr__` returns the
registered function if there is one, else ours.
"""

from collections.abc import Callable

import catalogue
from thinc.api import Model

from .multi_embed import MultiEmbed as _MultiEmbed
from .multi_fewer_hash_embed import MultiFewerHashEmbed as _MultiFewerHashEmbed

_OURS = {"MultiEmbed": _MultiEmbed, "MultiFewerHashEmbed": _MultiFewerHashEmbed}


def __getattr__(name: str) -> Callable[..., Model]:
    if name not in _OURS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    key = ("spacy", "architectures", f"spacy.{name}.v1")
    return catalogue.REGISTRY.get(key, _OURS[name])
