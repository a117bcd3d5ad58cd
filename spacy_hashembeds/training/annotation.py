"""Annotate Docs as the preceding components of a pipeline do."""

from collections.abc import Iterable, Iterator, Sequence
from types import UnionType
from typing import NamedTuple

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import _pipe
from thinc.api import Model
from thinc.types import Ints2d

from ..arguments import is_feature

#: Attributes set by components. NORM is always set, but components may change it.
SETTABLE = (
    *("NORM", "LEMMA", "POS", "TAG", "MORPH", "DEP", "HEAD", "SENT_START"),
    *("ENT_IOB", "ENT_TYPE", "ENT_ID", "ENT_KB_ID"),
)
#: Names of attributes in factories, where they differ.
_NAMES = {"IS_SENT_START": "SENT_START", "ENT_KB_ID_": "ENT_KB_ID"}


def find_settable(pipeline: Sequence[str], component: str | None) -> Sequence[str]:
    """Return the attributes that preceding components may set, whose values in training
    are unknown from the corpus.
    """
    # factories declare assigned attributes incompletely, and rulers none
    return SETTABLE if component in pipeline[1:] else ()


class Annotation(NamedTuple):
    """Sources of the annotation of Docs passed to a component in training."""

    #: Preceding annotating components that can run before training (rules, and models
    #: with weights), with the attributes that each declares.
    components: tuple[tuple[str, frozenset[str]], ...]
    #: Attributes set by untrained components, approximated by gold annotation.
    gold: tuple[str, ...]

    def restrict(self, attrs: Iterable[str]) -> "Annotation":
        """Drop components after the last one that sets any of these attributes."""
        counted = {attr for attr in attrs if attr in SETTABLE or is_feature(attr)}
        # factories do not declare features, and getters may read any attribute
        may_all = any(map(is_feature, counted))
        setting = [
            i
            for i, (_, assigned) in enumerate(self.components, start=1)
            if counted and (may_all or not assigned or assigned & counted)
        ]
        return Annotation(
            components=self.components[: max(setting, default=0)],
            gold=self.gold if may_all or counted.intersection(self.gold) else (),
        )


def find_annotation(nlp: Language, component: str) -> Annotation:
    """Find the annotation before a component of an uninitialized pipeline."""
    annotating = nlp.config.interpolate()["training"].get("annotating_components", ())
    ready: list[tuple[str, frozenset[str]]] = []
    gold: set[str] = set()
    for name in nlp.component_names[: nlp.component_names.index(component)]:
        if name not in annotating:
            continue
        places = (each.split(".") for each in nlp.get_pipe_meta(name).assigns)
        attrs = (x[1].upper() for x in places if x[0] == "token" and x[1:])
        assigned = frozenset(_NAMES.get(attr, attr) for attr in attrs)
        pipe = nlp.get_pipe(name)
        model = getattr(pipe, "model", None)
        is_trained = isinstance(model, Model) and has_params(model)
        # `nlp.initialize` resets the weights of enabled components
        learns = getattr(pipe, "is_trainable", False)
        if learns and (name in nlp.pipe_names or not is_trained):
            gold |= assigned
        else:
            ready.append((name, assigned))
    gold -= {"HEAD"}  # invalid without dependency labels
    return Annotation(tuple(ready), tuple(attr for attr in SETTABLE if attr in gold))


def annotate(
    nlp: Language, examples: Iterable[Example], annotation: Annotation
) -> Iterator[Doc]:
    """Yield the predicted Docs, or copies annotated as in `nlp.update`."""
    docs: Iterator[Doc] = (
        _copy(eg, annotation) if any(annotation) else eg.predicted for eg in examples
    )
    for name, _ in annotation.components:
        settings = {"batch_size": nlp.batch_size}
        pipe = nlp.get_pipe(name)
        docs = _pipe(docs, pipe, name, nlp.default_error_handler, settings)
    return docs


def _copy(example: Example, annotation: Annotation) -> Doc:
    doc = example.predicted.copy()
    if annotation.gold and len(doc):
        columns = [[n or 0 for n in example.get_aligned(x)] for x in annotation.gold]
        values: Ints2d = np.array(columns, dtype="uint64").T  # type: ignore[assignment]
        doc.from_array(list(annotation.gold), values)
    return doc


def has_params(model: Model) -> bool:
    """True if any layer of a model has allocated parameters."""
    return any(n.has_param(name) for n in model.walk() for name in n.param_names)


def walk_layers(nlp: Language) -> Iterator[tuple[str, Model]]:
    """Yield component name and layer, for all layers of a pipeline."""
    for name, pipe in nlp.components:
        model = getattr(pipe, "model", None)
        for node in model.walk() if isinstance(model, Model) else ():
            yield name, node


def check_example(item: object, argument: str = "examples") -> None:
    """Raise a TypeError if an item of an argument is not an Example or Doc."""
    _check_item(item, argument, Example | Doc, "Examples or Docs")


def check_docs(docs: Iterable[Doc], argument: str) -> Iterator[Doc]:
    """Yield the Docs of an argument. Raise a TypeError for another item."""
    for doc in docs:
        _check_item(doc, argument, Doc, "Docs")
        yield doc


def _check_item(
    item: object, argument: str, types: type | UnionType, expected: str
) -> None:
    if not isinstance(item, types):
        raise TypeError(
            f"'{argument}' should hold {expected}, but holds a "
            f"{type(item).__name__}. Make Docs with `nlp.make_doc`."
        )


def get_reference(item: Doc | Example, argument: str = "examples") -> Doc:
    """Return the gold Doc of an item of an argument."""
    check_example(item, argument)
    return item.reference if isinstance(item, Example) else item
