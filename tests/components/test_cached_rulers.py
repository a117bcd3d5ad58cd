"""`cached_attribute_ruler` and its like: what spaCy's rulers set, from a table."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.lang.en import English
from spacy.matcher import Matcher
from spacy.pipeline import AttributeRuler
from spacy.tokens import Doc, Span, Token

from spacy_hashembeds.components.cached_matcher import CachedMatcher
from spacy_hashembeds.components.cached_rulers import CachedAttributeRuler

from ..processes import call_in_threads_and_a_fork

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
    {"patterns": [[{"LOWER": "a", "OP": "*"}]], "attrs": {"LEMMA": "b"}},
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
    assert ours.matcher.has_table


@pytest.mark.parametrize("other", OTHERS, ids=lambda rule: str(rule["patterns"]))
def test_with_patterns_of_other_kinds_spacys_matcher_is_asked(other):
    if not spacy.tokens.Token.has_extension("mark"):
        spacy.tokens.Token.set_extension("mark", default=0)
    patterns = [*PATTERNS, other]
    theirs, ours = (
        make_ruler("attribute_ruler", patterns),
        make_ruler(patterns=patterns),
    )
    tokens = [(word, "NN") for word in WORDS]
    assert annotate(ours, *tokens) == annotate(theirs, *tokens)
    assert not ours.matcher.has_table


def test_a_ruler_without_patterns_warns_as_spacys():
    ruler = make_ruler(patterns=[])
    assert not ruler.matcher.has_table
    with pytest.warns(UserWarning, match="W036"):
        annotate(ruler, ("a", "NN"))


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


def load_spacys(_: AttributeRuler) -> AttributeRuler:
    data = make_ruler("attribute_ruler").to_bytes()
    return make_ruler(patterns=[]).from_bytes(data)


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


def test_attributes_are_set_from_the_table(monkeypatch):
    ruler = make_ruler()
    expected = annotate(make_ruler("attribute_ruler"), ("a", "NN"), ("to", "TO"))
    monkeypatch.setattr(AttributeRuler, "__call__", lambda *_: pytest.fail("asked"))
    assert annotate(ruler, ("a", "NN"), ("to", "TO")) == expected


def test_methods_that_somebody_has_replaced_are_called():
    class Ruler(CachedAttributeRuler):
        def match(self, doc: Doc) -> list:
            return []

    ruler = make_ruler()
    ruler.__class__ = Ruler
    assert annotate(ruler, ("a", "NN"))[0][1] == ""
    ruler = make_ruler()
    ruler.set_annotations = lambda doc, matches: doc[0].__setattr__("lemma_", "mine")
    assert annotate(ruler, ("a", "NN"))[0][1:4] == ["", "", "mine"]


def test_methods_that_somebody_has_put_into_spacys_class_are_called(monkeypatch):
    monkeypatch.setattr(AttributeRuler, "match", lambda self, doc: [])
    assert annotate(make_ruler(), ("a", "NN"))[0][1] == ""


def test_a_matcher_that_somebody_has_put_in_is_asked():
    class Other(Matcher):
        def __call__(self, doc: Doc, **options: Any) -> list:
            return []

    ruler = make_ruler()
    ruler.matcher = Other(ruler.vocab, validate=False)
    assert annotate(ruler, ("a", "NN"))[0][1] == ""


@pytest.mark.parametrize("attribute", ["IS_STOP", "LOWER"])
def test_later_rules_have_precedence_in_what_words_share(attribute):
    found = []
    for factory in ("attribute_ruler", "cached_attribute_ruler"):
        rules = [
            {"patterns": [[{"TAG": "NN"}]], "attrs": {attribute: 1}},
            {"patterns": [[{"TAG": "VB"}]], "attrs": {attribute: 0}},
        ]
        ruler = make_ruler(factory, rules)
        doc = ruler(make_doc(ruler, ("shared", "VB"), ("shared", "NN")))
        found.append(doc.to_array([attribute]).tolist())
    assert found[0] == found[1]


@pytest.fixture
def calls() -> Iterator[list[int]]:
    """Tokens that the extension `set_mark` was set of, which refuses the second."""
    calls: list[int] = []

    def set_mark(token: Token, value: int) -> None:
        calls.append(token.i)
        if token.i:
            raise ValueError("refused")

    Token.set_extension("set_mark", getter=lambda _: 0, setter=set_mark)
    yield calls
    Token.remove_extension("set_mark")  # spaCy sends all to processes that it starts


@pytest.mark.parametrize("factory", ["attribute_ruler", "cached_attribute_ruler"])
def test_what_fails_is_not_begun_again(factory, calls):
    rule = {"patterns": [[{"TAG": "NN"}]], "attrs": {"_": {"set_mark": 1}}}
    ruler = make_ruler(factory, [rule])
    with pytest.raises(ValueError, match="refused"):
        ruler(make_doc(ruler, ("a", "NN"), ("b", "NN"), ("c", "NN")))
    assert calls == [0, 1]


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


@pytest.mark.parametrize("remake", [copy.deepcopy, load_spacys])
def test_copies_and_those_that_spacys_saved_are_alike(both, remake):
    theirs, ours = both
    tokens = [(word, tag) for word in WORDS for tag in TAGS]
    expected = annotate(theirs, *tokens)
    assert ours.to_bytes(exclude=["vocab"]) == theirs.to_bytes(exclude=["vocab"])
    assert annotate(remake(ours), *tokens) == expected


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
    found = call_in_threads_and_a_fork(annotate, ours, *tokens)
    assert found == [annotate(theirs, *tokens)] * 17


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


ENTITY_PATTERNS = [
    {"label": "ORG", "pattern": "Acme Inc"},
    {"label": "ORG", "pattern": [{"LOWER": "acme"}], "id": "acme"},
    {"label": "PER", "pattern": [{"IS_TITLE": True}, {"LOWER": {"IN": ["b", "long"]}}]},
    {"label": "LOC", "pattern": [{"LOWER": "gon"}, {"LOWER": "na", "OP": "*"}]},
]
ENTITY_WORDS = [*"Acme Inc acme b Long long gon na Na".split()]


def make_entity_ruler(factory: str) -> Any:
    config = {"annotate_ents": True} if "span" in factory else {}
    ruler = spacy.blank("en").add_pipe(factory, config=config)
    ruler.add_patterns(ENTITY_PATTERNS)
    return ruler


def find_entities(ruler: Any, words: list[str]) -> list[Any]:
    doc = Doc(ruler.nlp.vocab, words=words)
    doc.ents = [Span(doc, 0, 1, "GIVEN")] if words else []
    ruler(doc)
    spans = [*doc.ents, *doc.spans.get("ruler", ())]
    return [(span.start, span.end, span.label_, span.id_) for span in spans]


#: Ours, by spaCy's.
FACTORIES = {"entity_ruler": "cached_entity_ruler", "span_ruler": "cached_span_ruler"}


@pytest.fixture(scope="module", params=FACTORIES)
def finders(request) -> tuple[Any, Any]:
    name = request.param
    return make_entity_ruler(name), make_entity_ruler(FACTORIES[name])


@given(words=st.lists(st.sampled_from(ENTITY_WORDS)))
def test_entities_and_spans_are_those_of_spacys_rulers(finders, words):
    theirs, ours = finders
    assert find_entities(ours, words) == find_entities(theirs, words)
    assert isinstance(ours, type(theirs))
    assert ours.matcher.has_table


@pytest.mark.parametrize("change", ["clear", "remove", "from_bytes", "initialize"])
@pytest.mark.parametrize("name", FACTORIES)
def test_no_change_of_entities_is_missed(name, change):
    found = []
    words = ["Acme", "acme", "Na", "b"]
    for factory in (name, FACTORIES[name]):
        ruler = make_entity_ruler(factory)
        find_entities(ruler, words)
        if change == "clear":
            ruler.clear()
            ruler.add_patterns(ENTITY_PATTERNS[2:])
        elif change == "remove":
            ruler.remove("acme" if name == "entity_ruler" else "ORG")
        elif change == "initialize":
            ruler.initialize(lambda: [], nlp=ruler.nlp, patterns=ENTITY_PATTERNS[2:])
        else:
            other = make_entity_ruler(name)
            other.clear()
            other.add_patterns(ENTITY_PATTERNS[2:])
            ruler.from_bytes(other.to_bytes())
        found.append(find_entities(ruler, words))
        assert not any("ORG" in entity for entity in found[-1])
    assert found[0] == found[1]
    assert isinstance(ruler.matcher, CachedMatcher)


def test_rulers_of_entities_are_saved_as_spacys(finders):
    theirs, ours = finders
    assert ours.to_bytes() == theirs.to_bytes()
    new = make_entity_ruler(FACTORIES[theirs.name]).from_bytes(theirs.to_bytes())
    found = find_entities(new, ENTITY_WORDS)
    assert found == find_entities(theirs, ENTITY_WORDS)
    assert isinstance(new.matcher, CachedMatcher)
