"""`cached_attribute_ruler` and its like: what spaCy's rulers set, from a table."""

import copy
from typing import Any

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.matcher import Matcher
from spacy.tokens import Doc, Span

from spacy_hashembeds.components.cached_matcher import CachedMatcher

ATTRIBUTES = "TAG POS MORPH LEMMA DEP NORM ENT_IOB ENT_TYPE ENT_ID".split()

#: Patterns as published pipelines have them.
PATTERNS: list[dict[str, Any]] = [
    {"patterns": [[{"TAG": "NN"}]], "attrs": {"POS": "NOUN", "MORPH": "Number=Sing"}},
    {"patterns": [[{"TAG": "VB"}], [{"tag": "VBZ"}]], "attrs": {"POS": "VERB"}},
    {
        "patterns": [[{"LOWER": {"IN": ["to", "na"]}, "TAG": {"NOT_IN": ["NN"]}}]],
        "attrs": {"POS": "PART", "LEMMA": "to", "NORM": "to"},
    },
    {"patterns": [[{"IS_SPACE": True}]], "attrs": {"POS": "SPACE", "TAG": "_SP"}},
    {"patterns": [[{"LOWER": "gon"}, {"LOWER": "na"}]], "attrs": {"LEMMA": "go"}},
    {
        "patterns": [[{"LOWER": "gon"}, {"LOWER": "na"}]],
        "attrs": {"LEMMA": "TO"},
        "index": -1,
    },
    {
        "patterns": [[{"TEXT": "b"}, {"TAG": {"IN": ["NN"]}}, {"LENGTH": {">=": 3}}]],
        "attrs": {"DEP": "dep"},
        "index": 2,
    },
]
ENTITY_PATTERNS = [
    {"label": "ORG", "pattern": "Acme Inc"},
    {"label": "ORG", "pattern": [{"LOWER": "acme"}], "id": "acme"},
    {"label": "PER", "pattern": [{"IS_TITLE": True}, {"LOWER": {"IN": ["b", "long"]}}]},
    {"label": "LOC", "pattern": [{"LOWER": "gon"}, {"LOWER": "na", "OP": "*"}]},
]
#: Patterns by the name of spaCy's component, and others that set other things.
RULERS: dict[str, tuple[Any, Any]] = {
    "attribute_ruler": (PATTERNS, [PATTERNS[0] | {"attrs": {"LEMMA": "new"}}]),
    "entity_ruler": (ENTITY_PATTERNS, ENTITY_PATTERNS[2:]),
    "span_ruler": (ENTITY_PATTERNS, ENTITY_PATTERNS[2:]),
}
WORDS = [*"gon na GON to b NA long Acme Inc acme Long".split(), "\n", "é"]
TAGS = ["NN", "VB", "VBZ", "TO", ""]


def make_ruler(factory: str, patterns: Any = None) -> Any:
    name = factory.removeprefix("cached_")
    config = {"annotate_ents": True} if name == "span_ruler" else {}
    ruler = spacy.blank("en").add_pipe(factory, name=name, config=config)
    ruler.add_patterns(copy.deepcopy(patterns or RULERS[name][0]))
    return ruler


def annotate(ruler: Any, *tokens: tuple[str, str]) -> tuple[Any, Any]:
    words, tags = zip(*tokens, strict=True) if tokens else ((), ())
    doc = Doc(ruler.matcher.vocab, words=words, tags=tags)
    doc.ents = [Span(doc, 0, 1, "GIVEN")] if words else []
    ruler(doc)
    spans = [(s.start, s.end, s.label_, s.id_) for s in doc.spans.get("ruler", ())]
    return doc.to_array(ATTRIBUTES).tolist(), spans


@pytest.fixture(scope="module", params=RULERS)
def both(request) -> tuple[Any, Any]:
    return make_ruler(request.param), make_ruler(f"cached_{request.param}")


@given(tokens=st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(TAGS))))
def test_what_is_set_is_spacys(both, tokens):
    theirs, ours = both
    assert annotate(ours, *tokens) == annotate(theirs, *tokens)
    assert isinstance(ours, type(theirs))
    assert ours.matcher.find_table()


def add(ruler: Any, patterns: Any) -> None:
    ruler.add_patterns([PATTERNS[-1] | {"index": 0, "patterns": [[{"LOWER": "b"}]]}])


def clear(ruler: Any, patterns: Any) -> None:
    ruler.clear()
    ruler.add_patterns(copy.deepcopy(patterns))


def load(ruler: Any, patterns: Any) -> None:
    other = make_ruler(ruler.name, patterns)
    ruler.from_bytes(other.to_bytes(), exclude=["vocab"])


@pytest.mark.parametrize(
    ("name", "change"),
    [("attribute_ruler", add), *((x, y) for x in RULERS for y in (clear, load))],
)
def test_no_change_is_missed(name, change):
    tokens = [("Acme", "NN"), ("acme", "VB"), ("Na", "TO"), ("b", "NN")]
    found = []
    for factory in (name, f"cached_{name}"):
        ruler = make_ruler(factory)
        before = annotate(ruler, *tokens)
        change(ruler, RULERS[name][1])
        found.append((annotate(ruler, *tokens), ruler.to_bytes(exclude=["vocab"])))
        assert found[-1][0] != before
    assert found[0] == found[1]
    assert isinstance(ruler.matcher, CachedMatcher)


def test_a_matcher_that_somebody_has_put_in_is_called():
    ruler = make_ruler("cached_attribute_ruler")
    other = type("Other", (Matcher,), {"__call__": lambda *_, **__: []})
    ruler.matcher = other(ruler.vocab, validate=False)
    assert annotate(ruler, ("b", "NN"))[0][0][1] == 0


@pytest.mark.parametrize("index", [1, -2])
def test_an_index_beyond_the_pattern_is_spacys_error(index):
    pattern = {"patterns": [[{"TAG": "NN"}]], "attrs": {"LEMMA": "b"}, "index": index}
    ruler = make_ruler("cached_attribute_ruler", [*PATTERNS, pattern])
    with pytest.raises(ValueError, match="E1001"):
        annotate(ruler, ("b", "VB"), ("b", "NN"))


@pytest.mark.parametrize("name", [*RULERS, "trainable_lemmatizer"])
def test_factories_say_of_components_what_spacys_say(name):
    theirs, ours = map(Language.get_factory_meta, (name, f"cached_{name}"))
    assert ours.default_config == theirs.default_config
    assert ours.default_score_weights == theirs.default_score_weights
    assert (ours.assigns, ours.requires) == (theirs.assigns, theirs.requires)
    assert ours.retokenizes == theirs.retokenizes
