"""`cached_attribute_ruler`: what spaCy's attribute ruler sets, from a table."""

import copy
import multiprocessing
import pickle
import threading
from typing import Any

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.lang.en import English
from spacy.pipeline import AttributeRuler
from spacy.tokens import Doc

from spacy_hashembeds.components import cached_attribute_ruler
from spacy_hashembeds.components.cached_attribute_ruler import (
    CachedAttributeRuler,
    can_cache,
)

ATTRIBUTES = ["TAG", "POS", "MORPH", "LEMMA", "DEP", "NORM"]

#: Patterns as published pipelines have them.
PATTERNS: list[dict[str, Any]] = [
    {"patterns": [[{"TAG": "NN"}]], "attrs": {"POS": "NOUN", "MORPH": "Number=Sing"}},
    {"patterns": [[{"TAG": "VB"}], [{"tag": "VBZ"}]], "attrs": {"POS": "VERB"}},
    {
        "patterns": [[{"LOWER": {"IN": ["to", "na"]}, "TAG": {"NOT_IN": ["NN"]}}]],
        "attrs": {"POS": "PART", "LEMMA": "to"},
    },
    {"patterns": [[{"IS_SPACE": True}]], "attrs": {"POS": "SPACE", "TAG": "_SP"}},
    {
        "patterns": [[{"LOWER": {"REGEX": "^n'?t$"}, "IS_SPACE": False}]],
        "attrs": {"LEMMA": "not", "NORM": "not"},
    },
    {"patterns": [[{"LOWER": "gon"}, {"LOWER": "na"}]], "attrs": {"LEMMA": "go"}},
    {
        "patterns": [[{"LOWER": "gon"}, {"LOWER": "na"}]],
        "attrs": {"LEMMA": "TO"},
        "index": -1,
    },
    {
        "patterns": [[{"TEXT": "a"}, {"TAG": {"IN": ["NN"]}}, {"LENGTH": {">=": 3}}]],
        "attrs": {"DEP": "dep"},
        "index": 2,
    },
]
#: With which each must be asked about each text.
OTHERS: list[dict[str, Any]] = [
    {"patterns": [[{"LOWER": "a", "OP": "+"}]], "attrs": {"LEMMA": "b"}},
    {"patterns": [[{"_": {"mark": 1}}]], "attrs": {"LEMMA": "b"}},
    {"patterns": [[{}]], "attrs": {"LEMMA": "b"}},
    {"patterns": [[{"SENT_START": 1}]], "attrs": {"LEMMA": "b"}},
]

WORDS = [*"gon na GON to nt n't NT a b".split(), "long", "\n", " ", "é"]
TAGS = ["NN", "VB", "VBZ", "TO", ""]


def make_ruler(
    factory: str = "cached_attribute_ruler", patterns: Any = PATTERNS
) -> AttributeRuler:
    ruler = spacy.blank("en").add_pipe(factory, name="attribute_ruler")
    ruler.add_patterns(copy.deepcopy(patterns))
    ruler.vocab.strings.add("new")  # which not all changes do, in spaCy either
    return ruler


def make_doc(ruler: AttributeRuler, *tokens: tuple[str, str]) -> Doc:
    words, tags = zip(*tokens, strict=True) if tokens else ((), ())
    return Doc(ruler.vocab, words=words, tags=tags)


def annotate(ruler: AttributeRuler, *tokens: tuple[str, str]) -> list[list[str]]:
    doc = ruler(make_doc(ruler, *tokens))
    array = doc.to_array(ATTRIBUTES).tolist()
    return [[doc.vocab.strings[value] for value in row] for row in array]


@pytest.fixture(scope="module")
def both() -> tuple[AttributeRuler, AttributeRuler]:
    return make_ruler("attribute_ruler"), make_ruler()


@given(tokens=st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(TAGS))))
def test_what_is_set_and_matched_is_spacys(both, tokens):
    theirs, ours = both
    matches = ours.match(make_doc(ours, *tokens))
    assert matches == theirs.match(make_doc(theirs, *tokens))
    assert annotate(ours, *tokens) == annotate(theirs, *tokens)
    assert ours._table is not None


