"""Faults that pydantic finds in a file, in one line."""

from pydantic import ValidationError

from spacy_hashembeds.files import quote


def describe_error(error: Exception) -> str:
    """Describe an error; of the faults that pydantic has found, the first."""
    if not isinstance(error, ValidationError):
        return str(error)
    fault = error.errors()[0]
    place = ".".join(map(str, fault["loc"]))
    text = f"{quote(place)}: {fault['msg']}" if place else fault["msg"]
    return text.replace("Value error, ", "")
