"""Annotation by components ahead of another, whose embedder counts it; Docs without."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import _pipe
from spacy.vocab import Vocab
from thinc.api import Model
from thinc.types import Ints2d

#: The attributes that components set. A norm is there before, but may be changed.
SETTABLE = (
    *("NORM", "LEMMA", "POS", "TAG", "MORPH", "DEP", "HEAD", "SENT_START"),
    *("ENT_IOB", "ENT_TYPE", "ENT_ID", "ENT_KB_ID"),
)
#: How factories write some of these.
_OTHER_NAMES = {"IS_SENT_START": "SENT_START", "ENT_KB_ID_": "ENT_KB_ID"}


def find_settable(pipeline: Sequence[str], component: str | None) -> Sequence[str]:
    """Find the attributes that a component may read as others, ahead of it, set them:
    of these a corpus says nothing, which is read before they do.
    """
    # what a factory says that it assigns is not all, and a ruler's says nothing
    return SETTABLE if component in pipeline[1:] else ()


class Annotation(NamedTuple):
    """Setters of attributes of the Docs that training gives to a component."""

    #: Those among [training] annotating_components, ahead of it, that can be run before
    #: training, rules, and models that have their weights; and what each declares to
    #: assign, if it does.
    components: tuple[tuple[str, frozenset[str]], ...]
    #: The attributes of those that have yet to learn: they will near the gold values.
    gold: tuple[str, ...]

    def restrict(self, attrs: Iterable[str]) -> "Annotation":
        """Leave out what sets none of these attributes, and what no other needs."""
        counted = {*attrs} & {*SETTABLE}
        setting = [
            i
            for i, (_, assigned) in enumerate(self.components, start=1)
            if counted and (not assigned or assigned & counted)
        ]
        return Annotation(
            components=self.components[: max(setting, default=0)],
            gold=self.gold if counted.intersection(self.gold) else (),
        )


def find_annotation(nlp: Language, component: str) -> Annotation:
    """Find what annotates before a component, in a pipeline yet to be initialised."""
    annotating = nlp.config.interpolate()["training"].get("annotating_components", ())
    ahead = nlp.component_names[: nlp.component_names.index(component)]
    names = [name for name in ahead if name in annotating]
    learning = [name for name in names if _has_yet_to_learn(nlp, name)]
    assigned = frozenset().union(*(_find_assigned(nlp, name) for name in learning))
    return Annotation(
        components=tuple(
            (name, _find_assigned(nlp, name)) for name in names if name not in learning
        ),
        # heads alone are no parse
        gold=tuple(attr for attr in SETTABLE if attr in assigned - {"HEAD"}),
    )


def _find_assigned(nlp: Language, name: str) -> frozenset[str]:
    """Find the attributes of tokens that a component's factory declares to assign."""
    places = (each.split(".") for each in nlp.get_pipe_meta(name).assigns)
    attrs = (place[1].upper() for place in places if place[0] == "token" and place[1:])
    return frozenset(_OTHER_NAMES.get(attr, attr) for attr in attrs)


def annotate(
    nlp: Language, examples: Iterable[Example], annotation: Annotation
) -> Iterator[Doc]:
    """Give the predicted Docs as `nlp.update` annotates them, or themselves if nothing
    does.
    """
    docs: Iterator[Doc] = (example.predicted for example in examples)
    if any(annotation):
        docs = (_copy(example, annotation.gold) for example in examples)
    for name, _ in annotation.components:
        settings = {"batch_size": nlp.batch_size}
        pipe = nlp.get_pipe(name)
        docs = _pipe(docs, pipe, name, nlp.default_error_handler, settings)
    return docs


def _copy(example: Example, gold: Sequence[str]) -> Doc:
    doc = example.predicted.copy()
    if gold and len(doc):
        columns = [[*map(_to_attr, example.get_aligned(attr))] for attr in gold]
        values: Ints2d = np.array(columns, dtype="uint64").T  # type: ignore[assignment]
        doc.from_array(list(gold), values)
    return doc


def _to_attr(value: int | None) -> int:
    # of starts of sentences, which are said by True and False, spaCy writes -1 for no
    return (-1 if value is False else value or 0) % 2**64


def _has_yet_to_learn(nlp: Language, name: str) -> bool:
    # those that are enabled get new weights in `nlp.initialize`
    pipe = nlp.get_pipe(name)
    model = getattr(pipe, "model", None)
    is_trained = isinstance(model, Model) and has_params(model)
    is_trainable = getattr(pipe, "is_trainable", False)
    return is_trainable and (name in nlp.pipe_names or not is_trained)


def has_params(model: Model) -> bool:
    """Tell whether there are any parameters in a model."""
    return any(n.has_param(name) for n in model.walk() for name in n.param_names)


def copy_words(doc: Doc, vocab: Vocab) -> Doc:
    """Make a Doc of the words and spaces of another, without annotation."""
    spaces = [bool(token.whitespace_) for token in doc]
    return Doc(vocab, words=[token.text for token in doc], spaces=spaces)
