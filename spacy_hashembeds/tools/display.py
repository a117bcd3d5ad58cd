"""Tables and sentences for terminals, notebooks, HTML and Markdown."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined
from wasabi import Printer

# Control characters, except tabs and newlines; bidirectional formatting characters; and
# surrogates, as in file names that are not UTF-8, which UTF-8 can't encode.
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
# Markdown characters to escape, except underscores within words.
_MARKUP = re.compile(r"[\\`*|<>\[\]&~$]|(?<![^\W_])_|_(?![^\W_])")
# wasabi prints bold headings even without colors.
_BOLD = re.compile(r"\x1b\[\d*m")


@dataclass(frozen=True)
class Table:
    """A table. It is not displayed if it has no rows."""

    title: str | None
    legend: str | None
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    #: "l" or "r" for the first columns; the others are right-aligned.
    aligns: str = "l"

    @property
    def all_aligns(self) -> str:
        """The alignment of each column."""
        return self.aligns.ljust(len(self.header), "r")


@dataclass(frozen=True)
class Message:
    """A sentence, or with kind "divider" a heading."""

    text: str
    #: The method of wasabi's printer.
    kind: Literal["text", "info", "good", "warn", "divider"] = "text"


Part = Table | Message


def show(parts: Iterable[Part], printer: Printer) -> str:
    """Print parts with wasabi's printer. Return the text if it has `no_print`."""
    shown: list[str | None] = []
    for part in parts:
        if isinstance(part, Message):
            shown.append(getattr(printer, part.kind)(show_controls(part.text)))
        elif part.rows:
            if part.title:
                shown.append(printer.divider(show_controls(part.title)))
            if part.legend:
                shown.append(printer.text(show_controls(part.legend)))
            table = printer.table(
                [[_write_line(cell, "\\n") for cell in row] for row in part.rows],
                header=[show_controls(name) for name in part.header],
                aligns=tuple(part.all_aligns),
                divider=True,
                max_col=100,
                spacing=2,  # most tables fit into 80 columns
            )
            shown.append(table)
    return "\n".join(filter(None, shown))


def write_plain(parts: Iterable[Part]) -> str:
    """Return the text that `show` prints, without colors."""
    printer = Printer(no_print=True)
    printer.show_color = False
    return _BOLD.sub("", show(parts, printer))


def write_markdown(parts: Iterable[Part]) -> str:
    """Return parts as Markdown, with text escaped."""
    blocks = []
    for part in parts:
        if isinstance(part, Message):
            mark = "**" if part.kind == "warn" else ""
            blocks.append(f"{mark}{escape_markdown(part.text)}{mark}")
        elif part.rows:
            rules = [":--" if align == "l" else "--:" for align in part.all_aligns]
            header, *rows = (map(escape_markdown, r) for r in (part.header, *part.rows))
            lines = [f"| {' | '.join(row)} |" for row in (header, rules, *rows)]
            blocks.append(f"## {escape_markdown(part.title)}")
            blocks += [escape_markdown(part.legend)] if part.legend else []
            blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def render_page(
    parts: Iterable[Part],
    errors: Iterable[Mapping[str, Any]] = (),
    title: str | None = None,
) -> str:
    """Render parts and errors as HTML: a page if there is a title, else a fragment."""
    environment = Environment(
        loader=PackageLoader(__package__ or ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("page.html.jinja")
    return show_controls(template.render(parts=parts, errors=errors, title=title))


def show_controls(text: str) -> str:
    r"""Escape control characters and surrogates as Python does, such as `\x1b`."""
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


def escape_markdown(text: object) -> str:
    """Escape text as one line for a paragraph or a table cell of Markdown."""
    return _MARKUP.sub(r"\\\g<0>", _write_line(text, " "))


def _write_line(text: object, end: str) -> str:
    return show_controls(end.join(str(text).splitlines())).replace("\t", "\\t")


def format_field(field: Any) -> str:
    """Format a number or a list of numbers, None as '-'. Text is unchanged."""
    if isinstance(field, list):
        return " ".join(map(format_field, field))
    if field is None:
        return "-"
    if isinstance(field, str):
        return field
    return f"{field:,.2f}" if isinstance(field, float) else f"{field:,}"


def format_percent(share: float | None) -> str:
    """Format a share of 0 to 1 in percent, or None as '-'."""
    return "-" if share is None else f"{100 * share:.1f}%"
