"""spaCy's Matcher with a cache of matches.

Whether a token matches depends only on the attributes that patterns name, so that
spaCy's Matcher runs once for each combination of their values, not on each text.
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

#: Attributes that are hashes of strings.
STRINGS = {
    *("DEP", "ENT_TYPE", "LEMMA", "LOWER", "NORM", "ORTH", "POS", "PREFIX", "SHAPE"),
    *("SUFFIX", "TAG"),
}
#: Attributes that a pattern may name, and their names in a Doc.
READ = {
    **{name: name for name in (*STRINGS, "LENGTH", "MORPH")},
    **{name: name for name in IDS if name.startswith(("IS_", "LIKE_"))},
    "TEXT": "ORTH",
}
#: Attributes that the Matcher requires a Doc to have if patterns name them.
WANTED = {TAG, POS, MORPH, LEMMA, DEP}

#: Most cached rows of attributes, and cached combinations of values, some 10 MB.
MAX_KNOWN = 2**16
#: Placeholder for all values that no pattern distinguishes.
OTHER = -1

Spec = dict[str, Any]
#: A key, start and end, as the Matcher gives them.
Match = tuple[int, int, int]


class Found(NamedTuple):
    """The matches of a token: the numbers of patterns that may begin with the token,
    each with the parts that the following tokens must match; and the needed parts that
    the token itself matches.
    """

    starting: list[tuple[int, list[int]]]
    parts: frozenset[int]


class CachedMatcher(Matcher):
    """A Matcher that looks up in a cache which patterns match tokens.

    The cache supports patterns of token attributes with values, IN, NOT_IN, REGEX and
    the like. spaCy's Matcher is used as before for all texts if a pattern has extension
    attributes or only tokens with operators, or if a pattern has a callback or filter;
    and for a text if it has another vocab, or all tokens that a pattern with operators
    requires.
    """

    # types of spaCy's Matcher, which is not annotated
    vocab: Vocab
    _callbacks: dict[int, Any]
    _filter: dict[int, str | None]
    _seen_attrs: set[int]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        #: All patterns by number, in the order of addition; None if adding one failed.
        #: A dict, so that no patterns are lost when threads add and remove them.
        self._added: dict[int, Pattern] | None = {}
        self._numbers = count()
        #: The table, after the version of the patterns from which it was made.
        self._made: tuple[object, MatchTable | None] = (None, None)

    @classmethod
    def from_matcher(cls, matcher: Any) -> Self:
        """Make a CachedMatcher with the patterns of a Matcher."""
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
        except BaseException:  # some of the patterns may have been added
            self._added = None
            raise
        if (added := self._added) is not None:
            added.update(zip(self._numbers, new, strict=False))

    @renews_version
    def remove(self, key: Any) -> None:
        """Remove the patterns of a key: see `Matcher.remove`."""
        super().remove(key)
        normalized = self._normalize_key(key)
        added = self._added or {}
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
                or all(map(doclike.has_annotation, self._seen_attrs & WANTED))
            )
            and (matches := table.find_matches(doclike)) is not None
        ):
            return matches
        return super().__call__(doclike, allow_missing=allow_missing, **options)

    def find_table(self) -> "MatchTable | None":
        """Return the table of the current patterns, or None if it can't be used."""
        version = get_version(self)
        made_of, table = self._made
        if made_of is not version:
            is_plain = not any((*self._callbacks.values(), *self._filter.values()))
            patterns = [*(self._added or {}).values()] if is_plain else []
            is_known = patterns and all(pattern.required for pattern in patterns)
            table = MatchTable(patterns, self) if is_known else None
            self._made = version, table
        return table


def _unpickle(
    make: Callable[..., Any], data: tuple[Any, ...], filters: dict[int, str | None]
) -> CachedMatcher:
    matcher = make(*data)
    matcher._filter.update(filters)  # spaCy's pickles lack the filters
    return CachedMatcher.from_matcher(matcher)


class Pattern:
    """A pattern, and those of its tokens that a text must contain for a match."""

    def __init__(self, key: int, specs: Sequence[Spec]) -> None:
        self.key = key
        #: Copies of the specs of required tokens that a table supports.
        self.required: list[Spec] = []
        operators = [spec.get("OP", "1") for spec in specs]
        for spec, operator in zip(specs, operators, strict=True):
            named = {name: value for name, value in spec.items() if name != "OP"}
            is_known = all(isinstance(n, str) and n.upper() in READ for n in named)
            if operator in ("1", "+") and named and is_known:
                self.required.append(deepcopy(named))
        #: True if the pattern is just the sequence of these tokens.
        self.is_fixed = len(self.required) == len(specs) == operators.count("1")


