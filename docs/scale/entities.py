"""Entities of texts as rows of a table, for all recipes of this folder."""

from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch

#: The columns of a row, besides `id`, and their Arrow types. Each row is an entity, or
#: a text that can't be annotated, with only `id` and `error`.
COLUMNS = {
    **{"start": "int64", "end": "int64", "label": "string", "text": "string"},
    **{"score": "float64", "error": "string"},
}

#: Number of texts per memory zone, at whose end their new words are freed.
ZONE = 200


@cache
def load(model: str) -> Language:
    """Load a pipeline once per process."""
    return spacy.load(model)


def read_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the number of each line, from 1, and its text, or the error if the line is
    not UTF-8.
    """
    with path.open("rb") as file:  # in binary files, only \n ends a line
        for number, line in enumerate(file, start=1):
            start = len(BOM_UTF8) if number == 1 and line.startswith(BOM_UTF8) else 0
            try:
                yield number, line[start:].rstrip(b"\r\n").decode()
            except UnicodeDecodeError as error:
                yield number, error


def find_entities(
    nlp: Language, texts: Iterable[tuple[Any, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of (ID, text) pairs. If a text fails, yield a row with `error` and
    process the others.
    """
    for batch in minibatch(texts, ZONE):
        rows: list[dict[str, Any]] = []
        with nlp.memory_zone():  # Docs are invalid outside of it
            found = annotate(nlp, [text for _, text in batch])
            for (key, _), doc in zip(batch, found, strict=True):
                rows.extend({"id": key, **row} for row in make_rows(doc))
        yield from rows


def annotate(nlp: Language, texts: list[Any]) -> list[Doc | Exception]:
    """Return the Doc of each text, or the error if the text fails."""
    try:
        return list(nlp.pipe(texts))
    except Exception:  # one error makes spaCy stop the whole batch
        return [_try_alone(nlp, text) for text in texts]


def _try_alone(nlp: Language, text: Any) -> Doc | Exception:
    try:
        return text if isinstance(text, Exception) else nlp(text)
    except Exception as error:
        return error


def make_rows(doc: Doc | Exception) -> Iterator[dict[str, Any]]:
    """Yield a row for each entity, with its score if the pipeline computes scores."""
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
