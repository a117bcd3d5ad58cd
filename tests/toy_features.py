"""A small pipeline that reads features, and Docs that have them."""

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span, Token
from spacy.tokens.underscore import Underscore
from spacy.vocab import Vocab

from .acceleration.accelerate_pipelines import add, layer, tok2vec

FEATURES = ["_.mark", "spans.names"]
COLUMNS = {"attrs": ["NORM", *FEATURES], "rows": [50, 20, 20], "width": 16}


def make_nlp(monkeypatch, keep=FEATURES) -> Language:
    """A pipeline with random weights, whose config keeps these features."""
    monkeypatch.setattr(Underscore, "token_extensions", {})  # others may not pickle
    Token.set_extension("mark", default=False)
    name = "spacy-hashembeds.MultiFewerHashEmbed.v1"
    embed = layer(name, **COLUMNS, include_static_vectors=False)
    nlp = add(spacy.blank("en"), tok2vec=tok2vec(embed=embed))
    nlp.initialize()
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
