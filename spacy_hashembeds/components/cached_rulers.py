"""spaCy's rulers with a `CachedMatcher`: `cached_attribute_ruler`,
`cached_entity_ruler` and `cached_span_ruler`.
"""

from collections.abc import Iterable
from typing import Any

from spacy.matcher import Matcher
from spacy.pipeline import AttributeRuler, EntityRuler, SpanRuler, factories
from spacy.tokens import Doc
from spacy.tokens._retokenize import set_token_attrs

from .cached_factories import register_cached
from .cached_matcher import CachedMatcher


class WithCachedMatcher:
    """A ruler whose Matcher, whenever it is made anew, is a `CachedMatcher`."""

    #: A stranger's, if somebody has put one in.
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
    """spaCy's attribute ruler, which looks up what its patterns match: see
    `CachedMatcher`.

    validate (bool): Whether patterns are validated when they are added.
    scorer (Callable, optional): What scores the component in evaluation.
    """

    def __call__(self, doc: Doc) -> Doc:
        """Set the attributes of one Doc's tokens, in place."""
        try:
            keys = self._matcher.find_single(doc) if self._is_spacys() else None
            found = None if keys is None else self._find_numbers(keys)
        except Exception:  # which spaCy's error handler is told
            found = None
        if found is None:
            return super().__call__(doc)
        try:
            for number, i in found:
                set_token_attrs(doc[i], self.attrs[number])
        except Exception as error:
            return self.get_error_handler()(self.name, self, [doc], error)
        return doc

    def _is_spacys(self) -> bool:
        """Tell whether nobody has put other methods into this one, or its class."""
        return isinstance(self._matcher, CachedMatcher) and all(
            name not in vars(self)
            and getattr(type(self), name).__module__ == AttributeRuler.__module__
            for name in ("match", "set_annotations")
        )

    def _find_numbers(
        self, keys: Iterable[tuple[int, ...]]
    ) -> list[tuple[int, int]] | None:
        """Find the rules of keys of patterns that tokens match, and the tokens: later
        rules have precedence. None if one sets attributes of no token of its match.
        """
        known: dict[tuple[int, ...], list[int]]
        known = self.__dict__.setdefault("_numbers", {})
        strings, found = self.vocab.strings, []
        for i, of in enumerate(keys):
            numbers = known.get(of)
            if numbers is None:
                numbers = known[of] = [int(strings[key]) for key in of]
            found += [(number, i) for number in numbers]
        found.sort()
        is_inside = all(self.indices[number] in (0, -1) for number, _ in found)
        return found if is_inside else None


class CachedEntityRuler(WithCachedMatcher, EntityRuler):
    """spaCy's entity ruler, which looks up what its token patterns match: see
    `CachedMatcher`.

    phrase_matcher_attr (str, optional): As spaCy's `entity_ruler` takes it, and all
        that follows: the attribute that phrases are compared by.
    matcher_fuzzy_compare (Callable): What compares strings for FUZZY.
    validate (bool): Whether patterns are validated when they are added.
    overwrite_ents (bool): Whether entities that are there are replaced.
    ent_id_sep (str): What stands between labels and ids.
    scorer (Callable, optional): What scores the component in evaluation.
    """


class CachedSpanRuler(WithCachedMatcher, SpanRuler):
    """spaCy's span ruler, which looks up what its token patterns match: see
    `CachedMatcher`.

    spans_key (str, optional): As spaCy's `span_ruler` takes it, and all that follows:
        where in `doc.spans` matches are put.
    spans_filter (Callable, optional): What chooses among spans.
    annotate_ents (bool): Whether matches become entities too.
    ents_filter (Callable): What chooses among entities.
    phrase_matcher_attr (str, optional): The attribute that phrases are compared by.
    matcher_fuzzy_compare (Callable): What compares strings for FUZZY.
    validate (bool): Whether patterns are validated when they are added.
    overwrite (bool): Whether spans that are there are replaced.
    scorer (Callable, optional): What scores the component in evaluation.
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
