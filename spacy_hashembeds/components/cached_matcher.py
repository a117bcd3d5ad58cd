"""spaCy's Matcher with a table of what its patterns match.

Whether a token matches depends on the attributes that patterns name, so that spaCy's
Matcher is asked once for each combination of these, not on each text.
"""

import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from operator import contains, getitem
from typing import Any, NamedTuple, Self

from spacy.attrs import DEP, IDS, LEMMA, MORPH, POS, TAG
from spacy.matcher import Matcher
from spacy.strings import StringStore, get_string_id
from spacy.tokens import Doc
from spacy.vocab import Vocab

from .row_keys import make_keys

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
#: Attributes that the Matcher wants a Doc to have, where patterns name them.
WANTED = (TAG, POS, MORPH, LEMMA, DEP)

#: Combinations, and values of an attribute, are forgotten beyond these.
MAX_KNOWN = 2**16
#: What stands for all values that no pattern tells apart.
OTHER = -1

Spec = dict[str, Any]
#: A key, start and end, as the Matcher gives them.
Match = tuple[int, int, int]


class Found(NamedTuple):
    """Matches of one token: numbers of patterns of one token, the keys of these, and
    numbers of parts of other patterns.
    """

    single: tuple[int, ...]
    keys: tuple[int, ...]
    parts: frozenset[int]


class CachedMatcher(Matcher):
    """A Matcher that looks up which patterns match tokens.

    Patterns may name attributes of tokens, with values, IN, NOT_IN, REGEX and the like.
    If one has extension attributes, nothing but operators, or what else a table can't
    tell, if a callback or a filter is to be used, or if a text has the tokens that a
    pattern with operators needs, or another vocab, it is read by spaCy's Matcher, as
    ever.
    """

    # of spaCy's Matcher, which has no types
    vocab: Vocab
    _callbacks: dict[int, Any]
    _filter: dict[int, str | None]
    _seen_attrs: set[int]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        #: All patterns in the order in which they were added, None if one failed.
        self._added: list[Pattern] | None = []
        self._table: MatchTable | None = None
        self._is_new = True

    @classmethod
    def from_matcher(cls, matcher: Any) -> Self:
        """Make one of a Matcher's patterns, which are few or none yet."""
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
        return (_unpickle, (make, data), *others)

    def add(self, key: Any, patterns: Any, **options: Any) -> None:
        """Add patterns: see `Matcher.add`."""
        added, self._added, self._is_new = self._added, None, True
        super().add(key, patterns, **options)
        if added is not None:
            normalized = self._normalize_key(key)
            added.extend(Pattern(normalized, pattern) for pattern in patterns)
            self._added = added

    def remove(self, key: Any) -> None:
        """Remove the patterns of a key: see `Matcher.remove`."""
        super().remove(key)
        self._is_new = True
        if self._added is not None:
            normalized = self._normalize_key(key)
            self._added = [one for one in self._added if one.key != normalized]

    def __call__(self, doclike: Any, **options: Any) -> Any:
        """Find matches: see `Matcher.__call__`."""
        table = self._find_table_for(doclike)
        if table is None:
            return super().__call__(doclike, **options)
        allow_missing = options.pop("allow_missing", False)
        is_missing = not allow_missing and any(
            attr in self._seen_attrs and not doclike.has_annotation(attr)
            for attr in WANTED
        )
        matches = None
        if not is_missing and not any(options.values()):
            matches = table.find_matches(doclike)
        if matches is None:
            return super().__call__(doclike, allow_missing=allow_missing, **options)
        return matches

    def find_single(self, doc: Doc) -> list[tuple[int, ...]] | None:
        """Find the keys of what matches each token of a Doc: None if a pattern of
        several tokens matches too, or what matches can't be looked up.
        """
        table = self._find_table_for(doc)
        return None if table is None else table.find_single(doc)

    @property
    def has_table(self) -> bool:
        """Tell whether texts can be looked up, with the patterns that there are."""
        return self._find_table() is not None

    def _find_table_for(self, doclike: Any) -> "MatchTable | None":
        is_own = isinstance(doclike, Doc) and doclike.vocab is self.vocab
        return self._find_table() if is_own and len(doclike) else None

    def _find_table(self) -> "MatchTable | None":
        if self._is_new:
            is_plain = not any((*self._callbacks.values(), *self._filter.values()))
            patterns = [*(self._added or ())] if is_plain else []
            is_known = patterns and all(pattern.required for pattern in patterns)
            self._table = MatchTable(patterns, self) if is_known else None
            self._is_new = False
        return self._table


def _unpickle(make: Callable[..., Matcher], data: tuple[Any, ...]) -> CachedMatcher:
    return CachedMatcher.from_matcher(make(*data))


class Pattern:
    """A pattern, and which of its tokens have to be in a text for it to match."""

    def __init__(self, key: int, specs: Sequence[Spec]) -> None:
        self.key = key
        operators = [spec.get("OP", "1") for spec in specs]
        #: Those that a table can tell, copied: who added them may change theirs.
        self.required = [
            deepcopy({name: value for name, value in spec.items() if name != "OP"})
            for spec, operator in zip(specs, operators, strict=True)
            if operator in ("1", "+") and _can_tell(spec)
        ]
        #: Whether these, one after the other, are all of it.
        self.is_fixed = len(self.required) == len(specs) == operators.count("1")


