"""Aliases of our architectures under the names in the report's printed configs.

spaCy looks up entry points before functions that code has registered. If entry points
named our functions directly, they would silently replace functions that somebody else
registers under the same names, as the report's own project does. spaCy loads an entry
point again at each lookup, as an attribute of its module. The entry points therefore
name this module, whose `__getattr__` returns the registered function if there is one,
and otherwise ours.
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
