"""spaCy's Matcher with a cache of matches.

Matches of a token depend only on the attributes that patterns test, so spaCy's Matcher
runs once per combination of values, not on each text.
"""

import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import count
from operator import contains
from typing import Any, NamedTuple, Self

from spacy.attrs import DEP, IDS, LEMMA, MORPH, POS, TAG
from spacy.matcher import Matcher
from spacy.strings import StringStore, get_string_id
from spacy.tokens import Doc
from spacy.vocab import Vocab

from .caches import get_version, make_keys, renews_version

#: Attributes whose values are string hashes.
STRINGS = {
    *("DEP", "ENT_TYPE", "LEMMA", "LOWER", "NORM", "ORTH", "POS", "PREFIX", "SHAPE"),
    *("SUFFIX", "TAG"),
}
#: Attributes supported in patterns, and their names in Docs.
ATTRS = {
    **{name: name for name in (*STRINGS, "LENGTH", "MORPH")},
    **{name: name for name in IDS if name.startswith(("IS_", "LIKE_"))},
    "TEXT": "ORTH",
}
#: Attributes whose annotation the Matcher requires if patterns test them.
REQUIRED = {TAG, POS, MORPH, LEMMA, DEP}

#: Maximum number of cached rows, and of cached combinations (about 10 MB).
MAX_CACHED = 2**16
#: Placeholder for all values that patterns do not distinguish.
OTHER = -1

Spec = dict[str, Any]
#: Key, start and end, as returned by the Matcher.
Match = tuple[int, int, int]


class TokenMatches(NamedTuple):
    """A token's matches: numbers of the patterns that may start at it, each with the
    parts that must follow; and all required parts that it matches.
    """

    starting: list[tuple[int, list[int]]]
    parts: frozenset[int]


class CachedMatcher(Matcher):
    """A Matcher with a cache of the patterns that tokens match.

    The cache supports token attributes with values, IN, NOT_IN, REGEX and the like. All
    texts bypass it if a pattern has a callback, a filter, or no required token of this
    kind. So do texts with another vocab, or with all required tokens of a pattern that
    has operators or other attributes.
    """

    # spaCy's Matcher has no type annotations
    vocab: Vocab
    _callbacks: dict[int, Any]
    _filter: dict[int, str | None]
    _seen_attrs: set[int]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        #: Patterns by number, in insertion order; None after a failed addition. A dict,
        #: for thread-safe additions and removals.
        self._numbered_patterns: dict[int, Pattern] | None = {}
        self._numbers = count()
        #: Version of the patterns, and the table made from it.
        self._versioned_table: tuple[object, MatchTable | None] = (None, None)

    @classmethod
    def from_matcher(cls, matcher: Any) -> Self:
        """Create a CachedMatcher with the patterns of a Matcher."""
        new = cls(
            matcher.vocab,
            validate=matcher.validate,
            fuzzy_compare=matcher._fuzzy_compare,
        )
        for key, patterns in matcher._patterns.items():
            callback, greedy = matcher._callbacks[key], matcher._filter[key]
            new.add(key, patterns, on_match=callback, greedy=greedy)
        return new

    def __reduce__(self) -> tuple[Any, ...]:
        make, data, *others = super().__reduce__()
        return (_unpickle, (make, data, self._filter), *others)

    @renews_version
    def add(self, key: Any, patterns: Any, **options: Any) -> None:
        """Add patterns: see `Matcher.add`."""
        try:
            super().add(key, patterns, **options)
            normalized = self._normalize_key(key)
            new = [Pattern(normalized, pattern) for pattern in patterns]
        except BaseException:  # some patterns may have been added
            self._numbered_patterns = None
            raise
        if (added := self._numbered_patterns) is not None:
            added.update(zip(self._numbers, new, strict=False))

    @renews_version
    def remove(self, key: Any) -> None:
        """Remove the patterns of a key: see `Matcher.remove`."""
        super().remove(key)
        normalized = self._normalize_key(key)
        added = self._numbered_patterns or {}
        for number, pattern in [*added.items()]:
            if pattern.key == normalized:
                added.pop(number, None)

    def __call__(
        self, doclike: Any, *, allow_missing: bool = False, **options: Any
    ) -> Any:
        """Find matches: see `Matcher.__call__`."""
        if (
            isinstance(doclike, Doc)
            and len(doclike)
            and doclike.vocab is self.vocab
            and not any(options.values())
            and (table := self.find_table())
            and (
                allow_missing
                or all(map(doclike.has_annotation, self._seen_attrs & REQUIRED))
            )
            and (matches := table.find_matches(doclike)) is not None
        ):
            return matches
        return super().__call__(doclike, allow_missing=allow_missing, **options)

    def find_table(self) -> "MatchTable | None":
        """Return the table of the current patterns, or None if unsupported."""
        version = get_version(self)
        table_version, table = self._versioned_table
        if table_version is not version:
            is_plain = not any((*self._callbacks.values(), *self._filter.values()))
            patterns = [*(self._numbered_patterns or {}).values()] if is_plain else []
            is_supported = patterns and all(pattern.required for pattern in patterns)
            table = MatchTable(patterns, self) if is_supported else None
            self._versioned_table = version, table
        return table


def _unpickle(
    make: Callable[..., Any], data: tuple[Any, ...], filters: dict[int, str | None]
) -> CachedMatcher:
    matcher = make(*data)
    matcher._filter.update(filters)  # not pickled by spaCy
    return CachedMatcher.from_matcher(matcher)


