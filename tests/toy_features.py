"""A small pipeline that reads features, and Docs that have them."""

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span, Token
from spacy.tokens.underscore import Underscore
from spacy.vocab import Vocab

from .acceleration.accelerate_pipelines import (
    LISTENER,
    SENTENCES,
    add,
    layer,
    make_example,
    tok2vec,
)

FEATURES = ["_.mark", "spans.names"]
EMBED = layer(
    "spacy-hashembeds.MultiFewerHashEmbed.v1",
    **{"attrs": ["NORM", *FEATURES], "rows": [50, 20, 20], "width": 16},
    include_static_vectors=False,
)


def register(monkeypatch) -> None:
    """Have the extension attribute, and none that can't be sent to processes."""
    monkeypatch.setattr(Underscore, "token_extensions", {})
    Token.set_extension("mark", default=False)


def make_nlp(keep=FEATURES) -> Language:
    """A pipeline with random weights, whose config keeps these features."""
    nlp = add(spacy.blank("en"), tok2vec=tok2vec(embed=EMBED), tagger=LISTENER)
    nlp.initialize(lambda: [make_example(nlp, text) for text in SENTENCES])
    W = nlp.get_pipe("tagger").model.get_ref("softmax").get_param("W")
    W[...] = np.random.default_rng(0).normal(size=W.shape)
    nlp.config["corpora"]["dev"]["keep"] = keep
    return nlp


def make_doc(vocab: Vocab | None = None, *, is_marked: bool = True) -> Doc:
    """A gold Doc with two names, of which the second may have features."""
    ents = ["B-PER", "O", "O", "B-LOC"]
    doc = Doc(vocab or Vocab(), words="Ann lives in Rome".split(), ents=ents)
    doc.spans["names"] = [Span(doc, 3, 4, "CITY")] * is_marked
    if is_marked:
        doc.user_data["._.", "mark", doc[3].idx, None] = True
    return doc
