"""Tasks of a pipeline: entities, or the categories of documents."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spacy.language import Language
from spacy.pipeline import TextCategorizer
from spacy.pipeline.textcat_multilabel import MultiLabel_TextCategorizer
from spacy.tokens import Doc
from spacy.training import Example

from ..checks import check_choice
from ..components.text_regressor import TextRegressor
from .sources import find_golds

#: Named entities, and categories of documents. Named after spaCy's components.
NER, TEXTCAT = "ner", "textcat"

_SAY = "Say which to evaluate with 'task' (--task): 'ner' or 'textcat'."


@dataclass(frozen=True, kw_only=True)
class Classes:
    """The labels that a text classifier may predict."""

    labels: Sequence[str]
    #: Whether that of the highest score is predicted, else all from the threshold on.
    exclusive: bool
    threshold: float = 0.5


def find_task(nlp: Language, *, remedy: str = "Leave one of them out.") -> str:
    """Say what a pipeline is to be evaluated on: "textcat" if it has a text classifier
    of spaCy's, else "ner", since any component may set entities.
    """
    classifiers = _find_classifiers(nlp)
    assigns = {name: nlp.get_pipe_meta(name).assigns for name in nlp.pipe_names}
    others = [name for name, attributes in assigns.items() if "doc.ents" in attributes]
    if classifiers and others:
        raise ValueError(
            "A pipeline should set entities or categories, but this one sets both: "
            f"{_list(others)} and {_list(classifiers)}. {remedy}"
        )
    return TEXTCAT if classifiers else NER


def choose_task(
    task: str | None, pipelines: Sequence[Language], golds: Iterable[Doc | Example]
) -> str:
    """Say what is to be evaluated, if nobody has: what pipelines or gold docs have."""
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
    """Say what the one text classifier of a pipeline may predict."""
    names = _find_classifiers(nlp)
    if len(names) != 1:
        found = _list(names) if names else f"only {_list(nlp.pipe_names) or 'nothing'}"
        raise ValueError(
            "A pipeline should have one text classifier to evaluate, 'textcat' or "
            f"'textcat_multilabel', but this one has {found}."
        )
    if not (classes := list_classes(nlp)):
        raise ValueError(
            f"The component '{names[0]}' is a 'text_regressor', whose numbers are no "
            "labels that could be right or wrong. Train it with `spacy train`, and "
            "score it by its own scorer: nlp.evaluate."
        )
    return classes[0]


def list_classes(nlp: Language) -> list[Classes]:
    """Say what each text classifier of a pipeline may predict."""
    return [
        Classes(
            labels=pipe.labels,
            exclusive=not isinstance(pipe, MultiLabel_TextCategorizer),
            threshold=pipe.cfg["threshold"],
        )
        for _, pipe in nlp.pipeline
        if isinstance(pipe, TextCategorizer) and not isinstance(pipe, TextRegressor)
    ]


def _find_classifiers(nlp: Language) -> list[str]:
    return [name for name, pipe in nlp.pipeline if isinstance(pipe, TextCategorizer)]


def _list(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
