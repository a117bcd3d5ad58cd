"""Output of commands to the screen, and to files that may be standard output.

Messages are written to standard output, except warnings and errors, which are written
to stderr. With `--quiet`, only warnings and errors are written. With `--json`, or with
`-o -`, standard output has only data, and all messages are written to stderr.
"""

import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar

import typer
from typer.core import TyperGroup
from wasabi import msg

Item = TypeVar("Item")


class Nowhere(StringIO):
    """Stream that replaces standard output if nothing should be printed."""


class Group(TyperGroup):
    """Commands that write warnings and errors to stderr, and remove incomplete files
    when they are terminated.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
            with suppress(ValueError):  # not in the main thread
                if signal.getsignal(number) == signal.SIG_DFL:
                    signal.signal(number, _exit)
        with _plain_messages():
            return super().invoke(ctx)


def _exit(number: int, frame: Any) -> None:
    """Exit with the status of a signal, so that incomplete files are removed."""
    sys.exit(128 + number)


@contextmanager
def _plain_messages() -> Iterator[None]:
    """Escape control characters in messages, for instance in file names, and write
    warnings and errors, also spaCy's, to stderr.
    """
    from ..display import show_controls

    shown = msg.text

    def say(title: Any = "", text: Any = "", **settings: Any) -> Any:
        is_error = settings.get("icon") in ("warn", "fail")
        with redirect_stdout(sys.stderr if is_error else sys.stdout):
            title, text = show_controls(str(title)), show_controls(str(text))
            return shown(title, text, **settings)

    vars(msg).update(text=say)
    try:
        yield
    finally:
        vars(msg).update(text=shown)


def is_quiet() -> bool:
    """Return True if the command should print only warnings and errors."""
    return isinstance(sys.stdout, Nowhere)


def hide_progress() -> bool | None:
    """Return whether `tqdm` should hide bars; None hides them without a terminal."""
    return is_quiet() or None


def show_split(title: str, docs: Iterable[Item], split: str) -> Iterable[Item]:
    """Yield the docs of a split, and show their number."""
    return show_progress(docs, f"{title} {split}", unit="docs")


def show_progress(items: Iterable[Item], title: str, *, unit: str) -> Iterable[Item]:
    """Yield items, and show "Reading train: 12 docs" on stderr if it is a terminal."""
    from tqdm import tqdm  # type: ignore[import-untyped]

    hide = hide_progress()
    return tqdm(items, desc=title, unit=f" {unit}", leave=False, disable=hide)


def print_json(data: Any) -> None:
    """Print data to standard output, for the option `JSON`."""
    from ...files import STANDARD_OUTPUT, write_json

    write_json(STANDARD_OUTPUT, data)


def _be_quiet(ctx: typer.Context, quiet: bool) -> bool:
    if quiet:
        ctx.with_resource(redirect_stdout(Nowhere()))
    return quiet


def _prefer_json(ctx: typer.Context, as_json: bool) -> bool:
    if as_json:
        _take_standard_output(ctx)
    return as_json


def _take_standard_output(ctx: typer.Context) -> None:
    if __name__ in ctx.meta:
        raise typer.BadParameter("only one file can go to standard output.")
    ctx.meta[__name__] = True
    if not is_quiet():
        ctx.with_resource(redirect_stdout(sys.stderr))


def name_output(ctx: typer.Context, path: Any) -> Any:
    """Replace `-` by standard output, which then has only the file: the callback of an
    option that is a path or a list of paths.
    """
    from ...files import STANDARD_OUTPUT

    if path is None or isinstance(path, list | tuple):
        return path and [name_output(ctx, each) for each in path]
    output = STANDARD_OUTPUT if str(path) == "-" else Path(path)
    if output == STANDARD_OUTPUT:
        _take_standard_output(ctx)
    return output


#: Option of every command. It is read before options that write data to stdout.
QUIET = typer.Option(
    False,
    *("--quiet", "-q"),
    help="Print only warnings, errors, and data that goes to standard output.",
    is_eager=True,
    callback=_be_quiet,
)

#: Option of every command that has data.
JSON = typer.Option(
    False, "--json", help="Print JSON; messages go to stderr.", callback=_prefer_json
)


def file_output(what: str, *, default: Any = None) -> Any:
    """Make the option of a command that writes a file."""
    text = f"{what}; - is standard output."
    return typer.Option(
        default, "--output", "-o", help=text, dir_okay=False, callback=name_output
    )


def json_output(what: str) -> Any:
    """Make the option of a command that can write its output to a JSON file."""
    return file_output(f"The JSON file to write {what} to")