class Pattern:
    """A pattern, and the tokens required in each text that it matches."""

    def __init__(self, key: int, specs: Sequence[Spec]) -> None:
        self.key = key
        #: Copies of the supported specs of required tokens.
        self.required: list[Spec] = []
        operators = [spec.get("OP", "1") for spec in specs]
        for spec, operator in zip(specs, operators, strict=True):
            named = {name: value for name, value in spec.items() if name != "OP"}
            is_supported = all(isinstance(n, str) and n.upper() in ATTRS for n in named)
            if operator in ("1", "+") and named and is_supported:
                self.required.append(deepcopy(named))
        #: True if the pattern is exactly the sequence of `required`.
        self.is_fixed = len(self.required) == len(specs) == operators.count("1")


class MatchTable:
    """Cached matches of tokens by attribute values."""

    def __init__(self, patterns: Sequence[Pattern], matcher: Any) -> None:
        specs = [spec for pattern in patterns for spec in pattern.required]
        strings = matcher.vocab.strings
        self._names = sorted({ATTRS[name.upper()] for spec in specs for name in spec})
        self._values = [DistinctValues(name, specs, strings) for name in self._names]
        self._keys = [pattern.key for pattern in patterns]
        #: One single-token pattern per distinct required token.
        self._parts = Matcher(
            matcher.vocab, validate=False, fuzzy_compare=matcher._fuzzy_compare
        )
        part_of = {repr(sorted(spec.items())): spec for spec in specs}
        for part, spec in enumerate(part_of.values()):
            self._parts.add(part, [[spec]])
        numbers = {name: part for part, name in enumerate(part_of)}
        #: Pattern numbers and further parts, by first part.
        self._starting: dict[int, list[tuple[int, list[int]]]] = {}
        #: Sets of parts required by patterns that are not fixed.
        self._operator_parts: set[frozenset[int]] = set()
        for number, pattern in enumerate(patterns):
            names = (repr(sorted(spec.items())) for spec in pattern.required)
            first, *others = parts = [numbers[name] for name in names]
            if pattern.is_fixed:
                self._starting.setdefault(first, []).append((number, others))
            else:
                self._operator_parts.add(frozenset(parts))
        later = (parts for v in self._starting.values() for _, parts in v)
        self._required_parts = frozenset().union(*later, *self._operator_parts)
        #: Matches by row of attributes, and by combination of distinguished values.
        self._rows: dict[bytes, TokenMatches] = {}
        self._combinations: dict[tuple[int, ...], TokenMatches] = {}

    def find_matches(self, doc: Doc) -> list[Match] | None:
        """Return the matches in a Doc, in the Matcher's order, or None if a pattern
        that is not fixed may match.
        """
        array: Any = doc.to_array([*self._names]).reshape(len(doc), len(self._names))
        row_keys = make_keys(array)
        rows: list[Any] = list(map(self._rows.get, row_keys))
        if None in rows:
            for i, key in enumerate(row_keys):
                if rows[i] is None:
                    values = array[i].tolist()
                    rows[i] = self._rows.get(key) or self._match(doc, i, key, values)
        parts = [row.parts for row in rows]
        present = frozenset().union(*(parts if self._operator_parts else ()))
        if any(required <= present for required in self._operator_parts):
            return None
        found = []
        for start, row in enumerate(rows):
            for number, others in row.starting:
                end = start + 1 + len(others)
                if not others or (
                    end <= len(rows)
                    and all(map(contains, parts[start + 1 : end], others))
                ):
                    found.append((end, start, number))
        found.sort()
        keys = self._keys
        return list(dict.fromkeys([(keys[n], start, end) for end, start, n in found]))

    def _match(self, doc: Doc, i: int, key: bytes, row: Sequence[int]) -> TokenMatches:
        combination = tuple(map(DistinctValues.reduce, self._values, row))
        found = self._combinations.get(combination)
        if found is None:
            matches = self._parts(doc[i : i + 1], allow_missing=True)
            parts = {part for part, _, _ in matches}
            starting = (x for part in parts for x in self._starting.get(part, ()))
            found = TokenMatches(sorted(starting), self._required_parts & parts)
            if len(self._combinations) >= MAX_CACHED:
                self._combinations.clear()
            self._combinations[combination] = found
        if len(self._rows) >= MAX_CACHED:
            self._rows.clear()
        self._rows[key] = found
        return found


class DistinctValues:
    """The values of an attribute that patterns distinguish."""

    def __init__(self, name: str, specs: Sequence[Spec], strings: StringStore) -> None:
        self._strings = strings
        self._named: set[int] = set()
        self._expressions: list[re.Pattern[str]] = []
        #: True if patterns may distinguish all values.
        self._all = name not in STRINGS
        tested = (v for s in specs for k, v in s.items() if ATTRS[k.upper()] == name)
        for value in tested:
            tests = value if isinstance(value, dict) else {"IN": [value]}
            for test, values in tests.items():
                if test in ("IN", "NOT_IN") and not self._all:
                    self._named.update(map(get_string_id, values))
                elif test == "REGEX" and isinstance(values, str):
                    self._expressions.append(re.compile(values))
                else:
                    self._all = True

    def reduce(self, value: int) -> int:
        """Return the value, or `OTHER` if patterns do not distinguish it."""
        is_distinct = self._all or value in self._named
        if not is_distinct and self._expressions:
            string = self._strings[value]
            is_distinct = any(e.search(string) for e in self._expressions)
        return value if is_distinct else OTHER
