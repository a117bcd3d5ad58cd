"""Our components in place of spaCy's, whose classes they extend and whose files they
load.
"""

from typing import Any

from spacy.language import Language
from spacy.pipeline import AttributeRuler, EditTreeLemmatizer, EntityRuler, SpanRuler
from spacy.tokenizer import Tokenizer
from thinc.api import Config

from ..components.cached_lemmatizer import can_cache
from ..components.cached_matcher import CachedMatcher

_TOKENIZER, OUR_TOKENIZER = "spacy.Tokenizer.v1", "spacy-hashembeds.Tokenizer.v1"
#: The factories of spaCy's that ours replace, which are named `cached_…`, and their
#: class: None where the language has one of its own.
REPLACED: dict[str, type | None] = {
    "lemmatizer": None,
    "trainable_lemmatizer": EditTreeLemmatizer,
    "attribute_ruler": AttributeRuler,
    "entity_ruler": EntityRuler,
    "span_ruler": SpanRuler,
}
_REASON = (
    "it is none of spaCy's own classes, or has token patterns that attributes do not "
    "decide"
)


def find_replacements(
    nlp: Language, config: Config
) -> tuple[dict[str, str], dict[str, str]]:
    """Find the components that ours can replace, with the factory, and by place in the
    config why others stay. Blocks that name another pipeline (`source`) stay.
    """
    found, left = {}, {}
    for name, pipe in nlp.components:
        factory = config["components"][name].get("factory")
        if factory in REPLACED:
            matcher = getattr(pipe, "matcher", None)
            is_spacys = type(pipe) is REPLACED[factory] or can_cache(pipe)
            if is_spacys and (matcher is None or _find_table(matcher)):
                found[name] = f"cached_{factory}"
            elif matcher is None or len(matcher):  # a ruler may have phrases alone
                left[f"components.{name}"] = _REASON
    return found, left


def _find_table(matcher: Any) -> Any:
    return CachedMatcher.from_matcher(matcher).find_table()


def is_tokenizer_replaceable(nlp: Language, config: Config) -> bool:
    """Return True if the tokenizer is spaCy's, and not another in its place."""
    name = (config["nlp"].get("tokenizer") or {}).get("@tokenizers")
    return type(nlp.tokenizer) is Tokenizer and name == _TOKENIZER
