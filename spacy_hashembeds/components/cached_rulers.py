"""spaCy's rulers with a `CachedMatcher`: `cached_attribute_ruler`,
`cached_entity_ruler` and `cached_span_ruler`.
"""

from collections.abc import Iterable
from typing import Any

from spacy.matcher import Matcher
from spacy.pipeline import AttributeRuler, EntityRuler, SpanRuler, factories
from spacy.tokens import Doc
from spacy.tokens._retokenize import set_token_attrs

from .cached_matcher import CachedMatcher
from .caches import register_cached


class WithCachedMatcher:
    """Mixin that converts any Matcher set on a ruler to a `CachedMatcher`."""

    #: Custom classes are kept.
    _matcher: Any

    @property
    def matcher(self) -> Any:
        """The Matcher of token patterns."""
        return self._matcher

    @matcher.setter
    def matcher(self, matcher: Any) -> None:
        is_spacys = type(matcher) is Matcher
        self._matcher = CachedMatcher.from_matcher(matcher) if is_spacys else matcher


class CachedAttributeRuler(WithCachedMatcher, AttributeRuler):
    """spaCy's attribute ruler, with a cache of matches: see `CachedMatcher`.

    Same arguments as spaCy's `attribute_ruler`.
    """

    def set_annotations(
        self, doc: Doc, matches: Iterable[tuple[int, int, int, int]]
    ) -> None:
        """Set token attributes, in place."""
        for match in matches:
            number, _, start, end = match
            index = self.indices[number]
            place = index + (end if index < 0 else start)
            if start <= place < end:
                set_token_attrs(doc[place], self.attrs[number])
            else:  # spaCy raises an error
                super().set_annotations(doc, [match])


class CachedEntityRuler(WithCachedMatcher, EntityRuler):
    """spaCy's entity ruler, with a cache of token matches: see `CachedMatcher`.

    Same arguments as spaCy's `entity_ruler`.
    """


class CachedSpanRuler(WithCachedMatcher, SpanRuler):
    """spaCy's span ruler, with a cache of token matches: see `CachedMatcher`.

    Same arguments as spaCy's `span_ruler`.
    """


make_cached_attribute_ruler = register_cached(
    "attribute_ruler", factories.make_attribute_ruler, CachedAttributeRuler, "matcher"
)
make_cached_entity_ruler = register_cached(
    "entity_ruler", factories.make_entity_ruler, CachedEntityRuler, "matcher"
)
make_cached_span_ruler = register_cached(
    "span_ruler", factories.make_span_ruler, CachedSpanRuler, "matcher"
)
