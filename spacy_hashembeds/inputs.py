"""Checks of arguments that are token attributes, pipelines or docs: see `checks.py`."""

from collections.abc import Iterable, Sequence

from spacy.attrs import IDS
from spacy.language import Language
from spacy.tokens import Doc

from .checks import check_types, show

_NAMES = {attr_id: name for name, attr_id in IDS.items() if name}


def check_attributes(attrs: Sequence[str | int]) -> list[str]:
    """Check token attributes, and give their names. An ID may be text, as those of a
    config are to some spaCy 3.8.
    """
    if isinstance(attrs, str) or not attrs:
        raise ValueError(
            f"'attrs' should be a list of token attributes, but is {attrs!r}. The "
            'usual ones are ["NORM", "PREFIX", "SUFFIX", "SHAPE"].'
        )
    return [_get_attribute_name(attr) for attr in attrs]


def _get_attribute_name(attr: str | int) -> str:
    if isinstance(attr, str) and attr and attr.upper() in IDS:
        return attr.upper()
    attr_id = int(attr) if isinstance(attr, str) and attr.isdecimal() else attr
    if attr_id in _NAMES and not isinstance(attr_id, bool):
        return _NAMES[attr_id]
    raise ValueError(
        f"'attrs' holds {attr!r:.80}, which is no token attribute. Usual ones are "
        "ORTH, NORM, LOWER, PREFIX, SUFFIX and SHAPE; "
        "all are listed at https://spacy.io/api/attributes."
    )


def check_pipeline(nlp: object) -> None:
    """Check that `nlp` is a pipeline."""
    check_types(Language, "a pipeline (Language), as spacy.load returns it", nlp=nlp)


def check_items(expected: str, **arguments: object) -> None:
    """Check that arguments hold items. A text or a Doc is one item, and holds none."""
    for name, value in arguments.items():
        is_one = isinstance(value, str | bytes | Doc)
        if is_one or not isinstance(value, Iterable):
            raise TypeError(
                f"'{name}' should be a list, or another iterable, of {expected}, but "
                f"is {show(value)}. A single one should stand in a list."
            )
