"""The command group of `spacy hashembeds`, and its error handling."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from spacy.cli._util import NoSuchOption, app, parse_config_overrides
from wasabi import msg

from ._output import CommandGroup

hashembeds_cli = typer.Typer(
    cls=CommandGroup,
    name="hashembeds",
    help="Make pipelines faster; prepare corpora, write configs, evaluate, analyze.",
    no_args_is_help=True,
)
app.add_typer(hashembeds_cli)

#: Context settings of commands that accept config overrides.
TAKE_OVERRIDES = {"allow_extra_args": True, "ignore_unknown_options": True}


@contextmanager
def failing(title: str, *more: type[Exception]) -> Iterator[None]:
    """Print expected errors, including those of `more`, and exit with status 1."""
    errors: tuple[type[Exception], ...] = (OSError, ValueError, ImportError, *more)
    try:
        yield
    except BrokenPipeError:
        raise  # handled by click
    except errors as error:
        from ...loading import explain_missing_code

        text = explain_missing_code(error) or str(error)
        if len(text) > 1800:  # spaCy quotes configs
            text = f"{text[:1500]} … {text[-300:]}"
        msg.fail(title, text, exits=1)


def read_overrides(args: Sequence[str]) -> dict[str, Any]:
    """Read options such as `--training.dropout 0.2`, or exit with an error."""
    try:
        return parse_config_overrides(list(args))
    except NoSuchOption as e:  # typer does not catch click's class
        msg.fail(e.message, "Settings look like --training.dropout 0.2", exits=1)
