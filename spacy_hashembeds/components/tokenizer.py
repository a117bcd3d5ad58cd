"""`spacy-hashembeds.Tokenizer.v1`: spaCy's tokenizer, but without regular expression
searches in alphabetic words if the expression can't match there.

In spaCy's languages, no affix matches in alphabetic words, but spaCy searches all
affixes in each new word, which takes half of the tokenizer's time.
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

#: Tokenizer attributes that are methods of compiled expressions.
MATCHERS = "prefix_search suffix_search infix_finditer token_match url_match".split()

#: Matches an escape or a character set, in patterns without comments.
_SET = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]", re.DOTALL)
#: Finds comments, and the flag that permits them.
_COMMENT = re.compile(r"\(\?(?:#|\w*x)")
#: Categories without letters.
_NONLETTERS = (ops.CATEGORY_DIGIT, ops.CATEGORY_SPACE)


class QuickTokenizer(Tokenizer):
    """spaCy's tokenizer, which skips regular expressions that can't match alphabetic
    words. Output and saved files are identical to spaCy's.
    """

    @classmethod
    def from_tokenizer(cls, tokenizer: Tokenizer) -> "QuickTokenizer":
        """Create a QuickTokenizer with the settings and vocab of a tokenizer."""
        names = ("vocab", "rules", *MATCHERS, "faster_heuristics", "max_cache_size")
        return cls(**{name: getattr(tokenizer, name) for name in names})


def _make_property(name: str) -> property:
    spacys = getattr(Tokenizer, name)

    def set_match(tokenizer: Tokenizer, match: Any) -> None:
        pattern: Any = getattr(match, "__self__", None)
        # not functions bound to an expression, as some packages set for saving
        is_own = isinstance(match, BuiltinMethodType)
        if is_own and isinstance(pattern, re.Pattern) and requires_nonletter(pattern):
            match = getattr(NonletterPattern(pattern), match.__name__)
        spacys.__set__(tokenizer, match)

    return property(spacys.__get__, set_match, doc=spacys.__doc__)


for _name in MATCHERS:
    setattr(QuickTokenizer, _name, _make_property(_name))


class NonletterPattern:
    """A compiled expression that can't match in alphabetic strings. Other attributes,
    such as `pattern`, are delegated to the expression.
    """

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._compiled = pattern

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # such as `__deepcopy__`
            raise AttributeError(name)
        return getattr(self._compiled, name)

    def search(self, string: str, *args: int, **span: int) -> re.Match[str] | None:
        """See `re.Pattern.search`."""
        return (
            None if string.isalpha() else self._compiled.search(string, *args, **span)
        )

    def match(self, string: str, *args: int, **span: int) -> re.Match[str] | None:
        """See `re.Pattern.match`."""
        return None if string.isalpha() else self._compiled.match(string, *args, **span)

    def finditer(self, string: str, *args: int, **span: int) -> Iterator[re.Match[str]]:
        """See `re.Pattern.finditer`."""
        if string.isalpha():
            return iter(())
        return self._compiled.finditer(string, *args, **span)


@lru_cache(maxsize=64)
def requires_nonletter(pattern: re.Pattern[str]) -> bool:
    """True if each alternative of an expression requires a non-letter."""
    if not isinstance(pattern.pattern, str):
        return False
    flags, text = pattern.flags & ~re.DEBUG, pattern.pattern
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # issued already by re.compile
            # French patterns have a megabyte of character sets, few of them distinct
            if not flags & re.VERBOSE and not _COMMENT.search(text):
                text = _SET.sub(lambda found: _shorten(found[0], flags), text)
            return _sequence_requires_nonletter(_parser.parse(text, flags))
    except (re.error, RecursionError):
        return False


@lru_cache(maxsize=2**12)
def _shorten(part: str, flags: int) -> str:
    """Replace a character set by a letter if it may match one, else by a hyphen."""
    if part[0] != "[":
        return part
    ((op, argument),) = _parser.parse(part, flags & ~re.IGNORECASE)
    return "-" if _requires_nonletter(op, argument) else "a"


def _sequence_requires_nonletter(parsed: Iterable[tuple[Any, Any]]) -> bool:
    return any(_requires_nonletter(op, argument) for op, argument in parsed)


def _requires_nonletter(op: Any, argument: Any) -> bool:
    """True if a node of a parsed expression requires a non-letter."""
    if op is ops.LITERAL:
        return not _may_be_letter(argument)
    if op is ops.RANGE:
        return not any(map(_may_be_letter, range(argument[0], argument[1] + 1)))
    if op is ops.CATEGORY:
        return argument in _NONLETTERS
    if op is ops.IN:
        return all(_requires_nonletter(*item) for item in argument)
    if op is ops.BRANCH:
        return all(map(_sequence_requires_nonletter, argument[1]))
    if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
        return argument[0] > 0 and _sequence_requires_nonletter(argument[2])
    if op in (ops.SUBPATTERN, ops.ASSERT):
        return _sequence_requires_nonletter(argument[-1])
    return op is ops.ATOMIC_GROUP and _sequence_requires_nonletter(argument)


def _may_be_letter(code: int) -> bool:
    """True if a character may match a letter, including case-insensitively."""
    char = chr(code)
    return char.isalpha() or char.upper().isalpha() or char.lower().isalpha()


def create_tokenizer() -> Callable[[Language], QuickTokenizer]:
    """Build `spacy-hashembeds.Tokenizer.v1`, with the rules of the language, like
    `spacy.Tokenizer.v1`: see `QuickTokenizer`.
    """

    def make_tokenizer(nlp: Language) -> QuickTokenizer:
        defaults = nlp.Defaults
        return QuickTokenizer(
            nlp.vocab,
            rules=defaults.tokenizer_exceptions,
            prefix_search=defaults.prefixes
            and compile_prefix_regex(defaults.prefixes).search,
            suffix_search=defaults.suffixes
            and compile_suffix_regex(defaults.suffixes).search,
            infix_finditer=defaults.infixes
            and compile_infix_regex(defaults.infixes).finditer,
            token_match=defaults.token_match,
            url_match=defaults.url_match,
        )

    return make_tokenizer
