"""A small pipeline that reads features, and Docs that store them."""

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span, Token
from spacy.tokens.underscore import Underscore
from spacy.vocab import Vocab

from .acceleration.accelerate_pipelines import add, layer, tok2vec

FEATURES = ["_.mark", "spans.names"]
COLUMNS = {"attrs": ["NORM", *FEATURES], "rows": [50, 20, 20], "width": 16}


def make_nlp(monkeypatch, keep=FEATURES) -> Language:
    """Make a pipeline with random weights, whose config keeps these features."""
    monkeypatch.setattr(Underscore, "token_extensions", {})  # some can't be pickled
    Token.set_extension("mark", default=False)
    name = "spacy-hashembeds.MultiFewerHashEmbed.v1"
    embed = layer(name, **COLUMNS, include_static_vectors=False)
    nlp = add(spacy.blank("en"), tok2vec=tok2vec(embed=embed))
    nlp.initialize()
    nlp.config["corpora"]["dev"]["keep"] = keep
    return nlp


def make_doc(vocab: Vocab | None = None, *, is_marked: bool = True) -> Doc:
    """Make a gold Doc with two names. The second one may have features."""
    ents = ["B-PER", "O", "O", "B-LOC"]
    doc = Doc(vocab or Vocab(), words="Ann lives in Rome".split(), ents=ents)
    doc.spans["names"] = [Span(doc, 3, 4, "CITY")] * is_marked
    if is_marked:
        doc.user_data["._.", "mark", doc[3].idx, None] = True
    return doc


def make_docs() -> list[Doc]:
    """Make gold Docs in which only entities are marked."""
    docs = []
    for i in range(100):
        words = ["the", f"one{i}", "sees", f"other{i}"]
        doc = Doc(Vocab(), words=words, sent_starts=[True, *[False] * 3])
        place = 1 + 2 * (i % 2)
        doc.set_ents([Span(doc, place, place + 1, "A")])
        stored = {"mark": True, "cluster": np.int64(i % 3), "size": 1.5}
        for name, value in stored.items():
            doc.user_data["._.", name, doc[place].idx, None] = value
        doc.spans["names"] = [Span(doc, 1, 2, f"L{i % 50}")]
        docs.append(doc)
    return docs
