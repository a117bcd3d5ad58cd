"""Factories of components that extend spaCy's with a table of what they computed."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

from spacy.language import Language
from spacy.pipeline import factories
from spacy.pipeline.pipe import Pipe

factories.register_factories()  # which otherwise the first pipeline does


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

    make_cached.__doc__ = (
        f"Build the component `cached_{factory}`: see `{cls.__name__}`."
    )
    # spaCy reads the arguments of what is wrapped from here alone
    shown = signature(make).replace(return_annotation=cls.__name__)
    make_cached.__signature__ = shown  # type: ignore[attr-defined]
    meta: Any = Language.get_factory_meta(factory)
    return Language.factory(
        f"cached_{factory}",
        default_config=meta.default_config,
        assigns=meta.assigns,
        requires=meta.requires,
        retokenizes=meta.retokenizes,
        default_score_weights=meta.default_score_weights,
    )(make_cached)
