"""`spacy-hashembeds.Tokenizer.v1`: spaCy's tokens, with fewer searches."""

import copy
import pickle
import re
from types import MethodType

import pytest
import spacy
from hypothesis import example, given, settings
from hypothesis import strategies as st
from spacy.tokenizer import Tokenizer

from spacy_hashembeds.components.tokenizer import (
    NonletterPattern,
    QuickTokenizer,
    create_tokenizer,
    requires_nonletter,
)

TEXTS = st.text(
    st.one_of(
        st.sampled_from(list("ab 'A1.,-/:@%$€)(\n\u0345\u0131\u017f\u212a")),
        st.characters(exclude_categories=["Cs"]),
    )
)


def make_tokenizers(language: str = "en") -> tuple[Tokenizer, QuickTokenizer]:
    nlp = spacy.blank(language)
    return nlp.tokenizer, create_tokenizer()(spacy.blank(language))


# languages with and without case, and (tr) with `token_match`
@pytest.fixture(scope="module", params=["en", "tr", "hi"])
def both(request) -> tuple[Tokenizer, QuickTokenizer]:
    return make_tokenizers(request.param)


def tokenize(tokenizer: Tokenizer, text: str) -> list[tuple[str, str, str]]:
    return [(token.text, token.norm_, token.whitespace_) for token in tokenizer(text)]


@settings(max_examples=50)
@given(text=TEXTS)
@example("don't U.S. 10km http://a.de/x (e.g.) co-op a.b e-mail@a.de can't-do")
def test_tokens_equal_spacys(both, text):
    theirs, ours = both
    assert tokenize(ours, text) == tokenize(theirs, text)
    assert ours.explain(text) == theirs.explain(text)


def test_alphabetic_words_are_not_searched(both):
    _, ours = both
    for name in ("prefix_search", "suffix_search", "infix_finditer", "url_match"):
        pattern = getattr(ours, name).__self__
        assert isinstance(pattern, NonletterPattern)
        pattern._compiled, kept = None, pattern._compiled
        try:
            ours("neverseenbefore неизвестный")
            with pytest.raises(AttributeError):
                ours("never2seen,before")
        finally:
            pattern._compiled = kept
        ours.rules = ours.rules  # clears the cache


NEEDING = (
    *(r"-", r"\d", r"\s+", r"[-§]", r"[0-9.]x", r"a\.b", r"(?:-|\.)+", r"^§"),
    *(r"(?<=[0-9])km", r"x(?=-)", r"(-)", r"(?>-)", r"[$]{2,}", r"\[", r"[\[\]]"),
)
OTHERS = (
    *("a", ".", "-?", "(?:-)*", "[^a]", r"\w", "(?!-)", "", "-|a", "[-a]", "^"),
    *("(?i:\u0345)", "[\u0345]", r"[\w-]", "(-)?\\1", "(?<!-)x", "[!-z]", b"-"),
    *("[@-A]", "[Z-^]", "[0-A-]", "[ -~]", "[@-_]", r"(?#[)a|(b]c)-"),
    *(r"(?x) - # [a]" "\n|a", "a|-"),
)


@pytest.mark.parametrize("pattern", [*NEEDING, *OTHERS])
def test_expressions_that_may_match_letters(pattern):
    assert requires_nonletter(re.compile(pattern)) == (pattern in NEEDING)


def load(tokenizer: Tokenizer) -> None:
    other = spacy.blank("de").tokenizer
    other.suffix_search = re.compile("b$").search
    tokenizer.from_bytes(other.to_bytes(exclude=["vocab"]), exclude=["vocab"])


ENDS, INSIDE = re.compile("b$").search, re.compile("a").finditer


@pytest.mark.parametrize(
    "change",
    [
        lambda one: setattr(one, "suffix_search", ENDS),
        lambda one: setattr(one, "infix_finditer", lambda string: INSIDE(string)),
        lambda one: setattr(one, "prefix_search", None),
        lambda one: one.add_special_case("xab", [{"ORTH": "xa"}, {"ORTH": "b"}]),
        load,
    ],
)
def test_changes_take_effect(change):
    theirs, ours = make_tokenizers()
    text = "xab (xab) xab, xab"
    unchanged = tokenize(ours, text)
    for tokenizer in (theirs, ours):
        change(tokenizer)
    assert tokenize(ours, text) == tokenize(theirs, text) != unchanged


@pytest.mark.parametrize(
    "remake",
    [
        copy.deepcopy,
        lambda tokenizer: pickle.loads(pickle.dumps(tokenizer)),
        QuickTokenizer.from_tokenizer,
        lambda tokenizer: make_tokenizers("de")[1].from_bytes(tokenizer.to_bytes()),
    ],
)
def test_copies_are_equal(remake):
    theirs, ours = make_tokenizers()
    new = remake(ours)
    assert type(new) is QuickTokenizer
    assert tokenize(new, "don't (U.S.) 10km") == tokenize(theirs, "don't (U.S.) 10km")
    assert isinstance(new.url_match.__self__, NonletterPattern)
    assert new.to_bytes(exclude=["vocab"]) == theirs.to_bytes(exclude=["vocab"])


@pytest.mark.parametrize("name", ["search", "find"])
def test_functions_bound_to_an_expression_are_called(name):
    def search(pattern: re.Pattern, string: str) -> re.Match | None:
        return re.search("b$", string)

    search.__name__ = name
    _, tokenizer = make_tokenizers()
    tokenizer.suffix_search = MethodType(search, re.compile("-"))
    assert [token.text for token in tokenizer("xab")] == ["xa", "b"]
