"""Tables and sentences that commands print and notebooks show; text in Markdown."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined
from wasabi import Printer

# All but tabs and ends of lines, which texts for people have; and what embeds,
# overrides or isolates a direction of writing. Marks (U+200E, U+200F, U+061C) do no
# more than a letter of such a script, and its texts need them.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# An underscore within a word is one; multi_hash_embed is not to be full of backslashes.
_MARKUP = re.compile(r"[\\`*|<>\[\]&~$]|(?<![^\W_])_|_(?![^\W_])")


def show_controls(text: str) -> str:
    r"""Write control characters as Python does, such as `\x1b` or `\u202e`: a word of a
    corpus may hold any, and would move the cursor of a terminal, or turn round what
    stands beside it.
    """
    return _CONTROL.sub(_write_code, text)


def _write_code(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


@dataclass(frozen=True)
class Table:
    """A table, left out where it has no rows."""

    title: str | None
    legend: str | None
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    #: "l" or "r" for each of the first columns; the others are to the right.
    aligns: str = "l"

    @property
    def all_aligns(self) -> str:
        """The alignment of each column."""
        return self.aligns.ljust(len(self.header), "r")


@dataclass(frozen=True)
class Sentence:
    """Words for people, or as a "divider" a heading over those that follow."""

    text: str
    #: The method of wasabi's printer that they are for.
    kind: Literal["text", "info", "good", "warn", "divider"] = "text"


Part = Table | Sentence

# wasabi's headings are bold, colours or not.
_BOLD = re.compile(r"\x1b\[\d*m")


class Shown:
    """Result that shows in a notebook, and as text, as a command prints it."""

    def get_parts(self) -> Iterable[Part]:
        """Give what is to be shown."""
        raise NotImplementedError

    def __str__(self) -> str:
        printer = Printer(no_print=True)
        printer.show_color = False
        return _BOLD.sub("", show(self.get_parts(), printer))

    def _repr_html_(self) -> str:
        return render_template("parts.html.jinja", {"parts": self.get_parts()})


def show(parts: Iterable[Part], printer: Printer) -> str:
    """Print parts with wasabi's printer, or if that prints nothing give their text."""
    shown: list[str | None] = []
    for part in parts:
        if isinstance(part, Sentence):
            shown.append(getattr(printer, part.kind)(show_controls(part.text)))
        elif isinstance(part, Table) and part.rows:
            if part.title is not None:
                shown.append(printer.divider(show_controls(part.title)))
            if part.legend is not None:
                shown.append(printer.text(show_controls(part.legend)))
            table = printer.table(
                [list(map(_show_in_a_line, row)) for row in part.rows],
                header=[show_controls(name) for name in part.header],
                aligns=tuple(part.all_aligns),
                divider=True,
                max_col=100,
                # so that most tables fit 80 columns
                spacing=2,
            )
            shown.append(table)
    return "\n".join(filter(None, shown))


def _show_in_a_line(cell: str) -> str:
    return show_controls(cell).replace("\n", "\\n").replace("\t", "\\t")


def render_template(
    name: str, values: Mapping[str, Any], package: str = __package__ or ""
) -> str:
    """Render a template of a package as HTML, with all text escaped: of cells that have
    the method `__html__`, as in markupsafe, what that gives. All names must be there.
    """
    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return show_controls(environment.get_template(name).render(values))


def escape_markdown(text: object) -> str:
    """Escape text, as one line, for a paragraph of Markdown or a cell of a table."""
    return _MARKUP.sub(r"\\\g<0>", _join_lines(text))


def write_markdown_code(text: object) -> str:
    """Write text as a line of code of Markdown, outside of tables, in backticks."""
    line = _join_lines(text)
    found = {len(run) for run in re.findall("`+", line)}
    fence = "`" * next(n for n in count(1) if n not in found)
    space = " " if "`" in line else ""
    return f"{fence}{space}{line}{space}{fence}"


def _join_lines(text: object) -> str:
    return show_controls(" ".join(str(text).splitlines()))


def format_fields(record: dict[str, Any], *keys: str) -> list[str]:
    """Format numbers, also lists of them: see `_format_field`."""
    return [_format_field(record[key]) for key in keys]


def _format_field(field: Any) -> str:
    """Format floats with two places, what is not there as '-', and text as it is."""
    if isinstance(field, list):
        return " ".join(map(_format_field, field))
    if isinstance(field, str):
        return field
    if field is None:
        return "-"
    return f"{field:,.2f}" if isinstance(field, float) else f"{field:,}"


def format_percent(share: float | None) -> str:
    """Format a share of 0 to 1, and what is not there as '-'."""
    return "-" if share is None else f"{100 * share:.1f}%"
