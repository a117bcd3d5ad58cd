"""The tables of an evaluation, in the order in which they are shown."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any, NamedTuple

from ..display import Table, show_controls
from .categories import AVERAGES, name_accuracy
from .groups import GROUPINGS
from .schemes import OUTCOMES
from .scorer import ALL, KINDS

#: Columns of a terminal, and the spaces between those of a table.
_WIDTH, _GAP = 80, 3

#: Confusions, and labels of a matrix, that fit a terminal; JSON and the page have more;
#: and confusions of a summary.
_N_CONFUSIONS, _N_LABELS, _N_FIRST = 10, 10, 5

#: The fewest characters shown of a text, and of a label above a column; and those shown
#: of a document with a wrong label.
_LEAST_QUOTED, _LEAST_LABEL, _QUOTED = 20, 4, 34


class Score(NamedTuple):
    """A share of 0 to 1, None where nothing was counted, and its bounds."""

    value: float | None
    interval: Sequence[float] | None = None

    def __str__(self) -> str:
        return "-" if self.value is None else f"{self.value * 100:.2f}"

    def __html__(self) -> str:
        value = "–" if self.value is None else f"{self.value * 100:.1f}"  # noqa: RUF001
        bounds = "–".join(f"{x * 100:.1f}" for x in self.interval or ())  # noqa: RUF001
        return f"{value} <small>{bounds}</small>" if bounds else value


class Change(NamedTuple):
    """A difference of shares, -1 to 1, None where there is none."""

    value: float | None

    def __str__(self) -> str:
        return "-" if self.value is None else f"{self.value * 100:+.2f}"

    def __html__(self) -> str:
        return "" if self.value is None else _sign(self.value)


class Range(NamedTuple):
    """Bounds of shares, which are not known to more than a place or so."""

    bounds: Sequence[float] | None

    def __str__(self) -> str:
        return "..".join(f"{x * 100:.1f}" for x in self.bounds or ()) or "-"

    def __html__(self) -> str:
        return " to ".join(map(_sign, self.bounds or ()))


class Share(NamedTuple):
    """A number, and the share that it is of the largest one of its table."""

    number: int
    share: float

    def __str__(self) -> str:
        return str(self.number)

    def __html__(self) -> str:
        color = f"background-color: rgba(31, 95, 153, {self.share / 2:.2f})"
        return f'<span class="share" style="{color}">{self.number}</span>'


def _sign(value: float) -> str:
    return f"{value * 100:+.1f}".replace("-", "−")  # noqa: RUF001


@dataclass(frozen=True)
class ScoreTable(Table):
    """A table of text, numbers, and the types above."""

    #: The columns, of one letter, whose bounds are columns where it is text.
    ranges: str = ""
    #: The longest header where it is text.
    cut: int | None = None
    #: In "text" (terminal and Markdown), on the "page", or in "all" of them.
    shown: str = "all"

    def to_text(self) -> Table:
        """Give the table with text in all of its cells."""
        header = [_cut(name, self.cut or len(name)) for name in self.header]
        header += [f"{name} from-to" for name in self.ranges]
        places = [self.header.index(name) for name in self.ranges]
        rows = []
        for row in self.rows:
            scores = (row[place] for place in places)
            # the accuracy has no precision and recall
            ranges = (Range(cell.interval) if cell else "" for cell in scores)
            rows.append(tuple(map(str, (*row, *ranges))))
        return Table(self.title, self.legend, header, rows, self.aligns)


class Section(NamedTuple):
    """A part of the page."""

    name: str
    about: str
    tables: Sequence[ScoreTable]


_ABOUT = {
    "Scores": "In percent. {scores}Small figures are {confidence:.0%} intervals over "
    "documents ({samples:,} draws, seed {seed}): they say how far a score would move "
    "on other documents of the same kind, for this pipeline as it is. They don't say "
    "what training it again would give.",
    "Comparison": "The difference is these predictions minus the others, in points; "
    "p is the two-sided probability of one at least as large, in standard errors, if "
    "each document's part in it could as well be of the opposite sign (signs drawn at "
    "random). By the same draws, intervals exclude 0 where p is at most 0.05.",
    "Lengths": "In tokens.",
    "Averages": "In percent. Micro counts the entities of all types together; macro is "
    "the mean of the types' scores, and weighted that with each type as often as it "
    "has gold entities. A score with nothing to divide by is 0.",
    "Schemes": "Scores in percent that give credit to what is nearly right, as defined "
    "for SemEval 2013, task 9.1. Strict: type and bounds must be right, as above. "
    "Exact: the bounds, whatever the type. Partial: as exact, but an overlap counts "
    "half. Ent_type: the type, and some token shared.",
    "Calibration": "In percent: what the pipeline scores its entities with, and how "
    "many of those with such scores are right. Where scores say how often entities are "
    "right, bars end at the dashed line. The expected calibration error is how far the "
    "precision is from the mean score, on average over entities. Above each bar stands "
    "how many there are.",
    "Groups": "Every gold entity is in one group of each table. There is no precision "
    "here: a wrong prediction belongs to no group.",
    "Chunks": "Recall of tokens, in percent.",
    "Errors": "The texts are the first errors of each kind in the corpus.",
}
_ENTITIES = "An entity is seen if its text stands as an entity in the training corpus. "
_OUTCOMES = "COR correct, INC incorrect, PAR partly correct, MIS missed, SPU spurious"
_CATEGORIES = (
    "Accuracy is the share of documents that get their label; exact match, that of "
    "documents that get all of their labels and no other. Macro is the mean of the "
    "labels' scores, and micro counts the labels of all documents together. "
)


def make_sections(evaluation: Mapping[str, Any]) -> list[Section]:
    """Show what `evaluate` returns as sections with tables, those that have rows."""
    is_of_entities = "schemes" in evaluation
    make = _show_entities if is_of_entities else _show_categories
    has_seen = evaluation["setting"]["train"] is not None
    of_entities = _ENTITIES if has_seen else ""
    texts = {"scores": of_entities if is_of_entities else _CATEGORIES}
    sections = []
    for name, tables in make(evaluation).items():
        about = _ABOUT.get(name, "").format(**evaluation["setting"], **texts)
        sections.append(Section(name, about, [table for table in tables if table.rows]))
    return [each for each in sections if each.tables or each.name == "Errors"]


def summarize(evaluation: Mapping[str, Any]) -> list[Table]:
    """Show each total with what changed, what else is sure to have, and the errors."""
    sections = {section.name: section.tables for section in make_sections(evaluation)}
    totals = replace(sections["Scores"][0], ranges="F").to_text()
    tables = chain(*sections.values())
    compared = [table for table in tables if "Difference" in table.header]
    if compared:
        first = compared.pop(0).to_text()
        changes = {row[0]: row[-3:] for row in first.rows if row[1] in ("F", "")}
        totals = replace(
            totals,
            title=first.title,
            header=[*totals.header, "Change", "From-to", "p"],
            rows=[[*row, *changes.get(row[0], "---")] for row in totals.rows],
        )
    found = [totals]
    for table in compared:
        sure = [row for row in table.rows if float(row[-1]) <= 0.05]
        found.append(replace(table, rows=sure).to_text())
    for table in sections["Errors"]:
        errors = replace(table, title="Errors", rows=table.rows[:_N_FIRST])
        found.append(errors.to_text())
    return found


def _list_kinds(evaluation: Mapping[str, Any]) -> Mapping[str, str]:
    has_train = evaluation["setting"]["train"] is not None
    return KINDS if has_train else {"all": ALL}


def _show_entities(evaluation: Mapping[str, Any]) -> dict[str, Iterable[ScoreTable]]:
    header = ("", *"PRF", "Support")
    rows = [
        (kind.title(), *_score_kind(kind, evaluation, f"{p}_"))
        for kind, p in _list_kinds(evaluation).items()
    ]
    if (joined := evaluation["joined"]) is not None:
        scores = _get_scores(joined, f"{ALL}_")
        rows.append((f"In texts of {joined['sentences']}", *scores, ""))
    return {
        "Scores": [ScoreTable("Entities", None, header, rows, ranges="PRF")],
        "Comparison": _compare(evaluation),
        "Types": _show_division(evaluation, "type", "Type"),
        "Lengths": _show_division(evaluation, "length", "Tokens"),
        "Averages": [_show_by_kind(evaluation, "averages", "Averages over types")],
        "Schemes": [_show_by_kind(evaluation, "schemes", "Schemes of matching")],
        "Calibration": _show_calibration(evaluation["calibration"]),
        "Groups": _show_groups(evaluation),
        "Chunks": _show_chunks(evaluation),
        "Errors": [_list_confusions(evaluation, "gold", "predicted", "error")],
    }


def _show_categories(evaluation: Mapping[str, Any]) -> dict[str, Iterable[ScoreTable]]:
    of_labels = [
        (label, *_get_scores(score), score["support"])
        for label, score in (evaluation["cats_per_type"] or {}).items()
    ]
    header = ("Label", *"PRF", "Support")
    return {
        "Scores": [_show_averages(evaluation)],
        "Comparison": _compare(evaluation),
        "Labels": [
            ScoreTable("Categories by label", None, header, of_labels, ranges="F")
        ],
        "Matrix": _show_matrix(evaluation["matrix"]),
        "Errors": [_list_confusions(evaluation, "gold", "predicted")],
    }


# Entities.


def _show_division(
    evaluation: Mapping[str, Any], division: str, heading: str
) -> Iterator[ScoreTable]:
    key, comparison = f"per_{division}", evaluation["comparison"]
    kinds = _list_kinds(evaluation)
    parts = {kind: evaluation[f"{p}_{key}"] or {} for kind, p in kinds.items()}
    rows = []
    for name, (kind, part) in product(sorted(parts["all"]), parts.items()):
        scores = part.get(name, {"support": 0})
        rows.append((name, kind.title(), *_score_kind(kind, scores)))
    is_length = division == "length"
    legend = "a prediction is as long as it is, right or wrong" if is_length else None
    header = (heading, "", *"PRF", "Support")
    yield ScoreTable(f"Entities by {division}", legend, header, rows, "ll", ranges="F")
    if comparison is not None:
        title = f"By {division}, against {comparison['model']}"
        compared = [
            ((name,), parts["all"][name]["f"], row["f"])
            for name, row in comparison[key].items()
            if row is not None
        ]
        header = (division.title(), "This F", "Other F")
        yield _show_differences(title, header, compared)


def _score_kind(
    kind: str, scores: Mapping[str, Any], prefix: str = ""
) -> tuple[Score | int, ...]:
    """Give scores and support. Of no seen entities, or no unseen ones, there are none:
    what was counted are predictions on other tokens, errors for both kinds.
    """
    support = scores[f"{prefix}support"]
    has_scores = support or kind == "all"
    return (*_get_scores(scores if has_scores else {}, prefix), support)


def _show_by_kind(evaluation: Mapping[str, Any], key: str, title: str) -> ScoreTable:
    outcomes = OUTCOMES if key == "schemes" else ()
    rows = [
        (kind.title(), name, *_get_scores(score), *(score[n] for n in outcomes))
        for kind, prefix in KINDS.items()
        if evaluation[f"{prefix}_support"]
        for name, score in evaluation[key][kind].items()
    ]
    legend = _OUTCOMES if outcomes else None
    header = ("", key[:-1].title(), *"PRF", *(name[:3].upper() for name in outcomes))
    return ScoreTable(title, legend, header, rows, "ll")


def _show_calibration(calibration: Mapping[str, Any] | None) -> Iterator[ScoreTable]:
    if calibration is None:
        return
    rows: list[tuple[Any, ...]] = []
    for part in (calibration, *calibration["bins"]):
        bounds = [f"{100 * part[key]:.0f}" for key in ("above", "to") if key in part]
        if n := part["entities"]:
            score, precision = Score(part["mean_score"]), Score(part["precision"])
            gap = Change(part["precision"] - part["mean_score"])
            rows.append((" to ".join(bounds) or "All", score, precision, gap, n))
    legend = f"expected calibration error: {Score(calibration['error'])}"
    header = ("Score", "Mean", "P", "P - mean", "Entities")
    yield ScoreTable("Scores of entities", legend, header, rows)


def _show_groups(evaluation: Mapping[str, Any]) -> Iterator[ScoreTable]:
    for name, groups in evaluation["groups"].items():
        title, texts = GROUPINGS[name]
        rows = [
            (texts[g["group"]], Score(g["recall"], g["interval"]), g["support"])
            for g in groups
        ]
        yield ScoreTable(title, None, ("", "R", "Support"), rows, ranges="R")
        by_type = []
        for label in groups[0]["per_type"]:
            found = (each["per_type"][label] for each in groups)
            cells = (
                f"{part['recall'] * 100:.1f} of {part['support']}"
                if part["support"]
                else ""
                for part in found
            )
            by_type.append((label, *cells))
        header = ("Type", *(text for text, *_ in rows))
        yield ScoreTable(f"{title}, by type", None, header, by_type, shown="page")


def _show_chunks(evaluation: Mapping[str, Any]) -> Iterator[ScoreTable]:
    keys = {"R": "recall"}
    if evaluation["comparison"] is not None:
        keys["Other R"] = "other"
    rows = [
        (tag, *(Score(chunk[key]) for key in keys.values()), chunk["support"])
        for tag, chunk in evaluation["chunks"].items()
    ]
    legend = "outside, single token, begin, inside and end of an entity of any type"
    yield ScoreTable("Tokens by chunk tag", legend, ("Tag", *keys, "Support"), rows)


# Categories.


def _show_averages(evaluation: Mapping[str, Any]) -> ScoreTable:
    # precision, recall and F1 of the accuracy are equal
    accuracy = Score(evaluation["cats_acc"], evaluation["cats_acc_interval"])
    rows = [
        (name_accuracy(evaluation).capitalize(), "", "", accuracy),
        *((a.title(), *_get_scores(evaluation, f"cats_{a}_")) for a in AVERAGES),
    ]
    legend = f"Documents: {evaluation['cats_support']:,}"
    threshold = evaluation["setting"]["threshold"]
    if threshold is not None:
        legend += f". Labels are predicted from a score of {threshold} on"
    return ScoreTable("Categories", legend, ("", *"PRF"), rows, ranges="PRF")


def _show_matrix(matrix: Mapping[str, Any] | None) -> Iterator[ScoreTable]:
    if matrix is None:
        return
    labels = [show_controls(label) for label in matrix["labels"]]
    most = max(map(max, matrix["counts"])) or 1
    rows = [
        [label, *(Share(n, n / most) for n in counts)]
        for label, counts in zip(labels, matrix["counts"], strict=True)
    ]
    header = ["Gold", *labels]
    if any(matrix["unpredicted"]):
        header.append("none")
        for row, n in zip(rows, matrix["unpredicted"], strict=True):
            row.append(n)
    room = (_WIDTH - max(map(len, labels))) // (len(labels) + 1) - _GAP
    yield ScoreTable(
        "Confusion matrix",
        "A row for each gold label, a column for each predicted one",
        header,
        rows,
        cut=max(_LEAST_LABEL, room),
        shown="all" if len(labels) <= _N_LABELS else "page",
    )


# Both.


def _compare(evaluation: Mapping[str, Any]) -> Iterator[ScoreTable]:
    comparison = evaluation["comparison"]
    if comparison is None:
        return
    if "schemes" in evaluation:
        compared = [
            ((kind.title(), k.upper()), evaluation[f"{prefix}_{k}"], row)
            for kind, prefix in KINDS.items()
            for k, row in (comparison[kind] or {}).items()
        ]
    else:
        names = {"cats_acc": (name_accuracy(evaluation).capitalize(), "")}
        for name, k in product(AVERAGES, "prf"):
            names[f"cats_{name}_{k}"] = (name.title(), k.upper())
        compared = [(names[k], evaluation[k], comparison[k]) for k in names]
    title, header = f"Against {comparison['model']}", ("", "", "This", "Other")
    yield _show_differences(title, header, compared)


def _show_differences(
    title: str,
    header: Sequence[str],
    compared: Iterable[tuple[Sequence[str], float | None, Mapping[str, Any] | None]],
) -> ScoreTable:
    rows = [
        (
            *cells,
            Score(this),
            Score(row["other"]),
            Change(row["difference"]),
            Range(row["interval"]),
            f"{row['p_value']:.4f}",
        )
        for cells, this, row in compared
        if row is not None
    ]
    header = (*header, "Difference", "From-to", "p")
    return ScoreTable(title, None, header, rows, "l" * (len(header) - 5))


def _list_confusions(evaluation: Mapping[str, Any], *keys: str) -> ScoreTable:
    confusions = evaluation["confusions"]
    shown = confusions[:_N_CONFUSIONS]
    rows = [
        [*(show_controls(each[key] or "-") for key in keys), str(each["count"])]
        for each in shown
    ]
    header = [*(key.capitalize() for key in keys), "Count"]
    columns = zip(header, *rows, strict=True)
    room = _WIDTH - sum(max(map(len, column)) + _GAP for column in columns)
    for row, each in zip(rows, shown, strict=True):
        row.append(_quote(each["examples"][0], room))
    title = f"Confusions ({len(rows)} of {len(confusions)} kinds)"
    header.append("For example")
    return ScoreTable(title, None, header, rows, f"{'l' * len(keys)}rl", shown="text")


def _quote(example: Mapping[str, Any], room: int) -> str:
    text = example["text"]
    marks = [*example["gold"], *example["predicted"]]
    if not marks or isinstance(marks[0], str):
        return _cut(" ".join(show_controls(text).split()), _QUOTED)
    room = max(_LEAST_QUOTED, room) - 2
    wrong = [mark for mark in marks if mark["is_error"]]
    start, end = min(m["start"] for m in wrong), max(m["end"] for m in wrong)
    parts = (text[:start], text[start:end], text[end:])
    before, error, after = map(show_controls, parts)
    error = " ".join(error.split())
    if len(error) > room:
        return f"[{_cut(error, room)}]"
    margin = (room - len(error)) // 2
    before = before[max(0, len(before) - margin) :]
    return " ".join(f"{before}[{error}]{after[:margin]}".split())


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _get_scores(scores: Mapping[str, Any], prefix: str = "") -> list[Score]:
    names = [f"{prefix}{key}" for key in "prf"]
    return [Score(scores.get(name), scores.get(f"{name}_interval")) for name in names]
