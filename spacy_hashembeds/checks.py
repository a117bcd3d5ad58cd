"""Checks of arguments, made when a model is built."""

from collections.abc import Sequence

from spacy.attrs import IDS

_NAMES = {attr_id: name for name, attr_id in IDS.items() if name}


def check_attributes(attrs: Sequence[str | int]) -> list[str]:
    """Check token attributes as a config gives them.

    attrs (Sequence[str | int]): Names or IDs, e.g. `["NORM", 68]`. An ID may be text
        too, as those of a config are to some spaCy 3.8.
    RAISES (ValueError): If there are none, or one that spaCy doesn't know.
    RETURNS (list[str]): Their names.
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
        f"'attrs' holds {attr!r}, which is no token attribute. Usual ones are ORTH, "
        "NORM, LOWER, PREFIX, SUFFIX and SHAPE; "
        "all are listed at https://spacy.io/api/attributes."
    )


def check_integers(minimum: int, maximum: int | None = None, **arguments: int) -> None:
    """Check that arguments are integers, and neither too small nor too large.

    RAISES (ValueError): Naming the first that is not.
    """
    bounds = f"{minimum} or more" if maximum is None else f"{minimum} to {maximum}"
    for name, value in arguments.items():
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        if not is_integer or value < minimum or (maximum and value > maximum):
            raise ValueError(f"'{name}' should be {bounds}, but is {value!r}.")
