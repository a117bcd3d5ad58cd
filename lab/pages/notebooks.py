"""Run the notebooks of docs/, and keep what their cells show:
`python -m lab.pages.notebooks`.

As Jupyter does: what is printed, and the value of a last expression, as HTML where it
has any. A kernel of Jupyter's is not needed.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import gettempdir
from typing import Any

NOTEBOOKS = Path(__file__).parents[2] / "docs" / "notebooks"

#: Colours of a terminal, and the folders that `tempfile` makes.
_COLOR = re.compile(r"\x1b\[[\d;]*m")
_FOLDER = re.compile(rf"{re.escape(gettempdir())}/tmp\w+")

Json = dict[str, Any]


def run_notebook(notebook: Json) -> None:
    """Run all cells of code, one after the other, and give them their outputs."""
    names: Json = {"__name__": "__main__"}
    number = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
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
        yield {
            "output_type": "execute_result",
            "execution_count": number,
            "metadata": {},
            "data": _show(value),
        }


def _show(value: Any) -> Json:
    shown = str if hasattr(value, "_repr_html_") else repr
    data = {"text/plain": _cut(shown(value))}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = _cut(value._repr_html_())
    return data


def _cut(text: str) -> list[str]:
    text = _FOLDER.sub("/tmp/notebook", _COLOR.sub("", text))
    return text.splitlines(keepends=True)


def write_notebook(path: Path) -> None:
    """Run a notebook, and write it with its outputs."""
    notebook = json.loads(path.read_text(encoding="utf8"))
    run_notebook(notebook)
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf8")


if __name__ == "__main__":
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        write_notebook(path)
        sys.stdout.write(f"Ran {path}\n")
