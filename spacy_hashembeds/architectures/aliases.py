"""The names that configs printed in the report use: ours, unless code takes them.

spaCy asks entry points before it asks for what code has registered. Entry points that
named our functions themselves would replace, without a word, functions that somebody
registers under the same names, as the report's own project does. But spaCy loads an
entry point anew at each lookup, as an attribute of its module: so that it is found here
who has the name now.
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
