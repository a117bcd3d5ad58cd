"""Small trained pipelines of every make, for `spacy hashembeds accelerate`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import spacy
from spacy.language import Language
from spacy.lookups import Lookups
from spacy.ml.models import build_tagger_model
from spacy.training import Example
from spacy.util import registry
from spacy.vectors import Vectors
from thinc.api import Config, Model, fix_random_seed

from spacy_hashembeds.training.annotation import walk_layers

SENTENCES = {
    "Anna lives in Paris today .": ("N V P N A .", "SBJ ROOT ADV OBJ ADV P"),
    "nobody saw Carl there .": ("N V N A .", "SBJ ROOT OBJ ADV P"),
    "Rome and Paris met Anna .": ("N C N V N .", "SBJ ADV ADV ROOT OBJ P"),
    "today Carl lives .": ("A N V .", "ADV SBJ ROOT P"),
}
POS = {"N": "NOUN", "V": "VERB", "P": "ADP", "A": "ADV", "C": "CCONJ", ".": "PUNCT"}
NAMES = {"Anna": "PER", "Carl": "PER", "Paris": "LOC", "Rome": "LOC"}
TEXTS = [
    *SENTENCES,
    *("", " ", "Anna\n\nsaw  nobody", "Zürich и Δήμος 東京 👍 met Berta in Rome."),
    *("Carl", "lives lives lives", "in 12.5 Paris, Anna's"),
]

ATTRS = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
CNN_ARGUMENTS: dict[str, Any] = {
    "width": 16,
    "depth": 1,
    "embed_size": 60,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
    "pretrained_vectors": None,
}
EMBED_ARGUMENTS: dict[str, Any] = {
    "width": 16,
    "attrs": ATTRS,
    "rows": [60, 30, 30, 30],
    "include_static_vectors": False,
}
SCORER = "spacy-hashembeds.seen_unseen_ner_scorer.v1"
LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": 16}


def cnn(version: str = "v2", **arguments: Any) -> dict[str, Any]:
    name = f"spacy.HashEmbedCNN.{version}"
    return {"@architectures": name, **CNN_ARGUMENTS, **arguments}


def tok2vec(version: str = "v2", **arguments: Any) -> dict[str, Any]:
    name = f"spacy.MultiHashEmbed.{version}"
    return {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {"@architectures": name, **EMBED_ARGUMENTS, **arguments},
        "encode": {
            "@architectures": "spacy.MaxoutWindowEncoder.v2",
            **{"width": 16, "depth": 1, "window_size": 1, "maxout_pieces": 2},
        },
    }


def old_tok2vec(prefix: str = "spacy", **arguments: Any) -> dict[str, Any]:
    """Make a Tok2Vec as pipelines of spaCy 3.0 have it."""
    layer = tok2vec("v1")
    encode = {**layer["encode"], "@architectures": f"{prefix}.MaxoutWindowEncoder.v1"}
    name = f"{prefix}.Tok2Vec.v1"
    return {**layer, "@architectures": name, "encode": {**encode, **arguments}}


def without_our_encoder(layer: dict[str, Any]) -> dict[str, Any]:
    """Change a Tok2Vec to have an encoder that we have no layer for."""
    arguments = {"width": 16, "depth": 1, "window_size": 1}
    encode = {"@architectures": "spacy.MishWindowEncoder.v2", **arguments}
    return {**layer, "encode": encode}


def add(
    nlp: Language,
    factory: str,
    layer: dict[str, Any],
    *,
    name: str | None = None,
    **options: Any,
) -> None:
    nlp.add_pipe(factory, name=name, config={"model": {"tok2vec": layer}, **options})


def add_vectors(nlp: Language) -> None:
    """Give some words a vector, in a table without an empty row."""
    words = ["Anna", "Paris", "lives", "in", "there"]
    data = numpy.random.RandomState(0).normal(size=(len(words), 7)).astype("f")
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=data, keys=words)


def train(nlp: Language, steps: int = 8) -> Language:
    fix_random_seed(0)
    examples = [make_example(nlp, text) for text in SENTENCES]
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(steps):
        nlp.update(examples, sgd=optimizer)
    return nlp


def make_example(nlp: Language, text: str) -> Example:
    tags, deps = (column.split() for column in SENTENCES[text])
    doc = nlp.make_doc(text)
    spans = [
        (token.idx, token.idx + len(token), NAMES[token.text])
        for token in doc
        if token.text in NAMES
    ]
    annotation = {
        "tags": tags,
        "pos": [POS[tag] for tag in tags],
        "deps": deps,
        "heads": [deps.index("ROOT")] * len(doc),
        "entities": spans,
        "spans": {"sc": spans},
        "cats": {"HERE": float("Paris" in text), "AWAY": float("Paris" not in text)},
    }
    return Example.from_dict(doc, annotation)


def make(*pipes: tuple[str, dict[str, Any]]) -> Language:
    """Train a pipeline of factories, each with its tok2vec (of `tok2vec` its model)."""
    nlp = spacy.blank("xx")
    for factory, layer in pipes:
        if factory == "tok2vec":
            nlp.add_pipe(factory, config={"model": layer})
        else:
            add(nlp, factory, layer)
    return train(nlp)


def make_shared() -> Language:
    """A tok2vec that many listen to, and components with data of their own."""
    nlp = spacy.blank("en")
    nlp.tokenizer.add_special_case("Zürich", [{"ORTH": "Zür"}, {"ORTH": "ich"}])
    nlp.add_pipe("tok2vec", config={"model": tok2vec()})
    add(nlp, "parser", LISTENER, min_action_freq=1)
    for name in ("tagger", "ner", "spancat"):
        add(nlp, name, LISTENER)
    add(nlp, "morphologizer", tok2vec(attrs=["SHAPE", "LOWER"], rows=[20, 50]))
    ruler = nlp.add_pipe("attribute_ruler")
    nlp.add_pipe("lemmatizer", config={"mode": "lookup"})
    scorer = {"@scorers": SCORER, "train": None}
    entities = nlp.add_pipe("entity_ruler", config={"scorer": scorer})
    with nlp.select_pipes(disable=["lemmatizer"]):
        train(nlp)
    ruler.add([[{"TAG": "V"}]], {"POS": "VERB", "MORPH": "Number=Sing"})
    lookups = Lookups()
    lookups.add_table("lemma_lookup", {"lives": "live", "saw": "see"})
    nlp.get_pipe("lemmatizer").initialize(lookups=lookups)
    entities.add_patterns([{"label": "MISC", "pattern": "today", "id": "now"}])
    nlp.disable_pipe("morphologizer")
    nlp.meta["author"] = "A stranger"
    return nlp


def make_replaced() -> Language:
    nlp = make(("tok2vec", tok2vec()), ("tagger", LISTENER), ("ner", LISTENER))
    nlp.replace_listeners("tok2vec", "ner", ["model.tok2vec"])
    return nlp


def make_bare() -> Language:
    """An embedding that is a whole tok2vec, without an encoder."""
    return make(("tok2vec", tok2vec()["embed"]), ("tagger", LISTENER))


@registry.architectures("tests.Closures.v1")
def build_closures(tok2vec: Model) -> Model:
    """A tagger whose layers have forward functions that are made anew for each."""
    model = build_tagger_model(tok2vec)
    for node in (model, *model.layers):
        node.replace_callbacks(partial(node._func), init=node.init)
    return model


def make_closures() -> Language:
    """Strangers' layers, and spaCy's SpanFinder, whose last one is a closure."""
    nlp = spacy.blank("xx")
    for name in ("span_finder", "spancat", "tagger"):
        add(nlp, name, tok2vec())
    layer = {"@architectures": "tests.Closures.v1", "tok2vec": tok2vec()}
    nlp.add_pipe("morphologizer", config={"model": layer})
    train(nlp)
    nlp.disable_pipe("span_finder")
    return nlp


def read_variables() -> Config:
    """Read a config as people write it, with variables for what is there already."""
    width = "${components.tok2vec.model.width}"
    ner = {"@architectures": "spacy.TransitionBasedParser.v2", "state_type": "ner"}
    ner |= {"extra_state_tokens": False, "maxout_pieces": 2, "hidden_width": width}
    layer = tok2vec(attrs=["LOWER"], rows=[60])
    layer["embed"]["width"] = "${components.morphologizer.model.tok2vec.encode.width}"
    layer["encode"] |= {"width": width, "depth": "${vars.depth}"}
    models = {
        "tok2vec": cnn(depth="${vars.depth}", embed_size="${vars.size}"),
        "tagger": {
            "@architectures": "spacy.Tagger.v2",
            "tok2vec": {**LISTENER, "width": width},
        },
        "ner": {**ner, "tok2vec": "${components.tok2vec.model}"},
        "morphologizer": {"@architectures": "spacy.Tagger.v2", "tok2vec": layer},
    }
    config = {
        "vars": {"depth": 1, "size": 60},
        "nlp": {"lang": "xx", "pipeline": [*models]},
        "components": {
            name: {"factory": name, "model": model} for name, model in models.items()
        },
    }
    return Config(config, is_interpolated=False)


def make_variables() -> Language:
    return train(spacy.util.load_model_from_config(read_variables(), auto_fill=True))


MAKERS: dict[str, Callable[[], Language]] = {
    "shared": make_shared,
    "inside": lambda: make(("ner", cnn()), ("tagger", tok2vec())),
    "replaced": make_replaced,
    "bare": make_bare,
    "closures": make_closures,
    "variables": make_variables,
}


def find_precisions(nlp: Language) -> dict[str, str]:
    """Find what the products of each component's encoder are computed of."""
    return {
        name: node.attrs["weights"].precision
        for name, node in walk_layers(nlp)
        if "weights" in node.attrs
    }


def read_files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
