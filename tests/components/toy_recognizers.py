"""Small pipelines with token_ner, trained on a few sentences."""

from collections.abc import Callable, Iterable
from typing import Any

import spacy
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from thinc.api import fix_random_seed

from ..toy_ner import TRAIN, make_doc

WIDTH = 16
TOK2VEC = {
    "@architectures": "spacy.Tok2Vec.v2",
    "embed": {
        "@architectures": "spacy-hashembeds.MultiFewerHashEmbed.v1",
        "width": WIDTH,
        "num_hashes": 1,
        "attrs": ["NORM", "SHAPE"],
        "rows": [200, 50],
        "include_static_vectors": False,
        "seed": 9,
    },
    "encode": {
        "@architectures": "spacy-hashembeds.MaxoutWindowEncoder.v1",
        "width": WIDTH,
        "depth": 1,
        "window_size": 1,
        "maxout_pieces": 2,
    },
}
LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": WIDTH}
CLASSIFIER = "spacy-hashembeds.TokenClassifier.v1"


def make_pipeline(
    *, listens: bool = False, architecture: str = CLASSIFIER, **settings: Any
) -> Language:
    """Create an uninitialized pipeline."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    if listens:
        nlp.add_pipe("tok2vec", config={"model": TOK2VEC})
    model = {
        "@architectures": architecture,
        "tok2vec": LISTENER if listens else TOK2VEC,
    }
    if architecture == "spacy.Tagger.v2":
        model["normalize"] = True
    nlp.add_pipe("token_ner", config={"model": model, **settings})
    return nlp


def make_examples(nlp: Language, texts: Iterable[str] = TRAIN) -> list[Example]:
    """Create examples from texts in the format of `make_doc`."""
    golds = [make_doc(text, vocab=nlp.vocab) for text in texts]
    return [Example(copy_words(gold), gold) for gold in golds]


def copy_words(doc: Doc) -> Doc:
    spaces = [bool(token.whitespace_) for token in doc]
    return Doc(doc.vocab, words=[token.text for token in doc], spaces=spaces)


def cut(draw: Callable[..., Any], n: int, longest: int) -> list[tuple[int, int]]:
    """Draw consecutive pieces of a sequence, as starts and ends."""
    pieces, start = [], 0
    while start < n:
        end = start + draw(st.integers(1, min(longest, n - start)))
        pieces.append((start, end))
        start = end
    return pieces


def draw_entities(
    draw: Callable[..., Any], doc: Doc, labels: list[str], kinds: list[str]
) -> None:
    """Split a Doc into entities, blocked, missing and outside spans."""
    spans: dict[str, list[Span]] = {kind: [] for kind in labels + kinds}
    for start, end in cut(draw, len(doc), len(doc)):
        kind = draw(st.sampled_from(labels + kinds))
        spans[kind].append(Span(doc, start, end, kind if kind in labels else ""))
    ents = [span for label in labels for span in spans.pop(label)]
    doc.set_ents(ents, **spans)


def train(nlp: Language, texts: Iterable[str] = TRAIN, *, steps: int = 25) -> Language:
    """Initialize a pipeline and train it."""
    examples = make_examples(nlp, texts)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.02
    for _ in range(steps):
        nlp.update(examples, sgd=optimizer)
    return nlp


def get_entities(docs: Iterable[Doc]) -> list[list[tuple[int, int, str]]]:
    return [[(ent.start, ent.end, ent.label_) for ent in doc.ents] for doc in docs]


def annotate(nlp: Language, texts: Iterable[str] = TRAIN) -> list[Doc]:
    """Annotate the words of texts in the format of `make_doc`."""
    return list(nlp.pipe(eg.predicted for eg in make_examples(nlp, texts)))
