"""Configs of users, and a small corpus for all components."""

from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path

import numpy
import spacy
from spacy.cli.init_config import init_config
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.util import dot_to_object, load_config_from_str, load_model_from_config
from spacy.vocab import Vocab

from spacy_hashembeds.architectures.descriptions import get_descriptions
from spacy_hashembeds.tools.config.configure import configure
from spacy_hashembeds.tools.config.edits import Edits

HASH = "spacy-hashembeds.MultiFewerHashEmbed.v1"
LOOKUP = "spacy-hashembeds.MultiEmbed.v1"
WEIGHTED = "spacy-hashembeds.MultiWeightedHashEmbed.v1"
ENCODER = "spacy-hashembeds.MaxoutWindowEncoder.v1"
ADAM = "spacy-hashembeds.Adam.v1"
NAMES = {each.name: each.architecture for each in get_descriptions()}

WORDS = "Anna sees the small dog and Ben sees Paris with the old cat".split()

EMBED = "components.tok2vec.model.embed"
#: What `spacy init config` writes there.
MULTI_HASH = "spacy.MultiHashEmbed.v2"
ATTRS = '"NORM", "PREFIX", "SUFFIX", "SHAPE"'
ROWS = "rows = [5000, 1000, 2500, 2500]"
FREEZE_NER = ("frozen_components = []", 'frozen_components = ["ner"]')

#: Overrides for a short training.
SMALL = {
    "training.max_steps": 2,
    "training.eval_frequency": 1,
    "components.tok2vec.model.encode.width": 16,
    "components.tok2vec.model.encode.depth": 1,
}

configure_hashed = partial(configure, embedder="multi_fewer_hash_embed")

#: A pipeline with HashEmbedCNN.
CNN = """
[nlp]
lang = "en"
pipeline = ["tok2vec","ner"]

[components]

[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
@architectures = "spacy.HashEmbedCNN.v2"
width = 32
depth = 2
embed_size = 200
window_size = 1
maxout_pieces = 3
subword_features = true
pretrained_vectors = null

[components.ner]
factory = "ner"

[components.ner.model]
hidden_width = ${components.tok2vec.model.embed_size}

[components.ner.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = ${components.tok2vec.model.width}
"""


def write_base(path: Path, *pipeline: str, optimize: str = "efficiency") -> Path:
    """Write the config that `spacy init config` writes."""
    path.write_text(_make_base(pipeline, optimize))
    return path


@cache
def _make_base(pipeline: Sequence[str], optimize: str) -> str:
    config = init_config(lang="en", pipeline=list(pipeline), optimize=optimize)
    return config.to_str(interpolate=False)


def edit_base(path: Path, *pairs: tuple[str, str]) -> Path:
    """Replace all occurrences in the text of a config."""
    text = path.read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return path


def write_made(path: Path, made: Edits) -> Path:
    path.write_text(made.text)
    return path


def get_embed(made: Edits) -> dict:
    """Return the embedder's block, with variables."""
    return dot_to_object(made.config, EMBED)


def write_words(path: Path, words: Sequence[str]) -> Path:
    DocBin(docs=[Doc(Vocab(), words=words)]).to_disk(path)
    return path


def write_corpus(path: Path) -> Path:
    """Write a corpus with annotation for every component."""
    docs, vocab = [], Vocab()
    for i in range(40):
        words = WORDS[i % 5 :]
        tags = {"Paris": "B-LOC", "Anna": "B-PER", "Ben": "B-PER"}
        doc = Doc(
            vocab,
            words=words,
            lemmas=words,
            tags=[f"T{len(word) % 3}" for word in words],
            pos=["NOUN" if word in tags else "X" for word in words],
            morphs=["Number=Sing" if len(word) > 3 else "" for word in words],
            heads=[1] * len(words),
            deps=["nsubj", "ROOT", *("obj" for _ in words[2:])],
            ents=[tags.get(word, "O") for word in words],
        )
        doc.cats = {"A": float(i % 2), "B": float(1 - i % 2)}
        doc.spans["sc"] = [Span(doc, 0, 2, "S")]
        docs.append(doc)
    DocBin(docs=docs, store_user_data=True).to_disk(path)
    return path


def write_vectors(path: Path) -> Path:
    nlp = spacy.blank("en")
    for i, word in enumerate(WORDS):
        nlp.vocab.set_vector(word, numpy.full(4, i, dtype="float32"))
    nlp.to_disk(path)
    return path


def build(made: Edits) -> Language:
    """Build the pipeline from the text of a config."""
    config = load_config_from_str(made.text)
    assert config == made.config
    return load_model_from_config(config, auto_fill=True)
