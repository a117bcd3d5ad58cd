"""The tables of an evaluation, in the order in which they are shown."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..controls import show_controls
from ..display import Table as TextTable
from .categories import AVERAGES, name_accuracy
from .groups import GROUPINGS
from .schemes import OUTCOMES
from .scorer import KINDS

#: Columns of a terminal, and the spaces between those of a table.
WIDTH, GAP = 80, 3

#: Confusions that are listed, and labels of a matrix that fits a terminal; JSON and the
#: page have more.
_N_CONFUSIONS, _N_LABELS = 10, 10

#: The fewest characters of a text that are shown, and of a label above a column; and
#: how many of a document with a wrong label.
_LEAST_QUOTED, _LEAST_LABEL, _QUOTED = 20, 4, 34


class Score(NamedTuple):
    """A share of 0 to 1, None where nothing was counted, and its bounds."""

    value: float | None
    interval: Sequence[float] | None = None

    def __str__(self) -> str:
        return "-" if self.value is None else f"{self.value * 100:.2f}"


class Change(NamedTuple):
    """A difference of shares, -1 to 1, None where there is none."""

    value: float | None

    def __str__(self) -> str:
        return "-" if self.value is None else f"{self.value * 100:+.2f}"


class Range(NamedTuple):
    """Bounds of shares, which are not known to more than a place or so."""

    bounds: Sequence[float] | None

    def __str__(self) -> str:
        if self.bounds is None:
            return "-"
        return "..".join(f"{x * 100:.1f}" for x in self.bounds)


class Cell(NamedTuple):
    """A count in a matrix, and the share that it is of the largest one."""

    number: int
    share: float

    def __str__(self) -> str:
        return str(self.number)


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of scores, counts and words.

    title (str): What is in it.
    legend (str, optional): What there is to know about it.
    header (Sequence[str]): Its columns.
    rows (Sequence[Sequence[Any]]): Its rows: text, numbers, and the types above.
    aligns (str): "l" or "r" for each of the first columns; the others are to the right.
    ranges (str): The columns, of one letter, whose bounds are columns where it is text.
    is_text (bool): Whether it stands in the terminal and in Markdown.
    is_html (bool): Whether it stands on the page.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    aligns: str = "l"
    legend: str | None = None
    ranges: str = ""
    is_text: bool = True
    is_html: bool = True

    def to_text(self) -> TextTable:
        """RETURNS (TextTable): The table with text in all of its cells."""
        places = [self.header.index(name) for name in self.ranges]
        rows = [
            (*row, *(_get_range(row[place]) for place in places)) for row in self.rows
        ]
        header = (*self.header, *(f"{name} from-to" for name in self.ranges))
        text = [tuple(map(str, row)) for row in rows]
        return TextTable(self.title, self.legend, header, text, self.aligns)


class Section(NamedTuple):
    """A part of the page.

    name (str): What it is called.
    about (str): What there is to know about it.
    tables (Sequence[Table]): Its tables, those that have rows.
    """

    name: str
    about: str
    tables: Sequence[Table]


_ABOUT = {
    "Comparison": "The difference is these predictions minus the others, in points; "
    "its interval is from the same draws of documents for both. p is the two-sided "
    "probability of a difference at least as large if it did not matter which of the "
    "two made which prediction (approximate randomization by document).",
    "Misspelt": "What the same pipeline scores where it reads a misspelt copy of the "
    "gold corpus, and what is lost there, in points. Interval and p are those of two "
    "pipelines that are compared: drawn by document.",
    "Lengths": "In tokens.",
    "Averages": "In percent. Micro counts the entities of all types together; macro is "
    "the mean of the types' scores, and weighted that with each type as often as it "
    "has gold entities. A score with nothing to divide by is 0.",
    "Schemes": "Scores in percent that give credit to what is nearly right, as defined "
    "for SemEval 2013, task 9.1. Strict: type and bounds must be right, as above. "
    "Exact: the bounds, whatever the type. Partial: as exact, but an overlap counts "
    "half. Ent_type: the type, and some token shared.",
    "Groups": "Every gold entity is in one group of each table. There is no precision "
    "here: a wrong prediction belongs to no group. The same follows by type, with the "
    "number of gold entities.",
    "Chunks": "Recall of tokens, in percent.",
    "Errors": "The texts are the first errors of each kind in the corpus.",
}
_OF_ENTITIES = (
    "An entity is seen if its exact text stands as an entity in the training corpus."
)
_OF_INTERVALS = (
    "Small figures are {confidence:.0%} intervals over documents ({samples:,} draws, "
    "seed {seed}): they say how far a score would move on other documents of the same "
    "kind, for this pipeline as it is. They don't say what training it again would "
    "give."
)


def make_sections(evaluation: Mapping[str, Any]) -> list[Section]:
    """Show an evaluation as sections with tables, those that have rows.

    evaluation (Mapping[str, Any]): What `evaluate` returns.
    RETURNS (list[Section]): The sections.
    """
    is_of_entities = "schemes" in evaluation
    make = _show_entities if is_of_entities else _show_categories
    about = _OF_ENTITIES if is_of_entities else _describe_categories(evaluation)
    intervals = _OF_INTERVALS.format(**evaluation["setting"])
    found = {**_ABOUT, "Scores": f"In percent. {about} {intervals}"}
    sections = [
        Section(name, found.get(name, ""), [table for table in tables if table.rows])
        for name, tables in make(evaluation).items()
    ]
    return [each for each in sections if each.tables or each.name == "Errors"]


def _show_entities(evaluation: Mapping[str, Any]) -> dict[str, list[Table]]:
    return {
        "Scores": [_show_scores(evaluation)],
        "Comparison": _show_comparison(evaluation),
        "Misspelt": _show_misspelt(evaluation),
        "Types": _show_division(evaluation, "type", "Type"),
        "Lengths": _show_division(evaluation, "length", "Tokens"),
        "Averages": [_show_averages(evaluation)],
        "Schemes": [_show_schemes(evaluation)],
        "Groups": list(_show_groups(evaluation)),
        "Chunks": [_show_chunks(evaluation), _show_parts(evaluation)],
        "Errors": [_list_confusions(evaluation, ("gold", "predicted", "error"))],
    }


def _show_categories(evaluation: Mapping[str, Any]) -> dict[str, list[Table]]:
    return {
        "Scores": [_show_category_scores(evaluation)],
        "Comparison": _show_category_comparison(evaluation),
        "Labels": [_show_labels(evaluation)],
        "Matrix": _show_matrix(evaluation),
        "Errors": [_list_confusions(evaluation, ("gold", "predicted"))],
    }


# Entities.


def _show_scores(evaluation: Mapping[str, Any]) -> Table:
    rows = [
        (kind.title(), *_get_scores(evaluation, f"{prefix}_", "support"))
        for kind, prefix in KINDS.items()
    ]
    header = ("", *"PRF", "Support")
    return Table(title="Entities", header=header, rows=rows, ranges="PRF")


def _show_comparison(evaluation: Mapping[str, Any]) -> list[Table]:
    comparison = evaluation["comparison"]
    if comparison is None:
        return []
    rows = _list_differences(evaluation, comparison)
    return [_make_comparison(f"Against {comparison['model']}", ("", ""), rows)]


def _show_misspelt(evaluation: Mapping[str, Any]) -> list[Table]:
    misspelt = evaluation["misspelt"]
    if misspelt is None:
        return []
    rows = _list_differences(evaluation, misspelt)
    legend = "entities are seen or unseen by the words of the gold corpus"
    title = f"Against itself on {misspelt['corpus']}"
    return [_make_comparison(title, ("", ""), rows, other="Misspelt", legend=legend)]


def _list_differences(
    evaluation: Mapping[str, Any], comparison: Mapping[str, Any]
) -> list[Sequence[Any]]:
    return [
        (
            kind.title(),
            key.upper(),
            *_show_difference(evaluation[f"{prefix}_{key}"], comparison[kind][key]),
        )
        for kind, prefix in KINDS.items()
        if comparison[kind] is not None
        for key in "prf"
    ]


def _show_division(
    evaluation: Mapping[str, Any], division: str, heading: str
) -> list[Table]:
    """Show the scores of each type or length, for each kind of entities."""
    key, comparison = f"per_{division}", evaluation["comparison"]
    of_all = evaluation[f"ents_{key}"] or {}
    names = sorted(of_all)  # lengths too
    rows = [
        (name, kind.title(), *_get_scores(scores.get(name, {}), "", "support"))
        for name in names
        for kind, prefix in KINDS.items()
        for scores in [evaluation[f"{prefix}_{key}"] or {}]
    ]
    is_length = division == "length"
    tables = [
        Table(
            title=f"Entities by {division}",
            legend="a prediction is as long as it is, right or wrong" * is_length
            or None,
            header=(heading, "", *"PRF", "Support"),
            rows=rows,
            aligns="ll",
            ranges="F",
        )
    ]
    if comparison is not None:
        differences = [
            (name, *_show_difference(of_all[name]["f"], row["f"]))
            for name, row in comparison[key].items()
            if row is not None
        ]
        title = f"By {division}, against {comparison['model']}"
        tables.append(
            _make_comparison(title, (division.title(),), differences, letter=" F")
        )
    return tables


def _show_averages(evaluation: Mapping[str, Any]) -> Table:
    rows = [
        (kind.title(), name, *_get_scores(score))
        for kind in _find_kinds(evaluation)
        for name, score in evaluation["averages"][kind].items()
    ]
    header = ("", "Average", *"PRF")
    return Table(title="Averages over types", header=header, rows=rows, aligns="ll")


def _show_schemes(evaluation: Mapping[str, Any]) -> Table:
    rows = [
        (kind.title(), scheme, *_get_scores(score), *(score[n] for n in OUTCOMES))
        for kind in _find_kinds(evaluation)
        for scheme, score in evaluation["schemes"][kind].items()
    ]
    names = {"COR": "correct", "INC": "incorrect", "PAR": "partly correct"}
    names |= {"MIS": "missed", "SPU": "spurious"}
    return Table(
        title="Schemes of matching",
        legend=", ".join(f"{short} {name}" for short, name in names.items()),
        header=("", "Scheme", *"PRF", *names),
        rows=rows,
        aligns="ll",
    )


def _find_kinds(evaluation: Mapping[str, Any]) -> list[str]:
    """Give the kinds of which there are gold entities."""
    return [kind for kind, prefix in KINDS.items() if evaluation[f"{prefix}_support"]]


def _show_groups(evaluation: Mapping[str, Any]) -> Iterator[Table]:
    for name, groups in evaluation["groups"].items():
        grouping = GROUPINGS[name]
        shown = [grouping.groups[group["group"]] for group in groups]
        rows = [
            (text, Score(group["recall"], group["interval"]), group["support"])
            for text, group in zip(shown, groups, strict=True)
        ]
        yield Table(
            title=grouping.title, header=("", "R", "Support"), rows=rows, ranges="R"
        )
        by_type = [
            (label, *(_show_part(group["per_type"][label]) for group in groups))
            for label in groups[0]["per_type"]
        ]
        title = f"{grouping.title}, by type"
        yield Table(title=title, header=("Type", *shown), rows=by_type, is_text=False)


def _show_part(part: Mapping[str, Any]) -> str:
    if not part["support"]:
        return ""
    return f"{part['recall'] * 100:.1f} of {part['support']}"


def _show_chunks(evaluation: Mapping[str, Any]) -> Table:
    others = ["other"] if evaluation["comparison"] is not None else []
    rows = [
        (tag, *(Score(chunk[key]) for key in ("recall", *others)), chunk["support"])
        for tag, chunk in evaluation["chunks"].items()
    ]
    return Table(
        title="Tokens by chunk tag",
        legend="outside, single token, begin, inside and end of an entity of any type",
        header=("Tag", "R", *(["Other R"] if others else []), "Support"),
        rows=rows,
    )


def _show_parts(evaluation: Mapping[str, Any]) -> Table:
    parts = evaluation["setting"]["parts"]
    rows = [
        (tag, Score(chunk["recall"]), *(_subtract(chunk, part) for part in parts))
        for tag, chunk in evaluation["chunks"].items()
    ]
    return Table(
        title="Parts of the encoder alone",
        legend="difference in recall, with zeros in place of all other parts",
        header=("Tag", "R", *parts),
        rows=rows if parts else [],
    )


def _subtract(chunk: Mapping[str, Any], part: str) -> Change:
    recall = chunk["recall"]
    return Change(None if recall is None else chunk["parts"][part] - recall)


# Categories.


def _describe_categories(evaluation: Mapping[str, Any]) -> str:
    if evaluation["cats_exclusive"]:
        accuracy = "Accuracy is the share of documents that get their label."
    else:
        accuracy = (
            "Exact match is the share of documents that get all of their labels and no "
            "other."
        )
    return (
        f"{accuracy} Macro is the mean of the labels' scores, and micro counts the "
        "labels of all documents together."
    )


def _show_category_scores(evaluation: Mapping[str, Any]) -> Table:
    accuracy = Score(evaluation["cats_acc"], evaluation["cats_acc_interval"])
    # precision, recall and F1 of it are equal
    rows: list[Sequence[Any]] = [
        (name_accuracy(evaluation).capitalize(), "", "", accuracy)
    ]
    for average in AVERAGES:
        rows.append((average.title(), *_get_scores(evaluation, f"cats_{average}_")))
    legend = f"Documents: {evaluation['cats_support']:,}"
    threshold = evaluation["setting"]["threshold"]
    if threshold is not None:
        legend += f". Labels are predicted from a score of {threshold} on"
    header = ("", *"PRF")
    return Table(
        title="Categories", legend=legend, header=header, rows=rows, ranges="PRF"
    )


def _show_category_comparison(evaluation: Mapping[str, Any]) -> list[Table]:
    comparison = evaluation["comparison"]
    if comparison is None:
        return []
    accuracy = name_accuracy(evaluation).capitalize()
    names = {"cats_acc": (accuracy, "")} | {
        f"cats_{average}_{key}": (average.title(), key.upper())
        for average in AVERAGES
        for key in "prf"
    }
    rows = [
        (*name, *_show_difference(evaluation[key], comparison[key]))
        for key, name in names.items()
        if comparison[key] is not None
    ]
    return [_make_comparison(f"Against {comparison['model']}", ("", ""), rows)]


def _show_labels(evaluation: Mapping[str, Any]) -> Table:
    rows = [
        (label, *_get_scores(score, "", "support"))
        for label, score in (evaluation["cats_per_type"] or {}).items()
    ]
    header = ("Label", *"PRF", "Support")
    return Table(title="Categories by label", header=header, rows=rows, ranges="F")


def _show_matrix(evaluation: Mapping[str, Any]) -> list[Table]:
    """Show the matrix on the page, and where it fits, and is cut, in the terminal."""
    matrix = evaluation["matrix"]
    if matrix is None:
        return []
    labels = [show_controls(label) for label in matrix["labels"]]
    most = max(map(max, matrix["counts"])) or 1
    rows = [
        [label, *(Cell(count, count / most) for count in counts)]
        for label, counts in zip(labels, matrix["counts"], strict=True)
    ]
    nones = []
    if any(matrix["unpredicted"]):
        nones = ["none"]
        for row, count in zip(rows, matrix["unpredicted"], strict=True):
            row.append(count)
    title = "Confusion matrix"
    legend = "A row for each gold label, a column for each predicted one"
    room = (WIDTH - max(map(len, labels))) // (len(labels) + 1) - GAP
    cut = [_cut(label, max(_LEAST_LABEL, room)) for label in labels]
    is_small = len(labels) <= _N_LABELS
    page, text = (
        Table(
            title=title,
            legend=legend,
            header=("Gold", *names, *nones),
            rows=rows,
            is_text=names is cut and is_small,
            is_html=names is not cut,
        )
        for names in (labels, cut)
    )
    return [page, text]


# Both.


def _list_confusions(evaluation: Mapping[str, Any], keys: Sequence[str]) -> Table:
    confusions = evaluation["confusions"]
    shown = confusions[:_N_CONFUSIONS]
    rows = [
        (*(show_controls(each[key] or "-") for key in keys), str(each["count"]))
        for each in shown
    ]
    header = (*(key.capitalize() for key in keys), "Count")
    room = _QUOTED
    if "error" in keys:
        columns = zip(header, *rows, strict=True)
        taken = sum(max(map(len, column)) + GAP for column in columns)
        room = max(_LEAST_QUOTED, WIDTH - taken)
    quoted = [
        (*row, _quote(each["examples"][0], room))
        for row, each in zip(rows, shown, strict=True)
    ]
    return Table(
        title=f"Confusions ({len(rows)} of {len(confusions)} kinds)",
        header=(*header, "For example"),
        rows=quoted,
        aligns=f"{'l' * len(keys)}rl",
        is_html=False,
    )


def _quote(example: Mapping[str, Any], room: int) -> str:
    """Give an error's surroundings in one line, a wrong entity in brackets."""
    text = example["text"]
    marks = [
        mark
        for mark in (*example["gold"], *example["predicted"])
        if not isinstance(mark, str) and mark["is_error"]
    ]
    if not marks:
        return _cut(" ".join(show_controls(text).split()), room)
    start, end = min(m["start"] for m in marks), max(m["end"] for m in marks)
    before, error, after = (
        show_controls(part) for part in (text[:start], text[start:end], text[end:])
    )
    error = " ".join(error.split())
    if len(error) > room - 2:
        return f"[{error[: room - 3]}…]"
    margin = (room - 2 - len(error)) // 2
    before = before[max(0, len(before) - margin) :]
    return " ".join(f"{before}[{error}]{after[:margin]}".split())


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _get_scores(
    scores: Mapping[str, Any], prefix: str = "", support: str | None = None
) -> list[Any]:
    """Get precision, recall and F1 with their intervals, and their support."""
    names = [f"{prefix}{key}" for key in "prf"]
    found = [Score(scores.get(name), scores.get(f"{name}_interval")) for name in names]
    return [*found, scores.get(f"{prefix}{support}", 0)] if support else found


def _get_range(cell: Any) -> Any:
    return Range(cell.interval) if isinstance(cell, Score) else cell


def _show_difference(this: float | None, row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Show a score, another pipeline's, and a `Difference`."""
    change, bounds = Change(row["difference"]), Range(row["interval"])
    return Score(this), Score(row["other"]), change, bounds, f"{row['p_value']:.4f}"


def _make_comparison(
    title: str,
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    other: str = "Other",
    letter: str = "",
    legend: str | None = None,
) -> Table:
    scores = (f"This{letter}", f"{other}{letter}")
    header = (*names, *scores, "Difference", "From-to", "p")
    aligns = "l" * len(names)
    return Table(title=title, legend=legend, header=header, rows=rows, aligns=aligns)
