"""Tasks of a pipeline: entities, or the categories of documents."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from spacy.language import Language
from spacy.pipeline import TextCategorizer
from spacy.pipeline.textcat_multilabel import MultiLabel_TextCategorizer
from spacy.tokens import Doc
from spacy.training import Example

from ...arguments import check_choice
from .sources import find_golds

#: Named entities, and categories of documents. Named after spaCy's components.
NER, TEXTCAT = "ner", "textcat"

_SAY = "Say which to evaluate with 'task' (--task): 'ner' or 'textcat'."


class Classes(NamedTuple):
    """The labels that a text classifier may predict: that of the highest score if they
    are exclusive, else all from the threshold on.
    """

    labels: Sequence[str]
    exclusive: bool
    threshold: float = 0.5


def find_task(nlp: Language, *, remedy: str = "Leave one of them out.") -> str:
    """Return "textcat" if a pipeline has a text classifier of spaCy's, else "ner",
    since any component may set entities.
    """
    classifiers = [n for n, pipe in nlp.pipeline if isinstance(pipe, TextCategorizer)]
    others = [n for n in nlp.pipe_names if "doc.ents" in nlp.get_pipe_meta(n).assigns]
    if classifiers and others:
        raise ValueError(
            "A pipeline should set entities or categories, but this one sets both: "
            f"{', '.join((*others, *classifiers))}. {remedy}"
        )
    return TEXTCAT if classifiers else NER


def choose_task(
    task: str | None, pipelines: Sequence[Language], golds: Iterable[Doc | Example]
) -> str:
    """Return `task`, or what pipelines, if there are any, or else gold docs have."""
    if task is not None:
        check_choice((NER, TEXTCAT), task=task)
        return task
    found = {find_task(nlp, remedy=_SAY) for nlp in pipelines}
    if not pipelines:
        docs = find_golds(golds)
        found |= {NER for doc in docs if doc.has_annotation("ENT_IOB")}
        found |= {TEXTCAT for doc in docs if doc.cats}
    if len(found) > 1:
        what = "The pipelines are of both" if pipelines else "The gold corpus has both"
        raise ValueError(f"{what} entities and categories. {_SAY}")
    return next(iter(found), NER)


def find_classes(nlp: Language) -> Classes:
    """Return what the one text classifier of a pipeline may predict."""
    found = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, TextCategorizer)]
    if len(found) != 1:
        raise ValueError(
            "A pipeline should have one text classifier to evaluate, 'textcat' or "
            f"'textcat_multilabel', but has {len(found)}, among its components: "
            f"{', '.join(nlp.pipe_names)}."
        )
    exclusive = not isinstance(found[0], MultiLabel_TextCategorizer)
    return Classes(found[0].labels, exclusive, found[0].cfg["threshold"])
