"""Writing files so that nobody ever sees half of one."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Write a file beside its place and move it there once it is complete.

    path (str | Path): The file to make or replace. Its folder is made if needed.
    YIELDS (Path): The file to write, with the same suffix. If the block raises, it is
        removed, and what stood at `path` stays as it was.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(
        prefix=f".{path.stem}-", suffix=path.suffix, dir=path.parent
    )
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_get_umask())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: str | Path, data: Any) -> None:
    """Write data as indented JSON, whole or not at all.

    RAISES (ValueError): If a number is NaN or infinite, which JSON can't say.
    """
    with replacing(path) as temporary:
        text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
        temporary.write_text(text + "\n", encoding="utf8")


def _get_umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
