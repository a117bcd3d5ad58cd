"""Entities of texts as rows of a table, which all recipes here make."""

from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch

#: The columns of a row, beside `id`, and what Arrow calls their types. One row is an
#: entity. A text that can't be annotated has one too, with `id` and `error` alone.
COLUMNS = {
    **{"start": "int64", "end": "int64", "label": "string", "text": "string"},
    **{"score": "float64", "error": "string"},
}

#: How many texts share a memory zone: what they bring of new words is freed with it.
ZONE = 200


@cache
def load(model: str) -> Language:
    """Load a pipeline, once in each process."""
    return spacy.load(model)


def read_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Read the texts of a file, one a line, after their numbers from 1. In the place of
    one that is not UTF-8 stands the error, which becomes that of its row.
    """
    with path.open("rb") as file:  # in which nothing but \n ends a line
        for number, line in enumerate(file, start=1):
            start = len(BOM_UTF8) if number == 1 and line.startswith(BOM_UTF8) else 0
            try:
                yield number, line[start:].rstrip(b"\r\n").decode()
            except UnicodeDecodeError as error:
                yield number, error


def find_entities(
    nlp: Language, texts: Iterable[tuple[Any, Any]]
) -> Iterator[dict[str, Any]]:
    """Make the rows of texts, each after its id. One that fails is told by a row, and
    no other is lost.
    """
    for batch in minibatch(texts, ZONE):
        rows: list[dict[str, Any]] = []
        with nlp.memory_zone():  # no Doc may leave it
            found = annotate(nlp, [text for _, text in batch])
            for (key, _), doc in zip(batch, found, strict=True):
                rows.extend({"id": key, **row} for row in make_rows(doc))
        yield from rows


def annotate(nlp: Language, texts: list[Any]) -> list[Doc | Exception]:
    """Annotate texts, and give the error of each that fails in the place of its Doc."""
    try:
        return list(nlp.pipe(texts))
    except Exception:  # of one of them, or some: spaCy gives up the whole batch
        return [_try_alone(nlp, text) for text in texts]


def _try_alone(nlp: Language, text: Any) -> Doc | Exception:
    try:
        return text if isinstance(text, Exception) else nlp(text)
    except Exception as error:
        return error


def make_rows(doc: Doc | Exception) -> Iterator[dict[str, Any]]:
    """Make a row of each entity, with its score where the pipeline has some."""
    if isinstance(doc, Exception):
        yield {"error": f"{type(doc).__name__}: {doc}"[:500]}
        return
    group = doc.spans.get("ents", ())  # of token_ner with `spans_key = "ents"`
    scored = zip(group, group.attrs.get("scores", ()) if group else (), strict=False)
    scores = {(span.start, span.end): float(score) for span, score in scored}
    for ent in doc.ents:
        yield {
            "start": ent.start_char,
            "end": ent.end_char,
            "label": ent.label_,
            "text": ent.text,
            "score": scores.get((ent.start, ent.end)),
        }
