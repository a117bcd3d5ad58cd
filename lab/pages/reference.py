"""Fill docs/reference.md and docs/python.md: `python -m lab.pages.reference`.

A comment such as `<!--:::spacy_hashembeds.evaluate-->` names a function or class.
Its signature and the first sentence of its docstring, up to a colon, are inserted
below. The site shows the whole docstring, folded (website/pages.py).
"""

import re
import sys
from importlib import import_module
from inspect import Parameter, getdoc, isclass, signature
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "docs/reference.md", ROOT / "docs/python.md")

#: A comment and the paragraph below.
ENTRY = re.compile(r"^(<!--:::([\w.]+)-->\n)(?:.+\n)*", re.M)

#: Arguments that spaCy supplies to components.
_SUPPLIED = ("nlp", "vocab", "name")


def fill(page: str) -> str:
    """Insert signatures and first sentences below the comments of a page."""
    return ENTRY.sub(lambda found: f"{found[1]}{describe(found[2])}\n", page)


def describe(path: str) -> str:
    """Return the linked signature and the purpose of a function or class, in a line."""
    module, _, name = path.rpartition(".")
    shown = getattr(import_module(module), name)
    parameters = [*signature(shown).parameters.values()]
    if isclass(shown):
        parameters = [one for one in parameters if one.name not in _SUPPLIED]
    arguments = ", ".join(map(_show, parameters))
    first, _, _ = (getdoc(shown) or "").partition("\n\n")
    purpose = re.split(r"(?<=\.) |: ", " ".join(first.split()))[0].removesuffix(".")
    source = Path(import_module(shown.__module__).__file__ or "").relative_to(ROOT)
    return f"[`{name}({arguments})`](../{source.as_posix()}): {purpose}."


def _show(parameter: Parameter) -> str:
    """Return an argument with its default."""
    if parameter.default is Parameter.empty:
        return str(parameter.replace(annotation=Parameter.empty))
    is_function = callable(parameter.default)
    return f"{parameter.name}={'…' if is_function else repr(parameter.default)}"


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(fill(page.read_text(encoding="utf8")), encoding="utf8")
        sys.stdout.write(f"Filled {page}\n")
