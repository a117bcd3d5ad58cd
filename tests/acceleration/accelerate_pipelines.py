"""Small trained pipelines for `spacy hashembeds accelerate`."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.lookups import Lookups
from spacy.ml.models import build_tagger_model
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry, set_dot_to_object
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

_WINDOWS = {"width": 16, "depth": 1, "window_size": 1}
#: Arguments of spaCy's architectures, and of a fake transformer.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "MultiHashEmbed": {
        **{"width": 16, "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE"]},
        **{"rows": [60, 30, 30, 30], "include_static_vectors": False},
    },
    "HashEmbedCNN": {
        **{**_WINDOWS, "maxout_pieces": 2, "embed_size": 60},
        **{"subword_features": True, "pretrained_vectors": None},
    },
    "MaxoutWindowEncoder": {**_WINDOWS, "maxout_pieces": 2},
    "MishWindowEncoder": _WINDOWS,
    "Tok2VecListener": {"width": 16},
    "Transformer": {"width": 16},
}


def layer(name: str, **arguments: Any) -> dict[str, Any]:
    """Return the config block of an architecture."""
    block = {"@architectures": name, **ARGUMENTS.get(name.split(".")[1], {})}
    return deepcopy(block | arguments)


cnn = partial(layer, "spacy.HashEmbedCNN.v2")
embed = partial(layer, "spacy.MultiHashEmbed.v2")
encoder = partial(layer, "spacy.MaxoutWindowEncoder.v2")
LISTENER = layer("spacy.Tok2VecListener.v1")
TRANSFORMER = layer("tests.Transformer.v1")


def tok2vec(**layers: dict[str, Any]) -> dict[str, Any]:
    return layer("spacy.Tok2Vec.v2", **{"embed": embed(), "encode": encoder()} | layers)


def old_tok2vec(prefix: str = "spacy", **arguments: Any) -> dict[str, Any]:
    """Return the Tok2Vec block of a spaCy 3.0 pipeline."""
    encode = layer(f"{prefix}.MaxoutWindowEncoder.v1", **arguments)
    first = layer("spacy.MultiHashEmbed.v1")
    return layer(f"{prefix}.Tok2Vec.v1", embed=first, encode=encode)


def add(nlp: Language, **layers: dict[str, Any]) -> Language:
    """Add components by factory, with the block of their tok2vec."""
    for factory, block in layers.items():
        model = block if factory == "tok2vec" else {"tok2vec": block}
        # the default excludes rare labels
        actions = {"min_action_freq": 1} if factory == "parser" else {}
        nlp.add_pipe(factory, config={"model": model, **actions})
    return nlp


def train(nlp: Language) -> Language:
    fix_random_seed(0)
    examples = [make_example(nlp, text) for text in SENTENCES]
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(8):
        nlp.update(examples, sgd=optimizer)
    return nlp


def make_example(nlp: Language, text: str) -> Example:
    words = text.split()
    tags, deps = (column.split() for column in SENTENCES[text])
    gold = Doc(
        nlp.vocab,
        words=words,
        spaces=[word != "." for word in words],
        tags=tags,
        pos=[POS[tag] for tag in tags],
        deps=deps,
        heads=[deps.index("ROOT")] * len(words),
        ents=[f"B-{NAMES[word]}" if word in NAMES else "O" for word in words],
    )
    gold.spans["sc"] = gold.ents
    gold.cats = {"HERE": float("Paris" in words), "AWAY": float("Paris" not in words)}
    return Example(nlp.make_doc(text), gold)


def make(**layers: dict[str, Any]) -> Language:
    return train(add(spacy.blank("xx"), **layers))


def make_shared() -> Language:
    """Make a tok2vec with several listeners, a copy of it, and components with data."""
    nlp = spacy.blank("en")
    nlp.tokenizer.add_special_case("Zürich", [{"ORTH": "Zür"}, {"ORTH": "ich"}])
    listeners = dict.fromkeys(("parser", "tagger", "ner", "spancat"), LISTENER)
    own = tok2vec(embed=embed(attrs=["SHAPE", "LOWER"], rows=[20, 50]))
    add(nlp, tok2vec=tok2vec(), **listeners, morphologizer=own)
    ruler = nlp.add_pipe("attribute_ruler")
    nlp.add_pipe("lemmatizer", config={"mode": "lookup"})
    scorer = {"@scorers": "spacy-hashembeds.seen_unseen_ner_scorer.v1", "train": None}
    entities = nlp.add_pipe("entity_ruler", config={"scorer": scorer})
    with nlp.select_pipes(disable=["lemmatizer"]):
        train(nlp)
    nlp.replace_listeners("tok2vec", "ner", ["model.tok2vec"])
    ruler.add([[{"TAG": "V"}]], {"POS": "VERB", "MORPH": "Number=Sing"})
    lookups = Lookups()
    lookups.add_table("lemma_lookup", {"lives": "live", "saw": "see"})
    nlp.get_pipe("lemmatizer").initialize(lookups=lookups)
    entities.add_patterns([{"label": "MISC", "pattern": "today", "id": "now"}])
    nlp.disable_pipe("morphologizer")
    nlp.meta["author"] = "Someone"
    return nlp


@registry.architectures("tests.Transformer.v1")
def make_transformer(width: int) -> Model:
    """Fake layer of another package."""
    make = registry.architectures.get("spacy.CharacterEmbed.v2")
    return make(width=width, rows=50, nM=4, nC=3, include_static_vectors=False)


@registry.architectures("tests.Closures.v1")
def build_closures(tok2vec: Model) -> Model:
    """Tagger with a separate forward function per layer."""
    model = build_tagger_model(tok2vec)
    for node in (model, *model.layers):
        node.replace_callbacks(partial(node._func), init=node.init)
    return model


def make_foreign() -> Language:
    """Foreign layers as tok2vec, as embedder and next to them, and a SpanFinder, whose
    last layer is a closure.
    """
    nlp = add(
        spacy.blank("xx"),
        tok2vec=TRANSFORMER,
        tagger=LISTENER,
        textcat=tok2vec(embed=TRANSFORMER),
        span_finder=cnn(),
    )
    closures = layer("tests.Closures.v1", tok2vec=tok2vec())
    nlp.add_pipe("morphologizer", config={"model": closures})
    train(nlp)
    nlp.disable_pipe("span_finder")
    return nlp


WIDTH = "${components.tok2vec.model.width}"
#: Variables in a config, by place.
VARIABLES = {
    "tok2vec.model.depth": "${vars.depth}",
    "tok2vec.model.embed_size": "${vars.size}",
    "tagger.model.tok2vec.width": WIDTH,
    "ner.model.hidden_width": WIDTH,
    "ner.model.tok2vec": "${components.tok2vec.model}",
    "morphologizer.model.tok2vec.embed.width": (
        "${components.morphologizer.model.tok2vec.encode.width}"
    ),
    "morphologizer.model.tok2vec.encode.width": WIDTH,
    "morphologizer.model.tok2vec.encode.depth": "${vars.depth}",
}


def read_variables() -> Config:
    own = tok2vec(embed=embed(attrs=["LOWER"], rows=[60]))
    nlp = spacy.blank("xx")
    add(nlp, tok2vec=cnn(), tagger=LISTENER, ner=cnn(), morphologizer=own)
    config = Config({"vars": {"depth": 1, "size": 60}, **nlp.config})
    for place, variable in VARIABLES.items():
        set_dot_to_object(config, f"components.{place}", variable)
    config.is_interpolated = False
    return config


def make_variables() -> Language:
    return train(spacy.util.load_model_from_config(read_variables(), auto_fill=True))


MAKERS: Mapping[str, Callable[[], Language]] = {
    "shared": make_shared,
    "foreign": make_foreign,
    "variables": make_variables,
    # one encoder per component
    "inside": partial(make, ner=cnn(), tagger=tok2vec()),
    # an embedder as the whole tok2vec
    "bare": partial(make, tok2vec=embed(), tagger=LISTENER),
}


def find_precisions(nlp: Language) -> dict[str, str]:
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
