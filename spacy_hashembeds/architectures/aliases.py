"""The names that configs printed in the report use: ours, unless code takes them.

spaCy asks entry points before it asks for what code has registered. Entry points that
named our functions themselves would replace, without a word, functions that somebody
registers under the same names, as the report's own project does. But spaCy loads an
entry point anew at each lookup, as an attribute of its module: so that it is found here
who has the name now.
"""

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

import catalogue
from thinc.api import Model

from . import multi_embed, multi_fewer_hash_embed


@wraps(multi_embed.MultiEmbed)
def _make_multi_embed(**arguments: Any) -> Model:
    # Thinc refuses the weights of another tree of nodes before any of our code is
    # asked, and says no more than "mismatched structure": what is to be said about that
    # is said here. Not of MultiFewerHashEmbed: what the project saved of it loads.
    warnings.warn(
        "'spacy.MultiEmbed.v1' is the layer of spacy-hashembeds here, since no code "
        "has registered another one under this name. If loading now fails with "
        "'mismatched structure', the pipeline was saved with another one: import the "
        "code that it was trained with before loading it (--code on the command line), "
        "or train it anew. If ours is meant, say so in the config: "
        '@architectures = "spacy-hashembeds.MultiEmbed.v1".',
        stacklevel=2,
    )
    return multi_embed.MultiEmbed(**arguments)


_OURS: dict[str, Callable[..., Model]] = {
    "MultiEmbed": _make_multi_embed,
    "MultiFewerHashEmbed": multi_fewer_hash_embed.MultiFewerHashEmbed,
}


def __getattr__(name: str) -> Callable[..., Model]:
    if name not in _OURS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    key = ("spacy", "architectures", f"spacy.{name}.v1")
    return catalogue.REGISTRY.get(key, _OURS[name])
