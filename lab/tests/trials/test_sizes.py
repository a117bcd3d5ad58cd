"""Numbers of parameters equal numbers computed by hand."""

from typing import Any

import pytest
import spacy
from spacy.training import Example

from lab.trials.sizes import count_sizes

WIDTH = 8
TAGS = ["A", "B", "C"]

# Maxout of two concatenated tables with 3 pieces, and its layer normalization.
MIX = WIDTH * 3 * 2 * WIDTH + WIDTH * 3 + 2 * WIDTH
HASHED = (20 + 30) * WIDTH + MIX
# Maxout of a token and its two neighbors with 2 pieces, and its layer normalization.
ENCODER = WIDTH * 2 * 3 * WIDTH + WIDTH * 2 + 2 * WIDTH
SOFTMAX = WIDTH * len(TAGS) + len(TAGS)


STOCK, OURS = "spacy.MultiHashEmbed.v2", "spacy-hashembeds.MultiFewerHashEmbed.v1"


@pytest.mark.parametrize("name", [STOCK, OURS])
def test_a_layer_shared_through_listeners_counts_once(name):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")  # has no model
    embed = {"width": WIDTH, "attrs": ["NORM", "SHAPE"], "rows": [20, 30]}
    embed |= {"@architectures": name, "include_static_vectors": False}
    encode = {"width": WIDTH, "window_size": 1, "maxout_pieces": 2, "depth": 1}
    encode |= {"@architectures": "spacy.MaxoutWindowEncoder.v2"}
    tok2vec = {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": encode}
    nlp.add_pipe("tok2vec", config={"model": tok2vec})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": WIDTH}
    model = {"@architectures": "spacy.Tagger.v2", "tok2vec": listener}
    for tagger in ("tagger", "second"):
        nlp.add_pipe("tagger", name=tagger, config={"model": model})
    doc = spacy.tokens.Doc(nlp.vocab, words=["one", "two", "two"])
    nlp.initialize(lambda: [Example.from_dict(doc, {"tags": TAGS})])
    assert count_sizes(nlp) == {
        "embedding_parameters": HASHED,
        # without the encoder's Maxout layer
        "mixing_parameters": MIX,
        "pipeline_parameters": HASHED + ENCODER + 2 * SOFTMAX,
    }


def test_the_weights_of_a_bag_of_words_are_its_table():
    """The table has a row for each hash, a column for each class, and the biases."""
    nlp = spacy.blank("en")
    model = {"@architectures": "spacy.TextCatBOW.v3", "exclusive_classes": True}
    model |= {"ngram_size": 1, "no_output_layer": False, "length": 64}
    pipe: Any = nlp.add_pipe("textcat", config={"model": model})
    for label in TAGS:
        pipe.add_label(label)
    nlp.initialize()
    assert list(count_sizes(nlp).values()) == [65 * len(TAGS), 0, 65 * len(TAGS)]
