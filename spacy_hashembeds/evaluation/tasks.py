"""What there is to evaluate in a pipeline: entities, or the categories of documents."""

from spacy.language import Language
from spacy.pipeline import TextCategorizer
from spacy.pipeline.textcat_multilabel import MultiLabel_TextCategorizer

from .categories import Classes

#: Named entities, and categories of documents. Named after spaCy's components.
NER, TEXTCAT = "ner", "textcat"


def find_task(nlp: Language) -> str:
    """Say what a pipeline is to be evaluated on, by its components.

    nlp (Language): The pipeline.
    RAISES (ValueError): If it sets both entities and categories.
    RETURNS (str): "textcat" if it has a text classifier of spaCy's, else "ner": any
        component may set entities.
    """
    classifiers, others = _find_classifiers(nlp), _find_components(nlp, "doc.ents")
    if classifiers and others:
        raise ValueError(
            "A pipeline should set entities or categories, but this one sets both: "
            f"{_list(others)} and {_list(classifiers)}. Leave one of them out."
        )
    return TEXTCAT if classifiers else NER


def find_classes(nlp: Language) -> Classes:
    """Say what the text classifier of a pipeline may predict.

    nlp (Language): The pipeline.
    RAISES (ValueError): If it has none of spaCy's, or several.
    RETURNS (Classes): Its labels, and when it predicts them.
    """
    names = _find_classifiers(nlp)
    if len(names) != 1:
        found = _list(names) if names else f"only {_list(nlp.pipe_names) or 'nothing'}"
        raise ValueError(
            "A pipeline should have one text classifier to evaluate, 'textcat' or "
            f"'textcat_multilabel', but this one has {found}."
        )
    pipe = nlp.get_pipe(names[0])
    assert isinstance(pipe, TextCategorizer)
    return Classes(
        labels=pipe.labels,
        exclusive=not isinstance(pipe, MultiLabel_TextCategorizer),
        threshold=pipe.cfg["threshold"],
    )


def _find_classifiers(nlp: Language) -> list[str]:
    return [name for name, pipe in nlp.pipeline if isinstance(pipe, TextCategorizer)]


def _find_components(nlp: Language, attribute: str) -> list[str]:
    """Find the components that say that they set an attribute."""
    return [
        name for name in nlp.pipe_names if attribute in nlp.get_pipe_meta(name).assigns
    ]


def _list(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
