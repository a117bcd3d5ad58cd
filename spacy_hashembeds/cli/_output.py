"""Where commands write: the screen, and files that may be standard output."""

import os
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import IO, Any

import typer
from typer.core import TyperGroup


class Screen:
    """A stream that goes nowhere once it can't be written to.

    What a command prints may be cut off, as by `| head`, but not the command: it still
    has files to write.
    """

    def __init__(self, stream: IO[str]):
        self._stream = stream
        #: Why it can't be written to, unless whoever read it has read enough.
        self.error: OSError | None = None

    def write(self, text: str) -> int:
        """Write as a stream does."""
        try:
            return self._stream.write(text)
        except UnicodeEncodeError as e:  # such as Chinese on a screen of Latin letters
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
        if not isinstance(error, BrokenPipeError):
            self.error = error
        # Python keeps what it could not write, and tries again when it exits.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)


class Group(TyperGroup):
    """Commands that print to a `Screen`."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        # None where the caller has closed it
        screen = Screen(sys.stdout or StringIO())
        with redirect_stdout(screen):
            try:
                result = super().invoke(ctx)
            finally:
                screen.flush()
        if screen.error is not None:
            typer.echo(f"Can't print to the end: {screen.error}", err=True)
            raise typer.Exit(1)
        return result


def name_output(ctx: typer.Context, path: Path | None) -> Path | None:
    """Take `-` for standard output, and leave that to the file alone.

    The callback of each argument that names a file to write. What the command says
    for people goes to stderr then.
    """
    from ..files import STANDARD_OUTPUT, find_descriptor

    if path is None:
        return None
    output = STANDARD_OUTPUT if str(path) == "-" else Path(path)
    if find_descriptor(output) == 1:
        if ctx.meta.setdefault(__name__, output) is not output:
            raise typer.BadParameter("only one file can go to standard output.")
        ctx.with_resource(redirect_stdout(Screen(sys.stderr)))
    return output
