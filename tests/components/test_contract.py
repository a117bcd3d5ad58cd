"""Contracts of all registered components, and of cached ones."""

import copy
import pickle
from collections.abc import Iterable
from importlib.metadata import distribution
from typing import Any

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.matcher import Matcher
from spacy.tokens import Doc, Span

from spacy_hashembeds.components.cached_edit_trees import CachedTrees

from ..processes import call_in_threads_and_a_fork
from . import toy_recognizers
from .toy_caches import CACHED, make

#: Including a single token, and no token.
TEXTS = ["Anna lives in Paris", "", "gon na acme long mice was houses s good", "Acme"]
NAMES = [
    *("cached_attribute_ruler", "cached_entity_ruler", "cached_span_ruler"),
    *("cached_lemmatizer", "cached_trainable_lemmatizer", "token_ner"),
]


@pytest.fixture(scope="module", params=NAMES)
def nlp(request) -> Language:
    if request.param == "token_ner":
        settings = {"decoding": "greedy", "spans_key": "found"}
        return toy_recognizers.train(toy_recognizers.make_pipeline(**settings))
    return make(request.param)


def make_docs(nlp: Language, texts: Iterable[str] = TEXTS) -> list[Doc]:
    return [
        Doc(nlp.vocab, words=words, tags=["NN"] * len(words), pos=["NOUN"] * len(words))
        for words in map(str.split, texts)
    ]


def to_bytes(docs: Iterable[Doc]) -> list[bytes]:
    """Return all annotation of Docs."""
    return [doc.to_bytes() for doc in docs]


def annotate(nlp: Language) -> list[bytes]:
    return to_bytes(nlp.pipe(make_docs(nlp)))


def test_all_registered_components_are_tested():
    entry_points = distribution("spacy-hashembeds").entry_points
    names = {e.name for e in entry_points if e.group == "spacy_factories"}
    assert names == {*NAMES}


def test_saved_and_copied_pipelines_annotate_equally(nlp, tmp_path):
    expected = annotate(nlp)
    assert expected != to_bytes(make_docs(nlp))
    nlp.to_disk(tmp_path)
    made = spacy.util.load_model_from_config(nlp.config)
    for other in (
        spacy.load(tmp_path),
        made.from_bytes(nlp.to_bytes()),
        pickle.loads(pickle.dumps(nlp)),
    ):
        assert annotate(other) == expected


def test_threads_and_forks_annotate_equally(nlp):
    found = call_in_threads_and_a_fork(annotate, nlp)
    assert found == [annotate(nlp)] * 17


def test_memory_zones(nlp):
    found = []
    for _ in range(2):  # strings of the first zone are freed in the second
        with nlp.memory_zone():
            docs = nlp.pipe(make_docs(nlp, ["glorps gon na"]))
            found += [doc.to_json() for doc in docs]
        assert not {"glorps", "glorp"} & set(nlp.vocab.strings)
    docs = nlp.pipe(make_docs(nlp, ["glorps gon na"]))
    assert found == [doc.to_json() for doc in docs] * 2


def test_no_docs(nlp):
    assert list(nlp.pipe([])) == []


# Components with a cache.


#: Words and tags inside and outside of patterns and tables.
WORDS = [*"gon na GON to b NA long Acme Inc acme Long mice was s".split(), "\n", "é"]
TAGS = {"NN": "NOUN", "VB": "VERB", "VBZ": "VERB", "TO": "PART", "": "X"}


@pytest.fixture(scope="module", params=CACHED)
def both(request) -> list[Language]:
    """Pipelines with spaCy's component and with the cached one."""
    return [make(request.param), make(f"cached_{request.param}")]


@given(tokens=st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from([*TAGS]))))
def test_annotation_equals_spacys(both, tokens):
    words, tags = zip(*tokens, strict=True) if tokens else ((), ())
    found = []
    for nlp in both:
        doc = Doc(nlp.vocab, words=words, tags=tags, pos=[TAGS[tag] for tag in tags])
        doc.ents = [Span(doc, 0, 1, "GIVEN")] if words else []
        found.append(nlp(doc).to_bytes())
    assert found[0] == found[1]


def test_saved_files_and_settings_equal_spacys(both):
    (name,) = both[0].pipe_names
    theirs, ours = (nlp.get_pipe(name) for nlp in both)
    assert isinstance(ours, type(theirs))
    assert ours.to_bytes() == theirs.to_bytes()
    old, new = map(Language.get_factory_meta, (name, f"cached_{name}"))
    mode = {"mode": None} if "mode" in old.default_config else {}
    assert new.default_config == old.default_config | mode
    for setting in "default_score_weights assigns requires retokenizes".split():
        assert getattr(new, setting) == getattr(old, setting)


def load(pipe: Any) -> None:
    other = make(pipe.name, CACHED[pipe.name][2]).get_pipe(pipe.name)
    pipe.from_bytes(other.to_bytes())
    if pipe.name == "lemmatizer":
        pipe.cache = {}  # not cleared by spaCy


def clear(ruler: Any) -> None:
    ruler.clear()
    ruler.add_patterns(copy.deepcopy(CACHED[ruler.name][2]))


def add_pattern(ruler: Any) -> None:
    pattern = {"patterns": [[{"LOWER": "long"}]], "attrs": {"DEP": "dep"}}
    ruler.add_patterns([pattern])


def replace_method(lemmatizer: Any) -> None:
    lemmatizer.lemmatize = lambda _: ["rat"]


def switch_mode(lemmatizer: Any) -> None:
    lemmatizer._mode, lemmatizer.lemmatize = "lookup", lemmatizer.lookup_lemmatize


CHANGES = [
    *((name, load) for name in CACHED),
    *((name, clear) for name in ("attribute_ruler", "entity_ruler", "span_ruler")),
    ("attribute_ruler", add_pattern),
    *(("lemmatizer", change) for change in (replace_method, switch_mode)),
]


@pytest.mark.parametrize(("name", "change"), CHANGES)
def test_changes_invalidate(name, change):
    found = []
    for factory in (name, f"cached_{name}"):
        nlp = make(factory)
        before, pipe = annotate(nlp), nlp.get_pipe(name)
        change(pipe)
        found += [[before, annotate(nlp), pipe.to_bytes()]]
        assert found[-1][1] != before
    assert found[0] == found[1]
    # still cached
    assert isinstance(getattr(pipe, "trees", None), CachedTrees | None)
    if name.endswith("ruler"):
        assert pipe.matcher.find_table()


# Rulers.


def test_custom_matchers_are_kept():
    nlp = make("cached_attribute_ruler")
    other = type("Other", (Matcher,), {"__call__": lambda *_, **__: []})
    nlp.get_pipe("attribute_ruler").matcher = other(nlp.vocab, validate=False)
    assert annotate(nlp) == to_bytes(make_docs(nlp))


@pytest.mark.parametrize("index", [1, -2])
def test_indices_outside_of_patterns_raise_spacys_error(index):
    pattern = {"patterns": [[{"TAG": "NN"}]], "attrs": {"LEMMA": "b"}, "index": index}
    with pytest.raises(ValueError, match="E1001"):
        annotate(make("cached_attribute_ruler", [pattern]))
