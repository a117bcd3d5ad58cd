"""What commands print and notebooks show: tables, sentences and bars, in plain form."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from jinja2 import BaseLoader, Environment, StrictUndefined
from wasabi import Printer

# All but tabs and ends of lines, which texts for people have.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def show_controls(text: str) -> str:
    r"""Write control characters as Python does, such as `\x1b`: a word of a corpus may
    hold any, and an escape sequence would move the cursor of a terminal.
    """
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


@dataclass(frozen=True)
class Table:
    """A table, left out where it has no rows.

    title, legend (str, optional): What it is, and what there is to know about it.
    aligns (str): "l" or "r" for each of the first columns; the others are to the right.
    """

    title: str | None
    legend: str | None
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    aligns: str = "l"

    @property
    def all_aligns(self) -> str:
        """The alignment of each column."""
        return self.aligns.ljust(len(self.header), "r")


@dataclass(frozen=True)
class Sentence:
    """Words for people, or as a "divider" a heading over those that follow.

    kind (str): The method of wasabi's printer that they are for.
    """

    text: str
    kind: Literal["text", "info", "good", "warn", "divider"] = "text"


@dataclass(frozen=True)
class Bars:
    """Numbers, 0 or more, as bars. Only notebooks draw them."""

    values: Mapping[str, float]
    unit: str


Part = Table | Sentence | Bars

# wasabi's headings are bold, colours or not.
_BOLD = re.compile(r"\x1b\[\d*m")


class Shown:
    """What shows in a notebook, and as text, what a command prints of it."""

    def get_parts(self) -> Iterable[Part]:
        """Give what is to be shown."""
        raise NotImplementedError

    def __str__(self) -> str:
        printer = Printer(no_print=True)
        printer.show_color = False
        return _BOLD.sub("", show(self.get_parts(), printer))

    def _repr_html_(self) -> str:
        return render(self.get_parts())


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


# Without colours but for the bars: notebooks are light or dark.
_HTML = """
<style>
.hashembeds { max-width: 70em }
.hashembeds > div { overflow-x: auto }
.hashembeds table { border-collapse: collapse; margin: .5em 0 1em }
.hashembeds th, .hashembeds td { padding: .15em .75em .15em 0; white-space: nowrap }
.hashembeds .l { text-align: left }
.hashembeds .r { text-align: right; font-variant-numeric: tabular-nums }
.hashembeds .bars { display: grid; gap: .3em .75em; align-items: center;
  grid-template-columns: max-content 1fr max-content; max-width: 40em }
.hashembeds .bars b { background: #4c8bd0; display: block; height: 1.1em }
</style>
<div class="hashembeds">
{% for kind, part in parts %}
{% if kind == "Sentence" and part.kind == "divider" %}
<h4>{{ part.text }}</h4>
{% elif kind == "Sentence" %}
<p>{{ signs[part.kind] }}{{ part.text }}</p>
{% elif kind == "Bars" %}
<div class="bars">
{% for name, value in part["values"].items() %}
<span>{{ name }}</span>
<b style="width: {{ "%.1f"|format(100 * value / (part["values"].values()|max)) }}%"></b>
<span>{{ "{:,.0f}".format(value) }} {{ part.unit }}</span>
{% endfor %}
</div>
{% elif part.rows %}
{% if part.title %}
<h4>{{ part.title }}</h4>
{% endif %}
{% if part.legend %}
<p>{{ part.legend }}</p>
{% endif %}
<div><table>
<thead><tr>
{% for name in part.header %}
<th scope="col" class="{{ part.all_aligns[loop.index0] }}">{{ name }}</th>
{% endfor %}
</tr></thead>
<tbody>
{% for row in part.rows %}
<tr>
{% for cell in row %}
<td class="{{ part.all_aligns[loop.index0] }}">{{ cell }}</td>
{% endfor %}
</tr>
{% endfor %}
</tbody>
</table></div>
{% endif %}
{% endfor %}
</div>
"""

_SIGNS = {"text": "", "info": "", "good": "✔ ", "warn": "⚠ "}


def render(parts: Iterable[Part]) -> str:
    """Render parts as a piece of HTML for a notebook. All text is escaped."""
    kinds = [(type(part).__name__, part) for part in parts]
    page = make_environment().from_string(_HTML).render(parts=kinds, signs=_SIGNS)
    return show_controls(page)


def make_environment(loader: BaseLoader | None = None) -> Environment:
    """Make an environment for templates of HTML: all text is escaped, and what a
    template names has to be there.
    """
    return Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def format_fields(record: dict[str, Any], *keys: str) -> list[str]:
    """Format numbers, also several of a field: floats with two places, and what is not
    there as '-'. Text stays as it is.
    """
    return [_format_field(record[key]) for key in keys]


def _format_field(field: Any) -> str:
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
