"""The command group of `spacy hashembeds`, and the handling of its errors."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from spacy.cli._util import NoSuchOption, app, parse_config_overrides
from wasabi import msg

from ._output import Group

hashembeds_cli = typer.Typer(
    cls=Group,
    name="hashembeds",
    help="Make pipelines faster; prepare corpora, write configs, evaluate, analyze.",
    no_args_is_help=True,
)
app.add_typer(hashembeds_cli)

#: Context settings of a command that accepts overrides as unknown options.
TAKE_OVERRIDES = {"allow_extra_args": True, "ignore_unknown_options": True}


@contextmanager
def failing(title: str, *more: type[Exception]) -> Iterator[None]:
    """Print expected errors, also of these further types, and exit with status 1."""
    errors: tuple[type[Exception], ...] = (OSError, ValueError, ImportError, *more)
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of the output has closed the pipe
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
    except NoSuchOption as e:  # click's class, which typer does not catch
        msg.fail(e.message, "Settings look like --training.dropout 0.2", exits=1)