VALUES: dict[str, list[Any]] = {
    "LOWER": ["gon", {"IN": ["a", "b"]}, {"REGEX": "^[an]"}, {"FUZZY": "lung"}],
    "TAG": ["NN", "", {"NOT_IN": ["NN", "VB"]}, {"REGEX": "^V", "NOT_IN": ["VBZ"]}],
    "LENGTH": [1, {">=": 2}, {"==": 4, "!=": 3}],
    "IS_ALPHA": [True, False],
    "TEXT": ["GON", {"REGEX": {"IN": ["^g", "^n"]}}],
    "MORPH": ["", {"IS_SUPERSET": ["Number=Sing"]}, {"INTERSECTS": ["Case=Nom"]}],
    "ENT_TYPE": ["", "ORG", {"IN": ["ORG"]}],
    "NORM": ["na", {"NOT_IN": ["na"]}],
}
specs = st.dictionaries(st.sampled_from(sorted(VALUES)), st.none(), min_size=1).flatmap(
    lambda names: st.fixed_dictionaries(
        {name: st.sampled_from(VALUES[name]) for name in names}
    )
)
rules = st.fixed_dictionaries(
    {
        "patterns": st.lists(st.lists(specs, min_size=1, max_size=3), min_size=1),
        "attrs": st.sampled_from(
            [{"LEMMA": "l"}, {"POS": "X", "MORPH": "Case=Nom"}, {"TAG": "T"}]
        ),
        "index": st.sampled_from([0, -1]),
    }
)


@given(
    patterns=st.lists(rules, min_size=1, max_size=4),
    tokens=st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(TAGS))),
)
def test_any_patterns_match_as_spacys(patterns, tokens):
    theirs = make_ruler("attribute_ruler", patterns)
    ours = make_ruler(patterns=patterns)
    for _ in range(2):  # then from the table
        assert annotate(ours, *tokens) == annotate(theirs, *tokens)
    assert ours._table is not None


@pytest.mark.parametrize("other", OTHERS, ids=lambda rule: str(rule["patterns"]))
def test_with_patterns_of_other_kinds_spacys_matcher_is_asked(other):
    if not spacy.tokens.Token.has_extension("mark"):
        spacy.tokens.Token.set_extension("mark", default=0)
    patterns = [*PATTERNS, other]
    theirs, ours = (
        make_ruler("attribute_ruler", patterns),
        make_ruler(patterns=patterns),
    )
    assert not can_cache(theirs)
    tokens = [(word, "NN") for word in WORDS]
    assert annotate(ours, *tokens) == annotate(theirs, *tokens)
    assert ours._table is None


def test_a_ruler_without_patterns_warns_as_spacys():
    ruler = make_ruler(patterns=[])
    assert not can_cache(ruler)
    with pytest.warns(UserWarning, match="W036"):
        annotate(ruler, ("a", "NN"))


def test_spacys_matcher_is_asked_once_for_tokens_that_patterns_take_for_one(
    monkeypatch,
):
    ruler = make_ruler()
    tokens = [("house", "NN"), ("mouse", "NN"), ("house", "VB"), ("to", "TO")]
    expected = annotate(ruler, *tokens)
    assert len(ruler._table._known) == 3
    monkeypatch.setattr(AttributeRuler, "match", lambda *_: pytest.fail("asked"))
    assert annotate(ruler, *tokens, ("louse", "NN")) == [
        *expected,
        ["NN", "NOUN", "Number=Sing", "", "", "louse"],
    ]


def add(ruler: AttributeRuler) -> None:
    ruler.add([[{"LOWER": "a"}]], {"LEMMA": "new"})


def initialize(ruler: AttributeRuler) -> None:
    ruler.initialize(None, patterns=CHANGED)


def clear(ruler: AttributeRuler) -> None:
    ruler.clear()
    ruler.add_patterns(CHANGED)


def load(ruler: AttributeRuler) -> None:
    other = make_ruler("attribute_ruler", CHANGED)
    ruler.from_bytes(other.to_bytes(), exclude=["vocab"])


def load_tag_map(ruler: AttributeRuler) -> None:
    ruler.load_from_tag_map({"NN": {"POS": "X", "LEMMA": "new"}})


def change_attributes(ruler: AttributeRuler) -> None:
    ruler.attrs[0].update(make_ruler(patterns=CHANGED).attrs[0])


CHANGED = [{"patterns": [[{"TAG": "NN"}]], "attrs": {"LEMMA": "new"}}]


