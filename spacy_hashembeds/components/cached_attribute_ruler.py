"""`cached_attribute_ruler`, spaCy's attribute ruler with a table of its matches.

Whether a pattern matches a token depends on the attributes that patterns name. So
spaCy's Matcher is asked once for each combination of these, not on each text.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from spacy.attrs import IDS
from spacy.language import Language
from spacy.matcher import Matcher
from spacy.pipeline import AttributeRuler
from spacy.strings import StringStore, get_string_id
from spacy.tokens import Doc
from spacy.tokens._retokenize import set_token_attrs

#: Attributes that are hashes of strings.
STRINGS = {
    *("DEP", "ENT_TYPE", "LEMMA", "LOWER", "NORM", "ORTH", "POS", "PREFIX", "SHAPE"),
    *("SUFFIX", "TAG"),
}
#: What a pattern may name, and what a Doc calls it.
READ = {
    **{name: name for name in (*STRINGS, "LENGTH", "MORPH")},
    **{name: name for name in IDS if name.startswith(("IS_", "LIKE_"))},
    "TEXT": "ORTH",
}

#: Combinations, and values of an attribute, are forgotten beyond these.
MAX_KNOWN = 2**16
#: What stands for all values that no pattern tells apart.
OTHER = -1

Spec = dict[str, Any]
#: Where a pattern matched: its attributes, its key in the Matcher, start and end.
Match = tuple[int, int, int, int]


@Language.factory(
    "cached_attribute_ruler",
    default_config={
        "validate": False,
        "scorer": {"@scorers": "spacy.attribute_ruler_scorer.v1"},
    },
)
def make_cached_attribute_ruler(
    nlp: Language, name: str, validate: bool, scorer: Callable | None
) -> "CachedAttributeRuler":
    """Build the component `cached_attribute_ruler`: see `CachedAttributeRuler`."""
    return CachedAttributeRuler(nlp.vocab, name, validate=validate, scorer=scorer)


class CachedAttributeRuler(AttributeRuler):
    """An attribute ruler that looks up what its patterns match.

    Patterns may name attributes of tokens, with values, IN, NOT_IN, REGEX and the like.
    If one has operators, extension attributes or anything else, spaCy's Matcher is
    asked on each text, as ever.

    validate (bool): Whether patterns are validated when they are added.
    scorer (Callable, optional): What scores the component in evaluation.
    """

    _table: "MatchTable | None" = None
    #: Which patterns that is of.
    _state: tuple[Matcher, int, int] | None = None

    def match(self, doc: Doc) -> list[Match]:
        """Find matches in a Doc, sorted: see `AttributeRuler.match`."""
        state = (self.matcher, len(self.matcher), len(self.attrs))
        if self._state != state:
            self._table = MatchTable(self) if can_cache(self) else None
            self._state = state
        if self._table is None:
            return super().match(doc)
        return sorted(self._table.find_matches(doc))

    def set_annotations(self, doc: Doc, matches: Iterable[Match]) -> None:
        """Set the attributes of tokens that patterns matched."""
        for match in matches:
            attr_id, _, start, end = match
            index = self.indices[attr_id]
            place = (start if index >= 0 else end) + index
            if not start <= place < end:  # which is spaCy's error to tell
                super().set_annotations(doc, [match])
            set_token_attrs(doc[place], self.attrs[attr_id])


def can_cache(ruler: AttributeRuler) -> bool:
    """Whether what a ruler's patterns match depends on attributes that are known."""
    specs = [spec for _, pattern in _list_patterns(ruler) for spec in pattern]
    return bool(specs) and all(
        spec and all(isinstance(name, str) and name.upper() in READ for name in spec)
        for spec in specs
    )


def _list_patterns(ruler: AttributeRuler) -> Iterator[tuple[int, list[Spec]]]:
    for attr_id in range(len(ruler.attrs)):
        patterns: Any = ruler.matcher.get(str(attr_id))[1]
        for pattern in patterns:
            yield attr_id, pattern


