"""What components set of tokens before another component reads them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import _pipe
from thinc.api import Model
from thinc.types import Ints2d

#: The attributes that components set. A norm is there before, but may be changed.
SETTABLE = (
    *("NORM", "LEMMA", "POS", "TAG", "MORPH", "DEP", "HEAD", "SENT_START"),
    *("ENT_IOB", "ENT_TYPE", "ENT_ID", "ENT_KB_ID"),
)


def find_settable(pipeline: Sequence[str], component: str | None) -> Sequence[str]:
    """Find the attributes that a component may read as others, ahead of it, set them:
    of these a corpus says nothing, which is read before they do.
    """
    # what a factory says that it assigns is not all, and a ruler's says nothing
    return SETTABLE if component in pipeline[1:] else ()


class Annotation(NamedTuple):
    """What sets attributes of the Docs that training gives to a component."""

    #: Those among [training] annotating_components, ahead of it, that can be run before
    #: training: rules, and models that have their weights.
    components: tuple[str, ...]
    #: The attributes of those that have yet to learn: they will near the gold values.
    gold: tuple[str, ...]


def find_annotation(nlp: Language, component: str) -> Annotation:
    """Find what annotates before a component, in a pipeline yet to be initialised."""
    annotating = nlp.config.interpolate()["training"].get("annotating_components", ())
    ahead = nlp.component_names[: nlp.component_names.index(component)]
    names = [name for name in ahead if name in annotating]
    learning = [name for name in names if _has_yet_to_learn(nlp.get_pipe(name))]
    assigned = {
        assigns.rpartition(".")[2].upper()
        for name in learning
        for assigns in nlp.get_pipe_meta(name).assigns
    }
    return Annotation(
        components=tuple(name for name in names if name not in learning),
        # heads alone are no parse
        gold=tuple(attr for attr in SETTABLE if attr in assigned - {"HEAD"}),
    )


def annotate(
    nlp: Language, examples: Iterable[Example], annotation: Annotation
) -> Iterator[Doc]:
    """Give the predicted Docs as `nlp.update` annotates them, or themselves if nothing
    does.
    """
    docs: Iterator[Doc] = (example.predicted for example in examples)
    if any(annotation):
        docs = (_copy(example, annotation.gold) for example in examples)
    for name in annotation.components:
        settings = {"batch_size": nlp.batch_size}
        pipe = nlp.get_pipe(name)
        docs = _pipe(docs, pipe, name, nlp.default_error_handler, settings)
    return docs


def _copy(example: Example, gold: Sequence[str]) -> Doc:
    doc = example.predicted.copy()
    if gold and len(doc):
        columns = [[v or 0 for v in example.get_aligned(attr)] for attr in gold]
        values: Ints2d = numpy.array(columns, dtype="uint64").T  # type: ignore[assignment]
        doc.from_array(list(gold), values)
    return doc


def _has_yet_to_learn(pipe: object) -> bool:
    model = getattr(pipe, "model", None)
    is_trained = isinstance(model, Model) and has_weights(model)
    return getattr(pipe, "is_trainable", False) and not is_trained


def has_weights(model: Model) -> bool:
    """Tell whether there are any parameters in a model."""
    return any(n.has_param(name) for n in model.walk() for name in n.param_names)
