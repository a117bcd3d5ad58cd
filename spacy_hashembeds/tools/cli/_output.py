"""Output of commands: the screen, and files that may be standard output.

Words go to standard output, but warnings and errors to stderr. With `--quiet` only
these are left; with `--json` or `-o -` standard output has data alone, and all words
go to stderr.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from typing import IO, Any, TypeVar

import typer
from typer.core import TyperGroup
from wasabi import msg

Item = TypeVar("Item")


class Screen:
    """A stream that goes nowhere once it fails: there are still files to write."""

    def __init__(self, stream: IO[str]):
        self._stream = stream
        #: Why it can't be written to, unless whoever read it has read enough.
        self.error: OSError | None = None

    def write(self, text: str) -> int:
        """Write as a stream does, and escape letters that it lacks."""
        try:
            return self._stream.write(text)
        except UnicodeEncodeError as e:
            escaped = text.encode(e.encoding, "backslashreplace")
            return self.write(escaped.decode(e.encoding))
        except OSError as e:
            self._give_up(e)
            return len(text)

    def flush(self) -> None:
        """Flush as a stream does."""
        try:
            self._stream.flush()
        except OSError as e:
            self._give_up(e)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _give_up(self, error: OSError) -> None:
        self.error = None if isinstance(error, BrokenPipeError) else error
        # Python keeps what it could not write, and tries again when it exits.
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), self._stream.fileno())


class Nowhere(StringIO):
    """Stream in the place of standard output where nothing shall be printed."""


class Group(TyperGroup):
    """Commands that print to a `Screen`, and take no option twice but lists."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands, each with its first sentence, which is not cut."""
        rows = [
            (name, command.get_short_help_str(limit=sys.maxsize))
            for name, command in sorted(self.commands.items())
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command. Refuse repeated options: click would keep the last value."""
        found: Any = super().resolve_command(ctx, args)
        _, command, words = found
        known = {o: p for p in command.params for o in (*p.opts, *p.secondary_opts)}
        given = []
        for word in words if "--help" not in words else ():
            name = word.partition("=")[0] if word[:2] == "--" else word[:2]
            option = known.get(name)
            if option is None and name[2:] and name[:2] == "--":  # of a config
                given.append(name)
            elif option is not None and not getattr(option, "multiple", False):
                given.append(option.opts[0])
        if repeated := next((name for name in given if given.count(name) > 1), None):
            raise typer.BadParameter("expected it once.", ctx, param_hint=repeated)
        return found

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        # None where the caller has closed it
        screen = Screen(sys.stdout or StringIO())
        with _exiting_by_signals(), redirect_stdout(screen), _plain_messages():
            try:
                result = super().invoke(ctx)
            finally:
                screen.flush()
        if screen.error is not None:
            typer.echo(f"Can't print to the end: {screen.error}", err=True)
            raise typer.Exit(1)
        return result


@contextmanager
def _exiting_by_signals() -> Iterator[None]:
    """Raise SystemExit where a signal would end the process at once, so that files
    that are not complete are removed.
    """

    def end(number: int, frame: Any) -> None:
        sys.exit(128 + number)  # as a shell gives it

    ending = {signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}
    is_main = threading.current_thread() is threading.main_thread()
    ours = [n for n in ending if is_main and signal.getsignal(n) == signal.SIG_DFL]
    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def _plain_messages() -> Iterator[None]:
    """Show control characters of what is said, such as names of files, and send
    warnings and errors to stderr, those of spaCy too.
    """

    def say(title: Any = "", text: Any = "", **settings: Any) -> Any:
        from ..display import show_controls

        return shown["text"](*map(show_controls, map(str, (title, text))), **settings)

    def send(show: Callable[..., Any], *args: Any, **settings: Any) -> Any:
        sys.stdout.flush()  # or what was said before would come after it
        with redirect_stdout(Screen(sys.stderr or StringIO())):
            return show(*args, **settings)

    shown: dict[str, Any] = {n: getattr(msg, n) for n in ("text", "warn", "fail")}
    sent = {name: partial(send, shown[name]) for name in ("warn", "fail")}
    vars(msg).update(sent, text=say)
    try:
        yield
    finally:
        vars(msg).update(shown)


def _be_quiet(ctx: typer.Context, quiet: bool) -> bool:
    if quiet:
        ctx.with_resource(redirect_stdout(Nowhere()))
    return quiet


def is_quiet() -> bool:
    """Return True if the command was told to print nothing that can be spared."""
    return isinstance(sys.stdout, Nowhere)


def hide_progress() -> bool | None:
    """Return whether `tqdm` should hide bars: None where stderr is no screen."""
    return True if is_quiet() else None


def show_progress(items: Iterable[Item], title: str, *, unit: str) -> Iterable[Item]:
    """Hand items on, and show on stderr "Reading train: 12 docs" if it is a screen."""
    from tqdm import tqdm  # type: ignore[import-untyped]

    options: dict[str, Any] = {"leave": False, "disable": hide_progress()}
    return tqdm(items, desc=title, unit=f" {unit}", **options)


def _take_standard_output(ctx: typer.Context) -> None:
    if __name__ in ctx.meta:
        raise typer.BadParameter("only one file can go to standard output.")
    ctx.meta[__name__] = True
    if not is_quiet():
        ctx.with_resource(redirect_stdout(Screen(sys.stderr or StringIO())))


def _prefer_json(ctx: typer.Context, as_json: bool) -> bool:
    if as_json:
        _take_standard_output(ctx)
    return as_json


#: The option of every command.
QUIET = typer.Option(
    False,
    "--quiet",
    "-q",
    help="Print only warnings, errors, and data that goes to standard output.",
    # before the options that send data there
    is_eager=True,
    callback=_be_quiet,
)

#: The option of every command that has data to show.
JSON = typer.Option(
    False,
    "--json",
    help="Print everything as JSON, instead of tables; words go to stderr.",
    callback=_prefer_json,
)


def show_commands(*commands: str) -> None:
    """Show what to do next: a command a line, however long, to be pasted."""
    typer.echo("\n".join(commands))


def print_json(data: Any) -> None:
    """Print data to standard output, for the option `JSON`."""
    from ...files import STANDARD_OUTPUT, write_json

    try:
        write_json(STANDARD_OUTPUT, data)
    except OSError as e:
        typer.echo(f"Can't print to the end: {e}", err=True)
        raise typer.Exit(1) from e


def name_output(ctx: typer.Context, path: Any) -> Any:
    """Take `-` for standard output, and leave that to the file alone: the callback of
    an option that is a path, or paths.
    """
    from ...files import STANDARD_OUTPUT, find_descriptor

    if path is None or isinstance(path, list | tuple):
        return path and [name_output(ctx, each) for each in path]
    output = STANDARD_OUTPUT if str(path) == "-" else Path(path)
    if find_descriptor(output) == 1:
        _take_standard_output(ctx)
    return output


def file_output(what: str, *names: str, default: Any = None) -> Any:
    """Make the option of a command that writes a file."""
    names, text = names or ("--output", "-o"), f"{what}; - is standard output."
    return typer.Option(
        default, *names, help=text, dir_okay=False, callback=name_output
    )


def json_output(what: str) -> Any:
    """Make the option of a command that can write what it prints to a JSON file."""
    return file_output(f"The JSON file to write {what} to")
