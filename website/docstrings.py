"""Docstrings as Thinc writes them, for mkdocstrings: an extension of griffe.

`name (type): What it is.` begins an argument, and RETURNS and RAISES stand for a name.
"""

import re
from importlib import import_module
from inspect import signature

from griffe import Extension, Function, Object

ENTRY = re.compile(r"(RETURNS|RAISES|\*{0,2}\w+(?:, \w+)*) \(([^\n]+?)\): ?(.*)", re.S)
CONSTANT = re.compile("[A-Z_]{2,}")
HEADINGS = {"RETURNS": "Returns", "RAISES": "Raises"}
#: A page that a docstring names.
PAGE = re.compile(r"docs/([\w-]+)\.md")


class ThincDocstrings(Extension):
    """Turns them into Google's style, which mkdocstrings reads."""

    def on_object(self, *, obj: Object, **_: object) -> None:
        """Rewrite the docstring of whatever is shown."""
        if obj.docstring is not None:
            obj.docstring.value = to_google(obj.docstring.value)

    def on_function(self, *, func: Function, **_: object) -> None:
        """Show the value of a default, and not the name of a constant."""
        for parameter in func.parameters:
            if func.parent is func.module and CONSTANT.match(str(parameter.default)):
                function = getattr(import_module(func.module.path), func.name)
                default = signature(function).parameters[parameter.name].default
                parameter.default = repr(default)


def to_google(text: str) -> str:
    """Put entries under headings, and links in the place of pages that are named."""
    lines: list[str] = []
    last = None
    # An entry goes on in lines that are indented.
    for block in re.split(r"\n(?=\S)", PAGE.sub(r"[\1.md](\1.md)", text)):
        entry = ENTRY.fullmatch(block.rstrip())
        heading = None if entry is None else HEADINGS.get(entry[1], "Args")
        if heading != last:
            lines += ["", f"{heading}:"] if heading else [""]
        lines += [block] if entry is None else _write_entry(*entry.groups())
        last = heading
    return "\n".join(lines)


def _write_entry(names: str, kind: str, text: str) -> list[str]:
    what = " ".join(text.split())
    if names in HEADINGS:
        return [f"    {kind}: {what}"]
    first, *others = names.split(", ")
    likewise = [f"    {name} ({kind}): As `{first}`." for name in others]
    return [f"    {first} ({kind}): {what}", *likewise]
