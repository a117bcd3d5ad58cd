"""`CachedMatcher`: cached matches of spaCy's Matcher, in the same order."""

import copy
import pickle
from typing import Any

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.attrs import ORTH
from spacy.matcher import Matcher
from spacy.tokens import Doc, Token

from spacy_hashembeds.components import cached_matcher
from spacy_hashembeds.components.cached_matcher import CachedMatcher

VOCAB = spacy.blank("en").vocab
WORDS = [*"gon na GON to nt n't NT a b aa".split(), "long", "\n", " ", "é"]
TAGS = ["NN", "VB", "VBZ", "TO", ""]
MORPHS = ["", "Number=Sing", "Case=Nom|Number=Plur"]

#: Conditions of patterns.
VALUES: dict[str, list[Any]] = {
    "LOWER": ["gon", {"IN": ["a", "b"]}, {"REGEX": "[nt]$"}, {"FUZZY": "lung"}],
    "TAG": ["NN", "", {"NOT_IN": ["NN", "VB"]}, {"REGEX": "^V", "NOT_IN": ["VBZ"]}],
    "LENGTH": [1, {">=": 2}, {"==": 4, "!=": 3}],
    "is_alpha": [True, False],
    "TEXT": ["GON", {"REGEX": {"IN": ["^g", "^n"]}}],
    "MORPH": ["", {"IS_SUPERSET": ["Number=Sing"]}, {"INTERSECTS": ["Case=Nom"]}],
    "ENT_TYPE": ["", "ORG", {"IN": ["ORG"]}],
    "NORM": ["na", {"NOT_IN": ["na"]}],
    "POS": ["NOUN", {"IN": ["VERB", "ADP"]}],
}
OPERATORS = ["?", "*", "+", "!", "{2}"]


def make_rules(operators: list[str]) -> st.SearchStrategy[Any]:
    """Return keys with patterns to add, or None to remove the key."""
    values = {name: st.sampled_from(of) for name, of in VALUES.items()}
    names = st.sets(st.sampled_from(sorted(VALUES)), min_size=1, max_size=2)
    spec = names.flatmap(
        lambda names: st.fixed_dictionaries({name: values[name] for name in names})
    )
    if operators:
        operator = st.sampled_from([{}, {}, *({"OP": op} for op in operators)])
        spec = st.builds(lambda spec, op: {**spec, **op}, spec, operator)
    patterns = st.lists(st.lists(spec, min_size=1, max_size=3), min_size=1, max_size=2)
    changes = st.one_of(patterns, patterns, patterns, st.none())
    rule = st.tuples(st.sampled_from(["K", "L", "M"]), changes)
    return st.lists(rule, min_size=1, max_size=6)


LAYERS = {"words": WORDS, "tags": TAGS, "pos": ["NOUN", "VERB", ""], "morphs": MORPHS}
tokens = st.lists(st.tuples(*map(st.sampled_from, LAYERS.values())), max_size=12)


def make_matchers(*patterns: Any, **options: Any) -> tuple[Matcher, CachedMatcher]:
    theirs, ours = (cls(VOCAB, validate=False) for cls in (Matcher, CachedMatcher))
    for matcher in (theirs, ours):
        matcher.add("K", copy.deepcopy([*patterns]), **options)
    return theirs, ours


SIMPLE = [{"LOWER": "a"}], [{"LOWER": "b"}, {"TAG": "NN"}]


def make_simple(**options: Any) -> CachedMatcher:
    return make_matchers(*SIMPLE, **options)[1]


def find(matcher: Matcher, *words: str, tags: Any = None) -> list[tuple[int, int, int]]:
    doc = Doc(VOCAB, words=words, tags=tags or ["NN"] * len(words))
    return matcher(doc)


@pytest.mark.parametrize("operators", [[], OPERATORS])
@settings(max_examples=200)
@given(data=st.data(), tokens=tokens)
def test_matches_and_order_equal_spacys(operators, data, tokens):
    """Matches are equal after any additions and removals."""
    theirs, ours = make_matchers([{"LOWER": "gon"}])
    layers = zip(LAYERS, zip(*tokens, strict=True), strict=False)
    doc = Doc(VOCAB, **dict(layers))
    for key, patterns in data.draw(make_rules(operators)):
        for matcher in (theirs, ours):
            if patterns is not None:
                matcher.add(key, copy.deepcopy(patterns))
            elif key in matcher and len(matcher) > 1:
                matcher.remove(key)
        expected = theirs(doc, allow_missing=True)
        for _ in range(2):  # the second time from the cache
            assert ours(doc, allow_missing=True) == expected
        assert ours.find_table() or operators
        if ours.find_table() and tokens:  # None if spaCy's Matcher was used
            found = ours.find_table().find_matches(doc)
            assert found == expected or (found is None and operators)


def test_operators_that_may_match_use_spacys_matcher():
    _, matcher = make_matchers([{"LOWER": "to"}, {"TAG": "VB", "OP": "+"}])
    for tag, expected in (("NN", []), ("VB", None)):
        doc = Doc(VOCAB, words=["to", "to"], tags=["TO", tag])
        assert matcher.find_table().find_matches(doc) == expected