class MatchTable:
    """A table of tokens' matches, by combinations of attributes."""

    def __init__(self, patterns: Sequence[Pattern], matcher: Any) -> None:
        specs = [spec for pattern in patterns for spec in pattern.required]
        strings = matcher.vocab.strings
        self._names = sorted({READ[name.upper()] for spec in specs for name in spec})
        self._values = [Values(name, specs, strings) for name in self._names]
        self._keys = [pattern.key for pattern in patterns]
        #: Each required token of a pattern, as a pattern of one token.
        self._parts = Matcher(
            matcher.vocab, validate=False, fuzzy_compare=matcher._fuzzy_compare
        )
        part_of = {repr(sorted(spec.items())): spec for spec in specs}
        for part, spec in enumerate(part_of.values()):
            self._parts.add(part, [[spec]])
        numbers = {name: part for part, name in enumerate(part_of)}
        #: Numbers and further parts of patterns, by the part of their first token.
        self._starting: dict[int, list[tuple[int, list[int]]]] = {}
        #: The sets of parts that patterns with operators require.
        self._gates: set[frozenset[int]] = set()
        for number, pattern in enumerate(patterns):
            names = (repr(sorted(spec.items())) for spec in pattern.required)
            first, *others = parts = [numbers[name] for name in names]
            if pattern.is_fixed:
                self._starting.setdefault(first, []).append((number, others))
            else:
                self._gates.add(frozenset(parts))
        later = (others for same in self._starting.values() for _, others in same)
        self._needed = frozenset().union(*later, *self._gates)
        #: Matches by rows of attributes, and by combinations of the values that
        #: patterns distinguish.
        self._known: dict[bytes, Found] = {}
        self._combinations: dict[tuple[int, ...], Found] = {}

    def find_matches(self, doc: Doc) -> list[Match] | None:
        """Find the matches in a Doc, in the order of the Matcher. Return None if a
        pattern with operators may match.
        """
        array: Any = doc.to_array([*self._names]).reshape(len(doc), len(self._names))
        keys = make_keys(array)
        rows: list[Any] = list(map(self._known.get, keys))
        if None in rows:
            for i, key in enumerate(keys):
                if rows[i] is None:
                    values = array[i].tolist()
                    rows[i] = self._known.get(key) or self._find(doc, i, key, values)
        parts = [row.parts for row in rows]
        present = frozenset().union(*(parts if self._gates else ()))
        if any(gate <= present for gate in self._gates):
            return None
        found = []
        for start, row in enumerate(rows):
            for number, others in row.starting:
                end = start + 1 + len(others)
                # most patterns have no further parts
                if not others or (
                    end <= len(rows)
                    and all(map(contains, parts[start + 1 : end], others))
                ):
                    found.append((end, start, number))
        found.sort()
        of = self._keys
        return list(dict.fromkeys([(of[n], start, end) for end, start, n in found]))

    def _find(self, doc: Doc, i: int, key: bytes, row: Sequence[int]) -> Found:
        combination = tuple(map(Values.reduce, self._values, row))
        found = self._combinations.get(combination)
        if found is None:
            matches = self._parts(doc[i : i + 1], allow_missing=True)
            parts = {part for part, _, _ in matches}
            starting = (same for part in parts for same in self._starting.get(part, ()))
            found = Found(sorted(starting), self._needed & parts)
            if len(self._combinations) >= MAX_KNOWN:
                self._combinations.clear()
            self._combinations[combination] = found
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()
        self._known[key] = found
        return found


class Values:
    """Values of an attribute, with a placeholder for those that no pattern names."""

    def __init__(self, name: str, specs: Sequence[Spec], strings: StringStore) -> None:
        self._strings = strings
        self._named: set[int] = set()
        self._expressions: list[re.Pattern[str]] = []
        #: True if patterns may distinguish any two values.
        self._all = name not in STRINGS
        of_name = (v for s in specs for k, v in s.items() if READ[k.upper()] == name)
        for value in of_name:
            tests = value if isinstance(value, dict) else {"IN": [value]}
            for test, values in tests.items():
                if test in ("IN", "NOT_IN") and not self._all:
                    self._named.update(map(get_string_id, values))
                elif test == "REGEX" and isinstance(values, str):
                    self._expressions.append(re.compile(values))
                else:
                    self._all = True

    def reduce(self, value: int) -> int:
        """Return a value, or `OTHER` if no pattern distinguishes it from others."""
        is_told = self._all or value in self._named
        if not is_told and self._expressions:
            string = self._strings[value]
            is_told = any(e.search(string) for e in self._expressions)
        return value if is_told else OTHER
