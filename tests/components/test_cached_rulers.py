"""`cached_attribute_ruler` and its like: what spaCy's rulers set, from a table."""

import copy
from typing import Any

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.matcher import Matcher
from spacy.pipeline import AttributeRuler
from spacy.tokens import Doc, Span

from spacy_hashembeds.components.cached_matcher import CachedMatcher

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
    assert ours.matcher.find_table()


def add(ruler: AttributeRuler) -> None:
    ruler.add([[{"LOWER": "a"}]], {"LEMMA": "new"})


def clear(ruler: AttributeRuler) -> None:
    ruler.clear()
    ruler.add_patterns(CHANGED)


def load(ruler: AttributeRuler) -> None:
    other = make_ruler("attribute_ruler", CHANGED)
    ruler.from_bytes(other.to_bytes(), exclude=["vocab"])


CHANGED = [{"patterns": [[{"TAG": "NN"}]], "attrs": {"LEMMA": "new"}}]


@pytest.mark.parametrize("change", [add, clear, load])
def test_no_change_is_missed(change):
    found = []
    for factory in ("attribute_ruler", "cached_attribute_ruler"):
        ruler = make_ruler(factory)
        assert annotate(ruler, ("a", "NN"))[0][3] == ""
        change(ruler)
        (attributes,) = annotate(ruler, ("a", "NN"))
        assert attributes[3] == "new"
        found.append((attributes, ruler.to_bytes(exclude=["vocab"])))
    assert found[0] == found[1]


def test_a_matcher_that_somebody_has_put_in_is_called():
    ruler = make_ruler()
    ruler.matcher = type("Other", (Matcher,), {"__call__": lambda *_, **__: []})(
        ruler.vocab, validate=False
    )
    assert annotate(ruler, ("a", "NN"))[0][1] == ""


@pytest.mark.parametrize("index", [1, -2])
def test_an_index_beyond_the_pattern_is_spacys_error(index):
    pattern = {"patterns": [[{"TAG": "NN"}]], "attrs": {"LEMMA": "b"}, "index": index}
    ruler = make_ruler(patterns=[*PATTERNS, pattern])
    with pytest.raises(ValueError, match="E1001"):
        annotate(ruler, ("a", "VB"), ("a", "NN"))


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


@pytest.mark.parametrize(
    "name", [*FACTORIES, "attribute_ruler", "trainable_lemmatizer"]
)
def test_factories_say_of_components_what_spacys_say(name):
    theirs, ours = map(Language.get_factory_meta, (name, f"cached_{name}"))
    assert ours.default_config == theirs.default_config
    assert ours.default_score_weights == theirs.default_score_weights
    assert (ours.assigns, ours.requires) == (theirs.assigns, theirs.requires)
    assert ours.retokenizes == theirs.retokenizes


@pytest.fixture(scope="module", params=FACTORIES)
def finders(request) -> tuple[Any, Any]:
    name = request.param
    return make_entity_ruler(name), make_entity_ruler(FACTORIES[name])


@given(words=st.lists(st.sampled_from(ENTITY_WORDS)))
def test_entities_and_spans_are_those_of_spacys_rulers(finders, words):
    theirs, ours = finders
    assert find_entities(ours, words) == find_entities(theirs, words)
    assert isinstance(ours, type(theirs))
    assert ours.matcher.find_table()


@pytest.mark.parametrize("name", FACTORIES)
def test_no_change_of_entities_is_missed(name):
    found = []
    words = ["Acme", "acme", "Na", "b"]
    for factory in (name, FACTORIES[name]):
        ruler = make_entity_ruler(factory)
        assert any("ORG" in entity for entity in find_entities(ruler, words))
        ruler.clear()
        ruler.add_patterns(ENTITY_PATTERNS[2:])
        found.append((find_entities(ruler, words), ruler.to_bytes()))
        assert not any("ORG" in entity for entity in found[-1][0])
    assert found[0] == found[1]
    assert isinstance(ruler.matcher, CachedMatcher)