class MatchTable:
    """A table of which patterns match tokens, by combinations of attributes."""

    def __init__(self, ruler: AttributeRuler) -> None:
        self._ruler, self._strings = ruler, ruler.vocab.strings
        patterns = list(_list_patterns(ruler))
        specs = [spec for _, pattern in patterns for spec in pattern]
        self._names = sorted({READ[name.upper()] for spec in specs for name in spec})
        self._values = [Values(name, specs, self._strings) for name in self._names]
        #: Of patterns of several tokens each token, as a pattern of its own.
        self._parts = Matcher(ruler.vocab)
        self._long: list[tuple[int, int, list[int]]] = []
        for attr_id, pattern in patterns:
            if len(pattern) > 1:
                key = self._strings[str(attr_id)]
                self._long.append((attr_id, key, [*map(self._add_part, pattern)]))
        self._known: dict[tuple[int, ...], tuple[list[Match], frozenset[int]]] = {}

    def _add_part(self, spec: Spec) -> int:
        part = len(self._parts)
        self._parts.add(part, [[spec]])
        return part

    def find_matches(self, doc: Doc) -> Iterator[Match]:
        """Find what matches in a Doc."""
        shape = (len(doc), len(self._names))
        array: Any = doc.to_array([*self._names]).reshape(shape)
        columns = (
            [values[value] for value in column]
            for values, column in zip(self._values, array.T.tolist(), strict=True)
        )
        rows = [
            self._known.get(key) or self._ask(doc[i : i + 1], key)
            for i, key in enumerate(zip(*columns, strict=True))
        ]
        for i, (matches, _) in enumerate(rows):
            for attr_id, key, _, _ in matches:
                yield attr_id, key, i, i + 1
        parts = [parts for _, parts in rows]
        if any(parts):
            yield from self._find_long(parts)

    def _ask(
        self, token: Any, key: tuple[int, ...]
    ) -> tuple[list[Match], frozenset[int]]:
        """Ask spaCy's Matchers about one token, a Span."""
        matches = AttributeRuler.match(self._ruler, token)
        parts = self._parts(token, allow_missing=True) if len(self._parts) else []
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()
        self._known[key] = matches, frozenset(part for part, _, _ in parts)
        return self._known[key]

    def _find_long(self, parts: Sequence[frozenset[int]]) -> Iterator[Match]:
        """Find patterns of several tokens, by the parts that tokens match."""
        for attr_id, key, pattern in self._long:
            for start, first in enumerate(parts[: len(parts) - len(pattern) + 1]):
                end = start + len(pattern)
                if pattern[0] in first and all(
                    part in found
                    for part, found in zip(pattern, parts[start:end], strict=True)
                ):
                    yield attr_id, key, start, end


class Values(dict[int, int]):
    """Values of an attribute, those that no pattern tells apart made one."""

    def __init__(self, name: str, specs: Sequence[Spec], strings: StringStore) -> None:
        self._strings = strings
        self._named: set[int] = set()
        self._expressions: list[re.Pattern[str]] = []
        tests = [
            test
            for spec in specs
            for other, value in spec.items()
            if READ[other.upper()] == name
            for test in (value if isinstance(value, dict) else {"IN": [value]}).items()
        ]
        #: Whether each value may be told from each other.
        self._all = name not in STRINGS or not all(self._add(*test) for test in tests)

    def _add(self, test: str, values: Any) -> bool:
        """Note what a pattern compares the attribute with, if it tells few values."""
        if test in ("IN", "NOT_IN"):
            self._named.update(map(get_string_id, values))
        elif test == "REGEX" and isinstance(values, str):
            self._expressions.append(re.compile(values))
        else:
            return False
        return True

    def __missing__(self, value: int) -> int:
        is_told = (
            self._all
            or value in self._named
            or any(e.search(self._strings[value]) for e in self._expressions)
        )
        if len(self) >= MAX_KNOWN:
            self.clear()
        self[value] = value if is_told else OTHER
        return self[value]