def _can_tell(spec: Spec) -> bool:
    names = [name for name in spec if name != "OP"]
    return bool(names) and all(
        isinstance(name, str) and name.upper() in READ for name in names
    )


class MatchTable:
    """A table of what tokens match, by combinations of attributes."""

    def __init__(self, patterns: Sequence[Pattern], matcher: Any) -> None:
        specs = [spec for pattern in patterns for spec in pattern.required]
        strings = matcher.vocab.strings
        self._names = sorted({READ[name.upper()] for spec in specs for name in spec})
        self._values = [Values(name, specs, strings) for name in self._names]
        self._keys = [pattern.key for pattern in patterns]
        #: Each token that a pattern needs, as a pattern of its own.
        self._parts = Matcher(
            matcher.vocab, validate=False, fuzzy_compare=matcher._fuzzy_compare
        )
        numbers: dict[str, int] = {}
        #: Patterns of one token by its part, those of several by their first, and the
        #: parts that those with operators need.
        self._single: dict[int, list[int]] = {}
        self._long: dict[int, list[tuple[int, list[int]]]] = {}
        self._gates: set[frozenset[int]] = set()
        for number, pattern in enumerate(patterns):
            parts = [self._add_part(spec, numbers) for spec in pattern.required]
            if not pattern.is_fixed:
                self._gates.add(frozenset(parts))
            elif len(parts) == 1:
                self._single.setdefault(parts[0], []).append(number)
            else:
                self._long.setdefault(parts[0], []).append((number, parts))
        long = (parts for same in self._long.values() for _, parts in same)
        #: The parts of which a text has to be asked whether it has others too.
        self._needed = frozenset().union(*long, *self._gates)
        #: What was found of rows of attributes, and of combinations of those values
        #: that are told apart. Few are different, and each is kept once.
        self._known: dict[bytes, Found] = {}
        self._combinations: dict[tuple[int, ...], Found] = {}
        self._found: dict[Found, Found] = {}

    def _add_part(self, spec: Spec, numbers: dict[str, int]) -> int:
        name = repr(sorted(spec.items()))
        if name not in numbers:
            numbers[name] = len(numbers)
            self._parts.add(numbers[name], [[spec]])
        return numbers[name]

    def find_matches(self, doc: Doc) -> list[Match] | None:
        """Find what matches in a Doc, in the order of the Matcher; None if a pattern
        with operators may.
        """
        rows = self._look_up(doc)
        long = self._find_long([row.parts for row in rows])
        if long is None:
            return None
        found = [
            (i + 1, i, number) for i, row in enumerate(rows) for number in row.single
        ]
        if long:
            found = sorted([*found, *long])
        keys = self._keys
        return list(dict.fromkeys([(keys[n], start, end) for end, start, n in found]))

    def find_single(self, doc: Doc) -> list[tuple[int, ...]] | None:
        """Find the keys of what matches each token: see `CachedMatcher.find_single`."""
        rows = self._look_up(doc)
        is_single = self._find_long([row.parts for row in rows]) == []
        return [row.keys for row in rows] if is_single else None

    def _look_up(self, doc: Doc) -> list[Found]:
        shape = (len(doc), len(self._names))
        array: Any = doc.to_array([*self._names]).reshape(shape)
        keys = make_keys(array)
        found: list[Any] = list(map(self._known.get, keys))
        if None in found:
            rows = array.tolist()
            for i, key in enumerate(keys):
                if found[i] is None:
                    found[i] = self._known.get(key) or self._find(doc, i, key, rows[i])
        return found

    def _find(self, doc: Doc, i: int, key: bytes, row: Sequence[int]) -> Found:
        combination = tuple(map(getitem, self._values, row))
        found = self._combinations.get(combination)
        if found is None:
            found = self._ask(doc, i)
            if len(self._combinations) >= MAX_KNOWN:
                self._combinations.clear()
                self._found.clear()
            found = self._found.setdefault(found, found)
            self._combinations[combination] = found
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()
        self._known[key] = found
        return found

    def _ask(self, doc: Doc, i: int) -> Found:
        """Ask spaCy's Matcher about one token."""
        found = {part for part, _, _ in self._parts(doc[i : i + 1], allow_missing=True)}
        single = sorted(n for part in found for n in self._single.get(part, ()))
        keys = dict.fromkeys(self._keys[number] for number in single)
        return Found(tuple(single), tuple(keys), self._needed & found)

    def _find_long(
        self, parts: Sequence[frozenset[int]]
    ) -> list[tuple[int, int, int]] | None:
        """Find patterns of several tokens, by the parts that tokens match: None if one
        with operators may.
        """
        if not any(parts):
            return []
        present = frozenset().union(*parts)
        if any(gate <= present for gate in self._gates):
            return None
        return [
            (start + len(pattern), start, number)
            for start, of in enumerate(parts)
            if of  # most are empty
            for part in of
            for number, pattern in self._long.get(part, ())
            if start + len(pattern) <= len(parts)
            and all(map(contains, parts[start:], pattern))
        ]


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
        is_told = self._all or value in self._named
        if not is_told and self._expressions:
            string = self._strings[value]
            is_told = any(e.search(string) for e in self._expressions)
        if len(self) >= MAX_KNOWN:
            self.clear()
        self[value] = value if is_told else OTHER
        return self[value]
