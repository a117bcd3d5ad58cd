"""Naming our components in a pipeline's config, in place of spaCy's, whose classes they
extend and whose files they load.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.pipeline import AttributeRuler, EditTreeLemmatizer, EntityRuler, SpanRuler
from spacy.tokenizer import Tokenizer
from thinc.api import Config

from ..components import cached_lemmatizer
from ..components.cached_matcher import CachedMatcher

_TOKENIZER, OUR_TOKENIZER = "spacy.Tokenizer.v1", "spacy-hashembeds.Tokenizer.v1"


class Replacement(NamedTuple):
    """A factory of ours for one of spaCy's, and when it may stand there."""

    factory: str
    is_possible: Callable[[Any], bool]
    #: Why it may not, otherwise.
    reason: str


def _has_table(ruler: Any) -> bool:
    return (
        type(ruler) in (AttributeRuler, EntityRuler, SpanRuler)
        and CachedMatcher.from_matcher(ruler.matcher).has_table
    )


REPLACEMENTS: Mapping[str, Replacement] = {
    "lemmatizer": Replacement(
        "cached_lemmatizer",
        cached_lemmatizer.can_cache,
        "what this lemmatizer reads of a token is not known",
    ),
    "trainable_lemmatizer": Replacement(
        "cached_trainable_lemmatizer",
        lambda pipe: type(pipe) is EditTreeLemmatizer,
        "it is no lemmatizer of spaCy's",
    ),
    **{
        name: Replacement(
            f"cached_{name}",
            _has_table,
            "it has token patterns that attributes do not decide",
        )
        for name in ("attribute_ruler", "entity_ruler", "span_ruler")
    },
}


def find_replacements(nlp: Language, config: Config) -> dict[str, str]:
    """Find the components that ours can replace, and by which factory. Blocks of the
    config that name another pipeline (`source`) stay.
    """
    return {
        name: replacement.factory
        for name, replacement, possible in _find_candidates(nlp)
        if possible and "factory" in config["components"][name]
    }


def is_tokenizer_replaceable(nlp: Language, config: Config) -> bool:
    """Tell whether the tokenizer is spaCy's, and not another in its place."""
    name = (config["nlp"].get("tokenizer") or {}).get("@tokenizers")
    return type(nlp.tokenizer) is Tokenizer and name == _TOKENIZER


def find_irreplaceable(nlp: Language) -> dict[str, str]:
    """Say why components stay where one of ours would stand, by place in the config."""
    return {
        f"components.{name}": replacement.reason
        for name, replacement, possible in _find_candidates(nlp)
        if not possible
    }


def _find_candidates(nlp: Language) -> list[tuple[str, Replacement, bool]]:
    found = []
    for name, pipe in nlp.components:
        replacement = REPLACEMENTS.get(nlp.get_pipe_meta(name).factory)
        # a ruler may have phrases alone
        if replacement is not None and len(getattr(pipe, "matcher", "one")):
            found.append((name, replacement, replacement.is_possible(pipe)))
    return found
