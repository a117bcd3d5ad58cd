"""An evaluation: its data, and the forms in which it can be shown and saved."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..checks import check_types
from ..files import find_descriptor, replacing, write_json
from . import page, table_of_scores, tables

#: How files are written, by their suffix.
SUFFIXES = (".json", ".html", ".md", ".csv")


class Evaluation(Mapping[str, Any]):
    """All that an evaluation has found, as `evaluate` returns it.

    A mapping of JSON data: `dict(evaluation)` is what a `.json` file holds.

    - The scores of `score_seen_unseen`, beside each `p`, `r` and `f` its interval (see
      `bootstrap_scores`): `ents_p_interval` and, in each type, `p_interval`.
    - "setting": what was evaluated, and how; with "shared", see `Sharing`.
    - "averages": for "all", "seen" and "unseen" entities, averages over types (see
      `average_types`).
    - "schemes": for each of these, scores that give credit to what is nearly right (see
      `SchemeCounter.summarize`).
    - "groups": for each of `GROUPINGS` its groups.
    - "confusions": see `Confusion`.
    - "comparison": None, or the other model and, for "all", "seen" and "unseen"
      entities, its scores and the differences (see `compare_scores`).
    - "warnings": sentences, where figures may not be what they seem.

    data (Mapping[str, Any]): The data.
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
        name, support = self["setting"]["model"], self["ents_support"]
        score = tables.format_percent(self["ents_f"])
        return f"<Evaluation of {name}: F1 {score} on {support:,} entities>"

    def __str__(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        """RETURNS (str): The page as a part of a notebook."""
        return page.render_part(self)

    def to_html(self) -> str:
        """RETURNS (str): One HTML page that needs no other file and no script."""
        return page.render_page(self)

    def to_markdown(self) -> str:
        """RETURNS (str): The tables that the command prints, in Markdown."""
        return tables.to_markdown(self)

    def to_csv(self) -> str:
        """RETURNS (str): The scores as one table, a row for each kind of entities,
        scheme, and average or type: see `table_of_scores`.
        """
        return table_of_scores.to_csv(self)

    def write(self, path: str | Path) -> None:
        """Write a file, whole or not at all.

        path (str | Path): The file, of the form that its suffix names: see
            `check_output`. To an open file, such as `/dev/stdout`, JSON is written.
        RAISES (OSError): If it can't be written.
        RAISES (TypeError): If it is no path.
        RAISES (ValueError): If the suffix is another.
        """
        check_types(str | Path, "the path of a file", path=path)
        check_output(path)
        suffix = _get_suffix(path)
        if suffix == ".json":
            write_json(path, dict(self))
            return
        make = {".html": self.to_html, ".md": self.to_markdown, ".csv": self.to_csv}
        text = make[suffix]()
        with replacing(path) as temporary:
            # names of files may hold bytes that are no text
            temporary.write_text(text, encoding="utf8", errors="backslashreplace")


def check_output(path: str | Path) -> None:
    """Check that an evaluation can be written to a file, before the work.

    RAISES (ValueError): If its name ends in none of `SUFFIXES`, and it is no open file
        either.
    """
    if _get_suffix(path) not in SUFFIXES:
        raise ValueError(
            f"'output' should end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, but "
            f"is '{path}'."
        )


def _get_suffix(path: str | Path) -> str:
    return ".json" if find_descriptor(path) is not None else Path(path).suffix
