"""`spacy-hashembeds.Tokenizer.v1`, spaCy's tokenizer, which skips regular expressions
for words of letters alone if the expressions can't match them.

In spaCy's languages, no prefix, suffix or infix is a letter or stands between letters,
but all of them are tried for each new word, which takes half of the tokenizer's time.
"""

import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from types import BuiltinMethodType
from typing import Any

from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex

#: Attributes of a tokenizer that are methods of regular expressions.
MATCHERS = "prefix_search suffix_search infix_finditer token_match url_match".split()

#: Matches an escape or a set of characters, in patterns without comments.
_SET = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]", re.DOTALL)
#: Finds comments, and flags that allow them.
_COMMENT = re.compile(r"\(\?(?:#|\w*x)")
#: Categories of characters that are not letters.
_NO_LETTERS = (ops.CATEGORY_DIGIT, ops.CATEGORY_SPACE)


class QuickTokenizer(Tokenizer):
    """spaCy's tokenizer, which skips regular expressions for words that they can't
    match. Its output and its saved files are the same as spaCy's.
    """

    @classmethod
    def from_tokenizer(cls, tokenizer: Tokenizer) -> "QuickTokenizer":
        """Make a QuickTokenizer with the settings and vocab of spaCy's tokenizer."""
        names = ("vocab", "rules", *MATCHERS, "faster_heuristics", "max_cache_size")
        return cls(**{name: getattr(tokenizer, name) for name in names})


def _make_property(name: str) -> property:
    spacys = getattr(Tokenizer, name)

    def set_match(tokenizer: Tokenizer, match: Any) -> None:
        pattern: Any = getattr(match, "__self__", None)
        # packages may bind a function to an expression, so that spaCy saves the pattern
        is_own = isinstance(match, BuiltinMethodType)
        if is_own and isinstance(pattern, re.Pattern) and needs_others(pattern):
            match = getattr(LetterlessPattern(pattern), match.__name__)
        spacys.__set__(tokenizer, match)

    return property(spacys.__get__, set_match, doc=spacys.__doc__)


for _name in MATCHERS:
    setattr(QuickTokenizer, _name, _make_property(_name))


class LetterlessPattern:
    """A regular expression that can't match in words of letters alone. Other attributes
    are those of the expression, such as the `pattern` that spaCy saves.
    """

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._compiled = pattern

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # such as the methods for copying
            raise AttributeError(name)
        return getattr(self._compiled, name)

    def search(self, string: str, *args: int, **span: int) -> re.Match[str] | None:
        """Search a string: see `re.Pattern.search`."""
        return (
            None if string.isalpha() else self._compiled.search(string, *args, **span)
        )

    def match(self, string: str, *args: int, **span: int) -> re.Match[str] | None:
        """Match a string from its start: see `re.Pattern.match`."""
        return None if string.isalpha() else self._compiled.match(string, *args, **span)

    def finditer(self, string: str, *args: int, **span: int) -> Iterator[re.Match[str]]:
        """Find matches in a string: see `re.Pattern.finditer`."""
        if string.isalpha():
            return iter(())
        return self._compiled.finditer(string, *args, **span)


@lru_cache(maxsize=64)
def needs_others(pattern: re.Pattern[str]) -> bool:
    """Return True if a regular expression can't match in words of letters alone: each
    of its alternatives requires a character that is not a letter.
    """
    if not isinstance(pattern.pattern, str):
        return False
    flags, text = pattern.flags & ~re.DEBUG, pattern.pattern
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # compiling the pattern has warned already
            # French has a megabyte of sets, few of which are distinct
            if not flags & re.VERBOSE and not _COMMENT.search(text):
                text = _SET.sub(lambda found: _shorten(found[0], flags), text)
            return _all_ways_need(_parser.parse(text, flags))
    except (re.error, RecursionError):
        return False


@lru_cache(maxsize=2**12)
def _shorten(part: str, flags: int) -> str:
    """Replace a set by one character: a letter if the set may match a letter."""
    if part[0] != "[":
        return part
    ((op, found),) = _parser.parse(part, flags & ~re.IGNORECASE)
    return "-" if _needs(op, found) else "a"


def _all_ways_need(parsed: Iterable[tuple[Any, Any]]) -> bool:
    return any(_needs(op, argument) for op, argument in parsed)


def _needs(op: Any, found: Any) -> bool:
    """Return True if a part of a parsed expression requires a non-letter."""
    if op is ops.LITERAL:
        return not _may_be_letter(found)
    if op is ops.RANGE:
        return not any(map(_may_be_letter, range(found[0], found[1] + 1)))
    if op is ops.CATEGORY:
        return found in _NO_LETTERS
    if op is ops.IN:
        return all(_needs(*item) for item in found)
    if op is ops.BRANCH:
        return all(map(_all_ways_need, found[1]))
    if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
        return found[0] > 0 and _all_ways_need(found[2])
    if op in (ops.SUBPATTERN, ops.ASSERT):
        return _all_ways_need(found[-1])
    return op is ops.ATOMIC_GROUP and _all_ways_need(found)


def _may_be_letter(code: int) -> bool:
    """Return True if a character matches a letter, also when case is ignored."""
    char = chr(code)
    return char.isalpha() or char.upper().isalpha() or char.lower().isalpha()


def create_tokenizer() -> Callable[[Language], QuickTokenizer]:
    """Build `spacy-hashembeds.Tokenizer.v1`, with the rules of the language, like
    `spacy.Tokenizer.v1`: see `QuickTokenizer`.
    """

    def make_tokenizer(nlp: Language) -> QuickTokenizer:
        of = nlp.Defaults
        return QuickTokenizer(
            nlp.vocab,
            rules=of.tokenizer_exceptions,
            prefix_search=of.prefixes and compile_prefix_regex(of.prefixes).search,
            suffix_search=of.suffixes and compile_suffix_regex(of.suffixes).search,
            infix_finditer=of.infixes and compile_infix_regex(of.infixes).finditer,
            token_match=of.token_match,
            url_match=of.url_match,
        )

    return make_tokenizer