@pytest.mark.parametrize(
    "pattern",
    [
        *([{"_": {"mark": 1}}], [{}], [{"SENT_START": 1}], [{ORTH: "a"}]),
        *([{"LOWER": "a", "OP": "*"}], [{"LOWER": "a", "OP": "!"}, {"OP": "?"}]),
    ],
    ids=str,
)
def test_no_table_for_unsupported_patterns(pattern):
    if not Token.has_extension("mark"):
        Token.set_extension("mark", default=0)
    theirs, ours = make_matchers([{"LOWER": "a"}], pattern)
    assert not ours.find_table()
    assert find(ours, "a", "b") == find(theirs, "a", "b")


def test_equivalent_tokens_are_matched_once():
    matcher = make_simple()
    find(matcher, "house", "mouse", "a")
    table = matcher.find_table()
    assert len(table._combinations) == 2
    table._parts = lambda *_, **__: pytest.fail("matched again")
    assert find(matcher, "louse", "a") == [(VOCAB.strings["K"], 1, 2)]


def test_callbacks_and_options_equal_spacys():
    called = []
    matcher = make_simple(on_match=lambda *args: called.append(args))
    find(matcher, "a")
    assert len(called) == 1
    assert not make_simple(greedy="LONGEST").find_table()
    matcher = make_simple()
    doc = Doc(VOCAB, words=["c", "a"], tags=["NN", "NN"])
    [span] = matcher(doc, as_spans=True)
    assert (span.start, span.end, span.label_) == (1, 2, "K")
    assert matcher(doc, with_alignments=True) == [(VOCAB.strings["K"], 1, 2, [0])]
    assert matcher(doc[1:]) == [(VOCAB.strings["K"], 0, 1)]
    other = Doc(spacy.blank("en").vocab, words=["c", "a"], tags=["NEW", "NEW"])
    assert matcher(other) == [(VOCAB.strings["K"], 1, 2)]


@pytest.mark.parametrize(
    "spec", [{"TAG": "x"}, {"MORPH": "A=B"}, {"LEMMA": "x"}], ids=str
)
def test_missing_annotation_raises_spacys_error(spec):
    theirs, ours = make_matchers([{"LOWER": "a"}], [spec])
    doc = Doc(VOCAB, words=["a"])
    for matcher in (theirs, ours):
        with pytest.raises(ValueError, match="E155"):
            matcher(doc)
        assert len(matcher(doc, allow_missing=True)) == 1
    assert ours.find_table()


@pytest.mark.parametrize(
    "remake",
    [
        CachedMatcher.from_matcher,
        copy.deepcopy,
        lambda matcher: pickle.loads(pickle.dumps(matcher)),
    ],
)
def test_copies_match_equally(remake):
    pattern = [{"ORTH": "a", "OP": "+"}]
    theirs, ours = make_matchers([{"LOWER": "b"}])
    for matcher in (theirs, ours):
        matcher.add("L", [pattern], greedy="LONGEST")
    new = remake(ours)
    assert type(new) is CachedMatcher
    doc = Doc(new.vocab, words="a a b a a a".split())
    assert new(doc) == theirs(doc)
    assert len(new(doc)) == 3


@pytest.mark.parametrize("name", ["MatchTable", "Pattern"])
@pytest.mark.parametrize(
    ("interrupt", "expected"),
    [
        (lambda matcher: matcher.add("M", [[{"LOWER": "d"}]]), "KLMX"),
        (lambda matcher: matcher.remove("X"), "KL"),
        (lambda matcher: find(matcher, "a", "c"), "KLX"),
    ],
)
def test_concurrent_changes_are_not_lost(monkeypatch, name, interrupt, expected):
    """The change happens right after a pattern, or the table, is created."""
    matcher, function = make_simple(), getattr(cached_matcher, name)
    matcher.add("X", [[{"LOWER": "x"}]])

    def interrupted(*args: Any) -> Any:
        monkeypatch.setattr(cached_matcher, name, function)
        result = function(*args)
        interrupt(matcher)
        return result

    monkeypatch.setattr(cached_matcher, name, interrupted)
    matcher.add("L", [[{"LOWER": "c"}]])
    for _ in range(2):
        found = find(matcher, "a", "c", "d", "x")
    assert [VOCAB.strings[key] for key, _, _ in found] == [*expected]
    assert matcher.find_table()


def test_failed_additions_use_spacys_matcher():
    theirs, ours = make_matchers([{"LOWER": "a"}])
    for matcher in (theirs, ours):
        with pytest.raises(ValueError, match="E152"):
            matcher.add("L", [[{"LOWER": "b"}], [{"NONE": "b"}]])
    assert find(ours, "a", "b") == find(theirs, "a", "b")
    assert not ours.find_table()


def test_patterns_are_copied_when_added():
    matcher, pattern = CachedMatcher(VOCAB), [{"LOWER": {"IN": ["a"]}}]
    matcher.add("K", [pattern])
    pattern[0]["LOWER"]["IN"].append("b")
    pattern.append({"LOWER": "c"})
    assert find(matcher, "a", "b", "c") == [(VOCAB.strings["K"], 0, 1)]


def test_the_cache_is_bounded(monkeypatch):
    monkeypatch.setattr(cached_matcher, "MAX_CACHED", 3)
    theirs, ours = make_matchers(*([{"LENGTH": {">=": n}}] for n in (4, 5)))
    words = ["x" * n for n in range(1, 13)]
    assert find(ours, *words) == find(theirs, *words)
    assert len(ours.find_table()._rows) <= 3
    assert len(ours.find_table()._combinations) <= 3
