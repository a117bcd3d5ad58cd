"""Checks of arguments.

Each check raises a ValueError, or a TypeError for a wrong type. The message names the
first invalid argument, its value and the expected values.
"""

from collections.abc import Iterable, Sequence
from types import UnionType

from spacy.attrs import IDS
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import get_lang_class

from .files import quote

#: Upper limits for rows per table, row width and model depth. They exceed any useful
#: value and catch mistakes before memory is allocated.
MAX_ROWS = 2**31 - 1
MAX_WIDTH = 10**6
MAX_DEPTH = 100

_NAMES = {attr_id: name for name, attr_id in IDS.items() if name}

#: Prefixes of features: token extension attributes and span groups.
EXTENSION, SPANS = "_.", "spans."


def check_integers(minimum: int, maximum: int | None = None, **arguments: int) -> None:
    """Check that arguments are integers within the bounds."""
    bounds = f"{minimum} or more" if maximum is None else f"{minimum} to {maximum}"
    for name, value in arguments.items():
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        if not is_integer or value < minimum or (maximum and value > maximum):
            raise ValueError(f"'{name}' should be {bounds}, but is {quote(value)}.")


def check_rows(names: Sequence[str], **arguments: Sequence[int]) -> None:
    """Check that arguments are lists with a valid number of rows per attribute."""
    for argument, rows in arguments.items():
        if not isinstance(rows, Sequence) or len(rows) != len(names):
            raise ValueError(
                f"'{argument}' should be one number of rows for each of 'attrs' "
                f"({', '.join(names)}), but is {rows!r:.80}."
            )
        for n_rows in rows:
            check_integers(1, MAX_ROWS, **{argument: n_rows})


def check_choice(known: Sequence[str], **arguments: str) -> None:
    """Check that arguments are among the known values."""
    expected = " or ".join(map(repr, known))
    check_types(str, expected, **arguments)
    for name, value in arguments.items():
        if value not in known:
            raise ValueError(f"'{name}' should be {expected}, but is {value!r:.80}.")


def check_dropout(dropout: float | None, *, name: str = "dropout") -> None:
    """Check that the argument `name` is a dropout rate or None."""
    if dropout is not None:
        check_shares("[0, 1) or null", **{name: dropout})


def check_shares(bounds: str = "[0, 1)", **arguments: float) -> None:
    """Check that arguments are numbers within the interval `bounds`."""
    for name, value in arguments.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (is_number and 0 <= value < 1):
            raise ValueError(f"'{name}' should be in {bounds}, but is {quote(value)}.")


def check_types(types: type | UnionType, expected: str, **arguments: object) -> None:
    """Check the types of arguments. `expected` describes them in the error."""
    for name, value in arguments.items():
        if not isinstance(value, types):
            raise TypeError(f"'{name}' should be {expected}, but is {quote(value)}.")


def is_feature(attr: str | int) -> bool:
    """True if an attribute is an extension attribute or a span group."""
    if not isinstance(attr, str):
        return False
    is_extension = attr.startswith(EXTENSION)
    is_named = attr.removeprefix(EXTENSION).isidentifier()
    return is_named if is_extension else attr.startswith(SPANS) and attr != SPANS


def list_extensions(attrs: Iterable[str]) -> list[str]:
    """List the names of extension attributes without prefix: "x" for "_.x"."""
    return [x.removeprefix(EXTENSION) for x in attrs if x.startswith(EXTENSION)]


def check_attributes(
    attrs: Sequence[str | int], *, with_features: bool = False
) -> list[str]:
    """Check token attributes and return their names. IDs may be strings, as in configs
    read by some 3.8 releases of spaCy.
    """
    if isinstance(attrs, str) or not attrs:
        raise ValueError(
            f"'attrs' should be a list of token attributes, but is {attrs!r}. A "
            'common choice is ["NORM", "PREFIX", "SUFFIX", "SHAPE"].'
        )
    return [_get_attribute_name(attr, with_features) for attr in attrs]


def _get_attribute_name(attr: str | int, with_features: bool) -> str:
    if with_features and is_feature(attr):
        return str(attr)
    if isinstance(attr, str) and attr and attr.upper() in IDS:
        return attr.upper()
    attr_id = int(attr) if isinstance(attr, str) and attr.isdecimal() else attr
    if attr_id in _NAMES and not isinstance(attr_id, bool):
        return _NAMES[attr_id]
    raise ValueError(
        f"'attrs' holds {attr!r:.80}, which is not a token attribute. Common ones are "
        "ORTH, NORM, LOWER, PREFIX, SUFFIX and SHAPE; for all of them, see "
        "https://spacy.io/api/attributes."
        + with_features
        * " Features are '_.name' and 'spans.key'."
    )


def check_features(**arguments: Sequence[str]) -> list[str]:
    """Check that the argument is a list of features, and return it."""
    ((argument, attrs),) = arguments.items()
    check_items("features", **arguments)
    for attr in attrs:
        if not is_feature(attr):
            raise ValueError(
                f"'{argument}' should hold features, '_.name' for `token._.name` or "
                f"'spans.key' for `doc.spans['key']`, but holds {quote(attr)}."
            )
    return list(attrs)


def check_language(lang: str) -> None:
    """Check that spaCy has a language with this code."""
    try:
        get_lang_class(lang)
    # AttributeError: `lang` names another module in spacy.lang
    except (ImportError, AttributeError) as error:
        raise ValueError(
            "'lang' should be the code of a language that spaCy supports, such as "
            f"'en', or 'xx' for any other language, but is {quote(lang)}."
        ) from error


def check_pipeline(nlp: object) -> None:
    """Check that `nlp` is a pipeline."""
    check_types(Language, "a pipeline (Language), as spacy.load returns it", nlp=nlp)


def check_items(expected: str, **arguments: object) -> None:
    """Check that arguments are iterables, but no strings or Docs."""
    for name, value in arguments.items():
        is_single = isinstance(value, str | bytes | Doc)
        if is_single or not isinstance(value, Iterable):
            raise TypeError(
                f"'{name}' should be a list, or another iterable, of {expected}, but "
                f"is {quote(value)}. Put a single item into a list."
            )
