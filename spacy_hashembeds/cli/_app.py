"""The command group that `spacy hashembeds` names, and how its commands fail."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from spacy.cli._util import app
from wasabi import msg

from ._output import Group

hashembeds_cli = typer.Typer(
    cls=Group,
    name="hashembeds",
    help="Prepare corpora, count symbols, train and compare token embeddings.",
    no_args_is_help=True,
)
app.add_typer(hashembeds_cli)


@contextmanager
def failing(title: str, *more: type[Exception]) -> Iterator[None]:
    """Exit with 1 where there are errors, of these kinds too, and say why."""
    errors: tuple[type[Exception], ...] = (OSError, ValueError, ImportError, *more)
    try:
        yield
    except errors as e:
        msg.fail(title, describe(e), exits=1)


def describe(error: Exception) -> str:
    """Give an error's message, without the middle if long: spaCy quotes configs."""
    from ..display import show_controls

    text = show_controls(str(error))
    return text if len(text) <= 1800 else f"{text[:1500]} … {text[-300:]}"
