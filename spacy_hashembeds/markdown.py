"""Text put into Markdown, so that it reads there as it does anywhere."""

import re
from itertools import count

from .display import show_controls

# An underscore within a word is one; multi_hash_embed is not to be full of backslashes.
_MARKUP = re.compile(r"[\\`*|<>\[\]&~$]|(?<![^\W_])_|_(?![^\W_])")


def escape(text: object) -> str:
    """Escape text, as one line, that stands in a paragraph or in a cell of a table."""
    return _MARKUP.sub(r"\\\g<0>", _join_lines(text))


def code(text: object) -> str:
    """Write text as a line of code, outside of tables, in enough backticks."""
    line = _join_lines(text)
    found = {len(run) for run in re.findall("`+", line)}
    fence = "`" * next(n for n in count(1) if n not in found)
    space = " " if "`" in line else ""
    return f"{fence}{space}{line}{space}{fence}"


def _join_lines(text: object) -> str:
    return show_controls(" ".join(str(text).splitlines()))
