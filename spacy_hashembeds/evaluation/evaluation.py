"""An evaluation: its data, and the forms in which it can be shown and saved."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .. import markdown
from ..checks import check_types
from ..controls import show_controls
from ..display import Table
from ..files import choose_suffix, replacing, write_json
from .categories import name_accuracy
from .page import describe_setting, name_title, render
from .spreadsheet import to_csv
from .tables import Score, make_sections

#: How files are written, by their suffix.
SUFFIXES = (".json", ".html", ".md", ".csv")


class Evaluation(Mapping[str, Any]):
    """All that an evaluation has found, as `evaluate` returns it.

    A mapping of JSON data: `dict(evaluation)` is what a `.json` file holds. Its keys
    are listed in docs/evaluate.md.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = dict(data)

    def __getitem__(self, key: str) -> Any:
        return self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        if "schemes" in self:
            score = f"F1 {Score(self['ents_f'])} on {self['ents_support']:,} entities"
        else:
            score = f"{name_accuracy(self)} {Score(self['cats_acc'])}"
            score += f" on {self['cats_support']:,} documents"
        return f"<Evaluation of {self['setting']['model']}: {score}>"

    def __str__(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        """Render the page as a part of a notebook."""
        return render(self, is_page=False)

    def make_tables(self) -> list[Table]:
        """Make the tables that the command prints."""
        tables = (table for part in make_sections(self) for table in part.tables)
        return [table.to_text() for table in tables if table.shown != "page"]

    def describe_draws(self) -> str | None:
        """Say what the intervals are, if there are any."""
        setting = self["setting"]
        drawn, read = setting["documents"], setting["documents_read"]
        if not drawn:
            return None
        documents = f"{drawn:,} document{'s' * (drawn != 1)}"
        annotation = "entity" if "schemes" in self else "category"
        annotated = f" with {annotation} annotation, of {read:,} in all"
        return (
            f"Intervals hold {setting['confidence']:.0%} of {setting['samples']:,} "
            f"draws of the {documents}{annotated * (drawn < read)}, seed "
            f"{setting['seed']}"
        )

    def to_html(self) -> str:
        """Render one HTML page that needs no other file and no script."""
        return render(self, is_page=True)

    def to_markdown(self) -> str:
        """Write the tables that the command prints, in Markdown."""
        named = describe_setting(self)
        lines = [f"- {key}: {markdown.code(name)}" for key, name in named.items()]
        blocks = [f"# {name_title(self)}", "\n".join(lines)]
        blocks += [f"**{markdown.escape(text)}**" for text in self["warnings"]]
        for table in self.make_tables():
            legend = [] if table.legend is None else [markdown.escape(table.legend)]
            blocks += [f"## {markdown.escape(table.title)}", *legend, _format(table)]
        if draws := self.describe_draws():
            blocks.append(f"{draws}.")
        return show_controls("\n\n".join(blocks) + "\n")

    def to_csv(self) -> str:
        """Write the scores as one table: see `OF_ENTITIES`, and `OF_CATEGORIES`."""
        return to_csv(self)

    def write(self, path: str | Path) -> None:
        """Write a file, whole or not at all.

        path (str | Path): The file, of the form that its suffix names: see
            `SUFFIXES`. To an open file, such as `/dev/stdout`, JSON is written.
        """
        check_types(str | Path, "the path of a file", path=path)
        suffix = choose_suffix(path, SUFFIXES)
        if suffix == ".json":
            write_json(path, dict(self))
            return
        make = {".html": self.to_html, ".md": self.to_markdown, ".csv": self.to_csv}
        text = make[suffix]()
        with replacing(path) as temporary:
            # names of files may hold bytes that are no text
            temporary.write_text(text, encoding="utf8", errors="backslashreplace")


def _format(table: Table) -> str:
    rules = [":--" if align == "l" else "--:" for align in table.all_aligns]
    rows = [map(markdown.escape, row) for row in (table.header, *table.rows)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], f"| {' | '.join(rules)} |", *lines[1:]])
