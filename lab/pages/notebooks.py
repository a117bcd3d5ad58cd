"""Run the notebooks of docs/ and store outputs: `python -m lab.pages.notebooks`."""

import ast
import json
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from tempfile import gettempdir
from typing import Any

from .page import DOCS

NOTEBOOKS = DOCS / "notebooks"

#: Terminal colors, and folders made by `tempfile`.
_COLOR = re.compile(r"\x1b\[[\d;]*m")
_FOLDER = re.compile(rf"{re.escape(gettempdir())}/tmp\w+")

Json = dict[str, Any]


def run_notebook(notebook: Json) -> None:
    """Run all code cells, and store their outputs."""
    names: Json = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, start=1):
        cell["execution_count"] = number
        cell["outputs"] = list(_run_cell("".join(cell["source"]), names, number))


def _run_cell(source: str, names: Json, number: int) -> Iterator[Json]:
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    value = None
    with redirect_stdout(StringIO()) as printed:
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    if text := printed.getvalue():
        yield {"output_type": "stream", "name": "stdout", "text": _cut(text)}
    if value is not None:
        data = {"text/plain": _cut(repr(value))}
        if hasattr(value, "_repr_html_"):
            data = {"text/plain": _cut(str(value))}
            data["text/html"] = _cut(value._repr_html_())
        result = {"output_type": "execute_result", "execution_count": number}
        yield {**result, "metadata": {}, "data": data}


def _cut(text: str) -> list[str]:
    text = _FOLDER.sub("/tmp/notebook", _COLOR.sub("", text))
    return text.splitlines(keepends=True)


if __name__ == "__main__":
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf8"))
        run_notebook(notebook)
        text = json.dumps(notebook, indent=1, ensure_ascii=False)
        path.write_text(f"{text}\n", encoding="utf8")
        sys.stdout.write(f"Ran {path}\n")
