"""An evaluation: its data, and the forms in which it can be shown and saved."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..checks import check_types
from ..files import choose_suffix, replacing, write_json
from . import (
    category_csv,
    category_page,
    category_tables,
    page,
    table_of_scores,
    tables,
)
from .table import Table, format_percent

#: How files are written, by their suffix.
SUFFIXES = (".json", ".html", ".md", ".csv")


class View(NamedTuple):
    """How an evaluation is shown.

    title (str): What was evaluated.
    annotation (str): What documents are annotated with.
    support (str): The key of how many there are, and what they are, for people.
    score (str): The key of the score that stands for all, and its name.
    """

    title: str
    annotation: str
    support: tuple[str, str]
    score: tuple[str, str]
    make_tables: Callable[[Mapping[str, Any]], list[Table]]
    render_page: Callable[[Mapping[str, Any]], str]
    render_part: Callable[[Mapping[str, Any]], str]
    to_csv: Callable[[Mapping[str, Any]], str]


ENTITIES = View(
    title="Named entities, evaluated",
    annotation="entity",
    support=("ents_support", "entities"),
    score=("ents_f", "F1"),
    make_tables=tables.make_tables,
    render_page=page.render_page,
    render_part=page.render_part,
    to_csv=table_of_scores.to_csv,
)
CATEGORIES = View(
    title="Categories of documents, evaluated",
    annotation="category",
    support=("cats_support", "documents"),
    score=("cats_acc", "accuracy"),
    make_tables=category_tables.make_tables,
    render_page=category_page.render_page,
    render_part=category_page.render_part,
    to_csv=category_csv.to_csv,
)


class Evaluation(Mapping[str, Any]):
    """All that an evaluation has found, as `evaluate` returns it.

    A mapping of JSON data: `dict(evaluation)` is what a `.json` file holds. Of
    entities:

    - The scores of `score_seen_unseen`, beside each `p`, `r` and `f` its interval (see
      `bootstrap_scores`): `ents_p_interval` and, in each type, `p_interval`.
    - "setting": what was evaluated, and how; with "shared", see `Sharing`.
    - "averages": for "all", "seen" and "unseen" entities, averages over types (see
      `average_types`).
    - "schemes": for each of these, scores that give credit to what is nearly right (see
      `SchemeCounter.summarize`).
    - "groups": for each of `GROUPINGS` its groups.
    - "chunks": for each of `CHUNKS` how many tokens have it, their recall, that of the
      other model, and with `ablation` that with each part of the encoder alone.
    - "confusions": see `Confusion`.
    - "comparison": None, or the other model and, for "all", "seen" and "unseen"
      entities, its scores and the differences (see `compare_scores`); under "per_type"
      and "per_length" those of all entities of each type and length.
    - "misspelt": None, or the misspelt "corpus" and, in the same form, the scores that
      the pipeline has there, and what is lost.
    - "warnings": sentences, where figures may not be what they seem.

    Of categories:

    - The scores of `summarize_judgements`, with intervals likewise.
    - "setting", and "warnings".
    - "matrix": see `make_matrix`; None where a document may have several labels,
      and of more than 500 labels.
    - "comparison": None, or the other model and, for each score, the difference.
    - "confusions": see `Misclassifications.rank`.

    data (Mapping[str, Any]): The data.
    view (View): How it is shown.
    """

    def __init__(self, data: Mapping[str, Any], view: View = ENTITIES) -> None:
        self._data = dict(data)
        self._view = view

    def __getitem__(self, key: str) -> Any:
        return self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        (key, score), (of_support, things) = self._view.score, self._view.support
        value, name = format_percent(self[key]), self["setting"]["model"]
        return (
            f"<Evaluation of {name}: {score} {value} on {self[of_support]:,} {things}>"
        )

    def __str__(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        """RETURNS (str): The page as a part of a notebook."""
        return self._view.render_part(self)

    def make_tables(self) -> list[Table]:
        """RETURNS (list[Table]): The tables that the command prints."""
        return self._view.make_tables(self)

    def describe_draws(self) -> str | None:
        """RETURNS (str, optional): What the intervals are, if there are any."""
        return tables.describe_draws(self["setting"], self._view.annotation)

    def to_html(self) -> str:
        """RETURNS (str): One HTML page that needs no other file and no script."""
        return self._view.render_page(self)

    def to_markdown(self) -> str:
        """RETURNS (str): The tables that the command prints, in Markdown."""
        return tables.to_markdown(
            self,
            title=self._view.title,
            tables=self.make_tables(),
            draws=self.describe_draws(),
        )

    def to_csv(self) -> str:
        """RETURNS (str): The scores as one table, a row for each kind of entities,
        scheme, and average or type: see `table_of_scores`. Of categories, a row for the
        accuracy and each average and label: see `category_csv`.
        """
        return self._view.to_csv(self)

    def write(self, path: str | Path) -> None:
        """Write a file, whole or not at all.

        path (str | Path): The file, of the form that its suffix names: see
            `SUFFIXES`. To an open file, such as `/dev/stdout`, JSON is written.
        RAISES (OSError): If it can't be written.
        RAISES (TypeError): If it is no path.
        RAISES (ValueError): If the suffix is another.
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