@pytest.mark.parametrize(
    "change", [add, initialize, clear, load, load_tag_map, change_attributes]
)
def test_no_change_is_missed(change):
    found = []
    for factory in ("attribute_ruler", "cached_attribute_ruler"):
        ruler = make_ruler(factory)
        assert annotate(ruler, ("a", "NN"))[0][3] == ""
        change(ruler)
        found.append(annotate(ruler, ("a", "NN")))
        assert found[-1][0][3] == "new"
    assert found[0] == found[1]


@pytest.mark.parametrize("factory", ["attribute_ruler", "cached_attribute_ruler"])
@pytest.mark.parametrize("index", [1, -2])
def test_an_index_beyond_the_pattern_is_spacys_error(factory, index):
    pattern = {"patterns": [[{"TAG": "NN"}]], "attrs": {"LEMMA": "b"}, "index": index}
    ruler = make_ruler(factory, [*PATTERNS, pattern])
    with pytest.raises(ValueError, match="E1001"):
        annotate(ruler, ("a", "VB"), ("a", "NN"))
    failed = []
    ruler.set_error_handler(lambda *args: failed.append(args))
    doc = make_doc(ruler, ("a", "NN"), ("b", "NN"))
    assert ruler(doc) is None
    assert [args[:3] for args in failed] == [("attribute_ruler", ruler, [doc])]


def test_no_more_combinations_are_kept_than_may_be(monkeypatch):
    monkeypatch.setattr(cached_attribute_ruler, "MAX_KNOWN", 3)
    patterns = [{"patterns": [[{"LENGTH": {">=": 4}}]], "attrs": {"LEMMA": "long"}}]
    ruler = make_ruler(patterns=patterns)
    tokens = [("x" * n, "NN") for n in range(1, 12)]
    lemmas = [row[3] for row in annotate(ruler, *tokens)]
    assert lemmas == ["long" if n >= 4 else "" for n in range(1, 12)]
    assert len(ruler._table._known) <= 3
    assert all(len(values) <= 3 for values in ruler._table._values)


@pytest.mark.parametrize("remake", ["pickle", "deepcopy", "bytes", "disk"])
def test_copies_and_saved_ones_are_alike(both, remake, tmp_path):
    theirs, ours = both
    tokens = [(word, tag) for word in WORDS for tag in TAGS]
    expected = annotate(theirs, *tokens)
    assert annotate(ours, *tokens) == expected
    assert ours.to_bytes(exclude=["vocab"]) == theirs.to_bytes(exclude=["vocab"])
    if remake == "pickle":
        new = pickle.loads(pickle.dumps(ours))
    elif remake == "deepcopy":
        new = copy.deepcopy(ours)
    else:
        new = make_ruler(patterns=[])
        if remake == "bytes":
            new.from_bytes(theirs.to_bytes())
        else:
            theirs.to_disk(tmp_path)
            new.from_disk(tmp_path)
    assert isinstance(new, CachedAttributeRuler)
    assert annotate(new, *tokens) == expected


def test_words_of_a_memory_zone_leave_nothing_behind():
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("cached_attribute_ruler")
    ruler.add_patterns(copy.deepcopy(PATTERNS))
    for word in ("glorp", "gon"):
        with nlp.memory_zone():
            doc = ruler(Doc(nlp.vocab, words=[word, "na"], tags=["NN", "TO"]))
            lemmas = [token.lemma_ for token in doc]
            assert lemmas == (["go", "TO"] if word == "gon" else ["", "to"])
    assert "glorp" not in nlp.vocab.strings


def test_threads_and_forks_set_the_same(both):
    theirs, _ = both
    ours = make_ruler()
    tokens = [(word, tag) for word in WORDS for tag in TAGS]
    expected, found = annotate(theirs, *tokens), []
    threads = [
        threading.Thread(target=lambda: found.append(annotate(ours, *tokens)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(annotate, (ours, *tokens)) == expected


def test_it_is_made_by_a_config_and_scored_as_spacys():
    nlp = English.from_config(
        {
            "nlp": {"lang": "en", "pipeline": ["attribute_ruler"]},
            "components": {"attribute_ruler": {"factory": "cached_attribute_ruler"}},
        }
    )
    ruler = nlp.get_pipe("attribute_ruler")
    assert isinstance(ruler, AttributeRuler)
    stock = spacy.blank("en").add_pipe("attribute_ruler")
    assert ruler.scorer is stock.scorer
    assert nlp.config["components"]["attribute_ruler"]["validate"] is False
