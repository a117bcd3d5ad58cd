"""Parameters, counted by hand."""

from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.training import Example

from lab.trials.sizes import (
    count_embedding_parameters,
    count_mixing_parameters,
    count_pipeline_parameters,
    find_embeddings,
)

WIDTH = 8
WORDS = ["one", "two", "two"]  # two norms, and one shape: xxx
TAGS = ["A", "B", "C"]

# Maxout of two concatenated tables with 3 pieces, and its layer normalization.
MIX = WIDTH * 3 * 2 * WIDTH + WIDTH * 3 + 2 * WIDTH
HASHED = (20 + 30) * WIDTH + MIX
# Maxout of a token and its two neighbours with 2 pieces, and its layer normalization.
ENCODER = WIDTH * 2 * 3 * WIDTH + WIDTH * 2 + 2 * WIDTH
SOFTMAX = WIDTH * len(TAGS) + len(TAGS)


STOCK, OURS = "spacy.MultiHashEmbed.v2", "spacy-hashembeds.MultiFewerHashEmbed.v1"


def make_hash_embed(name: str, *, has_vectors: bool = False) -> dict[str, Any]:
    return {
        "@architectures": name,
        "width": WIDTH,
        "attrs": ["NORM", "SHAPE"],
        "rows": [20, 30],
        "include_static_vectors": has_vectors,
    }


def make_tok2vec(embed: dict[str, Any]) -> dict[str, Any]:
    return {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": embed,
        "encode": {
            "@architectures": "spacy.MaxoutWindowEncoder.v2",
            "width": WIDTH,
            "window_size": 1,
            "maxout_pieces": 2,
            "depth": 1,
        },
    }


def add_tagger(nlp: Language, name: str, tok2vec: dict[str, Any]) -> None:
    model = {"@architectures": "spacy.Tagger.v2", "tok2vec": tok2vec}
    nlp.add_pipe("tagger", name=name, config={"model": model})


def initialize(nlp: Language) -> Language:
    doc = spacy.tokens.Doc(nlp.vocab, words=WORDS)
    nlp.initialize(lambda: [Example.from_dict(doc, {"tags": TAGS})])
    return nlp


@pytest.mark.parametrize("name", [STOCK, OURS])
def test_a_layer_shared_through_listeners_counts_once(name):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")  # has no model
    nlp.add_pipe("tok2vec", config={"model": make_tok2vec(make_hash_embed(name))})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": WIDTH}
    add_tagger(nlp, "tagger", listener)
    add_tagger(nlp, "second", listener)
    initialize(nlp)
    assert len(find_embeddings(nlp)) == 1
    assert count_embedding_parameters(nlp) == HASHED
    # of the encoder's Maxout layer, nothing
    assert count_mixing_parameters(nlp) == MIX
    assert count_pipeline_parameters(nlp) == HASHED + ENCODER + 2 * SOFTMAX


def test_the_weights_of_a_bag_of_words_are_its_table():
    """A row for each n-gram's hash, in it one number for each class; and the biases."""
    nlp = spacy.blank("en")
    model = {"@architectures": "spacy.TextCatBOW.v3", "exclusive_classes": True}
    model |= {"ngram_size": 1, "no_output_layer": False, "length": 64}
    pipe: Any = nlp.add_pipe("textcat", config={"model": model})
    for label in TAGS:
        pipe.add_label(label)
    nlp.initialize()
    assert find_embeddings(nlp) == []
    assert count_mixing_parameters(nlp) == 0
    assert count_embedding_parameters(nlp) == 64 * len(TAGS) + len(TAGS)
    assert count_pipeline_parameters(nlp) == count_embedding_parameters(nlp)
