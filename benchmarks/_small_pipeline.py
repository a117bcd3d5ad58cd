"""A pipeline as spaCy's published small ones: four components on one tok2vec.

What they learn is made up, from the words alone: how long a parser takes hangs on the
number of words, not on whether a tree is true.
"""

from collections.abc import Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ._embedders import WIDTH
from ._pipelines import make_pipeline, make_trained, train

#: The letters of words that others hang on.
LONG = 4

_TAGS = {"X": "UPPER", "x": "LOWER", "d": "DIGIT"}

#: Beside the NER that each pipeline of the benchmark has, with settings. A parser
#: passes over rare dependencies, which in a tiny corpus are all of them.
_COMPONENTS: dict[str, dict[str, Any]] = {
    "tagger": {},
    "parser": {"min_action_freq": 1},
    "trainable_lemmatizer": {},
}


def make_small_pipeline(name: str, vocab: Vocab) -> Language:
    """Make a tagger, a parser, an NER and a lemmatizer that listen to one tok2vec.

    name (str): The name of the contender.
    """
    nlp = make_pipeline(name, vocab)
    for component, settings in _COMPONENTS.items():
        config: Any = nlp.get_factory_meta(component).default_config
        model = {**config["model"]}
        model["tok2vec"] = {
            "@architectures": "spacy.Tok2VecListener.v1",
            "width": WIDTH,
            "upstream": "tok2vec",
        }
        nlp.add_pipe(component, config={"model": model, **settings})
    return nlp


def train_small_pipeline(name: str, docs: Sequence[Doc], steps: int) -> Language:
    """Train a contender for some steps."""
    return train(name, list(map(make_up, docs)), steps, make_small_pipeline)


def copy_small_pipeline(name: str, source: Language) -> Language:
    """Make a pipeline that has the labels and weights of another."""
    return make_trained(name, source, make_small_pipeline)


def make_up(doc: Doc) -> Doc:
    """Copy a doc with its entities, and with tags, a tree and lemmas made up."""
    heads = _make_up_heads([len(token) for token in doc])
    return Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        tags=[_TAGS.get(token.shape_[0], "OTHER") for token in doc],
        heads=heads,
        deps=[_name_dependency(head - i) for i, head in enumerate(heads)],
        lemmas=[token.lower_.removesuffix("s") for token in doc],
        ents=[f"{t.ent_iob_}-{t.ent_type_}" if t.ent_type_ else "O" for t in doc],
    )


def _make_up_heads(lengths: Sequence[int]) -> list[int]:
    """Hang each word on the last long one before it. The first of these is the root."""
    head = next((i for i, length in enumerate(lengths) if length >= LONG), 0)
    heads = []
    for i, length in enumerate(lengths):
        heads.append(head)
        if length >= LONG:
            head = i
    return heads


def _name_dependency(distance: int) -> str:
    if distance == 0:
        return "ROOT"
    return "before" if distance < 0 else "after"
