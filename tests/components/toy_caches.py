"""Small pipelines with a component of spaCy, or the cached equivalent."""

import copy
from collections.abc import Callable
from typing import Any

import spacy
from spacy.language import Language
from spacy.lookups import Lookups
from spacy.tokens import Doc
from spacy.training import Example

#: Patterns as in published pipelines.
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
NEW_LEMMAS = [PATTERNS[0] | {"attrs": {"LEMMA": "new"}}]
ENTITY_PATTERNS = [
    {"label": "ORG", "pattern": "Acme Inc"},
    {"label": "ORG", "pattern": [{"LOWER": "acme"}], "id": "acme"},
    {"label": "PER", "pattern": [{"IS_TITLE": True}, {"LOWER": {"IN": ["b", "long"]}}]},
    {"label": "LOC", "pattern": [{"LOWER": "gon"}, {"LOWER": "na", "OP": "*"}]},
]
ENGLISH = {
    "lemma_rules": {"noun": [["s", ""], ["ies", "y"]], "verb": [["ing", "e"]]},
    "lemma_exc": {"noun": {"mice": ["mouse"]}, "verb": {"was": ["be"]}},
    "lemma_index": {"noun": ["house", "mouse", "pony"], "verb": ["bake", "be"]},
}
RATS = {**ENGLISH, "lemma_exc": {"noun": {"mice": ["rat"]}}}
FORMS = {"mice": "mouse", "was": "be", "houses": "house", "Acme": "acme", "s": "t"}


def initialize(lemmatizer: Any, tables: dict[str, Any]) -> None:
    lookups = Lookups()
    for name, table in copy.deepcopy(tables).items():
        lookups.add_table(name, table)
    lemmatizer.initialize(lookups=lookups)


def add_patterns(ruler: Any, patterns: list[dict[str, Any]]) -> None:
    ruler.add_patterns(copy.deepcopy(patterns))


def train(lemmatizer: Any, forms: dict[str, str]) -> None:
    docs = [Doc(lemmatizer.vocab, words=list(forms)) for _ in range(3)]
    lemmas = {"lemmas": list(forms.values())}
    examples = [Example.from_dict(doc, lemmas) for doc in docs]
    lemmatizer.initialize(lambda: examples)
    optimizer = lemmatizer.create_optimizer()
    for _ in range(15):
        lemmatizer.update(examples, sgd=optimizer, drop=0.0)


#: By spaCy's component name: a function that fills the component, its content, and
#: content that changes the annotation of `TEXTS`.
CACHED: dict[str, tuple[Callable[[Any, Any], None], Any, Any]] = {
    "attribute_ruler": (add_patterns, PATTERNS, NEW_LEMMAS),
    "entity_ruler": (add_patterns, ENTITY_PATTERNS, ENTITY_PATTERNS[2:]),
    "span_ruler": (add_patterns, ENTITY_PATTERNS, ENTITY_PATTERNS[2:]),
    "lemmatizer": (initialize, ENGLISH, RATS),
    "trainable_lemmatizer": (train, FORMS, FORMS | {"mice": "micro", "s": "u"}),
}
CONFIGS = {
    "span_ruler": {"annotate_ents": True},
    "trainable_lemmatizer": {"min_tree_freq": 1},
}


def make(factory: str, content: Any = None, **config: Any) -> Language:
    """Create a pipeline with one component, filled from `CACHED` or `content`."""
    spacy.util.fix_random_seed(0)
    nlp, name = spacy.blank("en"), factory.removeprefix("cached_")
    config = CONFIGS.get(name, {}) | config
    pipe = nlp.add_pipe(factory, name=name, config=config)
    fill, usual, _ = CACHED[name]
    fill(pipe, usual if content is None else content)
    return nlp
