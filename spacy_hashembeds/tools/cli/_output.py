"""Messages, progress and output files of commands.

Warnings and errors are written to stderr, other messages to standard output, or not at
all with `--quiet`. With `--json` or `-o -`, standard output has only data, and all
messages are written to stderr.
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


class QuietOutput(StringIO):
    """Standard output with `--quiet`."""


class CommandGroup(TyperGroup):
    """Commands with errors on stderr, and without incomplete files if terminated."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
            with suppress(ValueError):  # outside the main thread
                if signal.getsignal(number) == signal.SIG_DFL:
                    signal.signal(number, _exit)
        with _plain_messages():
            return super().invoke(ctx)


def _exit(number: int, frame: Any) -> None:
    """Exit normally on a signal, which removes incomplete files."""
    sys.exit(128 + number)


@contextmanager
def _plain_messages() -> Iterator[None]:
    """Escape control characters in messages, and write errors to stderr."""
    from ..display import show_controls

    shown = msg.text

    def write(title: Any = "", text: Any = "", **settings: Any) -> Any:
        is_error = settings.get("icon") in ("warn", "fail")
        with redirect_stdout(sys.stderr if is_error else sys.stdout):
            title, text = show_controls(str(title)), show_controls(str(text))
            return shown(title, text, **settings)

    vars(msg).update(text=write)
    try:
        yield
    finally:
        vars(msg).update(text=shown)


def is_quiet() -> bool:
    """True if only warnings and errors should be printed."""
    return isinstance(sys.stdout, QuietOutput)


def hide_progress() -> bool | None:
    """Return the `disable` argument of `tqdm`. None: disable without a terminal."""
    return is_quiet() or None


def show_split(title: str, docs: Iterable[Item], split: str) -> Iterable[Item]:
    """Yield the docs of a split, and show progress."""
    return show_progress(docs, f"{title} {split}", unit="docs")


def show_progress(items: Iterable[Item], title: str, *, unit: str) -> Iterable[Item]:
    """Yield items, and show progress on stderr, such as "Reading train: 12 docs"."""
    from tqdm import tqdm  # type: ignore[import-untyped]

    hide = hide_progress()
    return tqdm(items, desc=title, unit=f" {unit}", leave=False, disable=hide)


def print_json(data: Any) -> None:
    """Print data to standard output, also if messages are redirected."""
    from ...files import STANDARD_OUTPUT, write_json

    write_json(STANDARD_OUTPUT, data)


def _be_quiet(ctx: typer.Context, quiet: bool) -> bool:
    if quiet:
        ctx.with_resource(redirect_stdout(QuietOutput()))
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
    """Replace `-` in paths by standard output, and redirect messages to stderr."""
    from ...files import STANDARD_OUTPUT

    if path is None or isinstance(path, list | tuple):
        return path and [name_output(ctx, each) for each in path]
    output = STANDARD_OUTPUT if str(path) == "-" else Path(path)
    if output == STANDARD_OUTPUT:
        _take_standard_output(ctx)
    return output


#: Option of every command, read before those that write to standard output.
QUIET = typer.Option(
    False,
    *("--quiet", "-q"),
    help="Print only warnings, errors, and data that goes to standard output.",
    is_eager=True,
    callback=_be_quiet,
)

#: Option of commands with JSON output.
JSON = typer.Option(
    False, "--json", help="Print JSON; messages go to stderr.", callback=_prefer_json
)


def file_output(what: str, *, default: Any = None) -> Any:
    """Make the option for an output file."""
    text = f"{what}; - is standard output."
    return typer.Option(
        default, "--output", "-o", help=text, dir_okay=False, callback=name_output
    )


def json_output(what: str) -> Any:
    """Make the option for a JSON file."""
    return file_output(f"The JSON file to write {what} to")
