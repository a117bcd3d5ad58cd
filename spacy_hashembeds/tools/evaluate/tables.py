"""The tables and errors of an evaluation, in the order in which they are shown."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ...training.scorer import ALL, KINDS
from ..display import Table, show_controls
from .categories import AVERAGES, name_accuracy
from .groups import GROUPINGS
from .schemes import OUTCOMES

#: Columns of a terminal, and the spaces between those of a table.
_WIDTH, _GAP = 80, 2

#: Confusions and labels of a matrix that a terminal has; JSON and the page have more.
_N_SHOWN = 10

#: What columns are called, beside capital letters.
_HEADERS = {
    **{f"{key}_interval": f"{key.upper()} from-to" for key in "prf"},
    **{name: name[:3].upper() for name in OUTCOMES},
    **{"interval": "From-to", "recall": "R", "other_recall": "Other R"},
    **{"mean_score": "Mean", "precision": "P", "p_value": "p"},
}
_SCORES = (*"prf", "support", "f_interval")
_INTERVALS = tuple(f"{key}_interval" for key in "prf")
_DIFFERENCES = ("this", "other", "difference", "interval", "p_value")

_SCHEMES = (
    "Strict: type and bounds. Exact: bounds. Partial: as exact, but an overlap counts "
    "half. Ent_type: type, and some token. COR correct, INC incorrect, PAR partial, "
    "MIS missed, SPU spurious"
)

_Records = Mapping[Any, Mapping[str, Any]]


class Range(NamedTuple):
    """Bounds of a figure; a page draws both, from 0 to 1 or around 0 to a scale."""

    bounds: Sequence[float] | None
    value: float | None
    scale: float | None = None

    def __str__(self) -> str:
        return "..".join(f"{x * 100:.1f}" for x in self.bounds or ()) or "-"


def show_score(value: float | None) -> str:
    """Format a share of 0 to 1, None where nothing was counted."""
    return "-" if value is None else f"{value * 100:.2f}"


def make_tables(data: Mapping[str, Any], *, is_page: bool = False) -> list[Table]:
    """Make the tables of what `evaluate` returns, those that have rows: for a page
    matrices of any size, and for text the first errors.
    """
    if "schemes" in data:
        tables = [*_show_entities(data), *_show_details(data)]
    else:
        tables = [*_show_categories(data, _N_SHOWN if not is_page else 10**9)]
    if not is_page:
        tables.append(_show_confusions(data["confusions"]))
    return [table for table in tables if table.rows]


def summarize(data: Mapping[str, Any]) -> list[Table]:
    """Make the tables of totals, of what has surely changed, and of the main errors."""
    totals, *tables = make_tables(data)
    against = [table for table in tables if "Difference" in table.header]
    shown = [totals, *against[:1]]
    for table in against[1:]:
        sure = [row for row in table.rows if float(row[-1]) <= 0.05]
        shown.append(replace(table, rows=sure))
    if data["confusions"]:
        shown.append(replace(tables[-1], title="Errors", rows=tables[-1].rows[:5]))
    return [replace(table, legend=None) for table in shown]


def list_errors(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """List the kinds of errors, and their examples as lines: a heading, and pieces of
    text with the entity that is marked there, if any.
    """
    total, sides = sum(e["count"] for e in data["confusions"]), ("gold", "predicted")

    def write(example: Mapping[str, Any]) -> Iterable[Any]:
        text = example["text"]
        if "schemes" in data:
            return [(side.title(), _mark(text, example[side])) for side in sides]
        lines = [(f"Document {example['document']}", [(text, None)])]
        for side in () if data["cats_exclusive"] else sides:
            lines.append((side.title(), [(", ".join(example[side]) or "none", None)]))
        return lines

    return [
        {
            "kind": f"{error['gold'] or 'none'} → {error['predicted'] or 'none'}",
            "about": f"{error.get('error', '')} {error['count']:,} "
            f"({error['count'] / total:.1%})",
            "examples": [*map(write, error["examples"])],
        }
        for error in data["confusions"]
    ]


def _mark(text: str, marks: Iterable[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    # predictions overlap where two are aligned with one gold token: errors go first
    kept: list[dict[str, Any]] = []
    for mark in sorted(marks, key=lambda mark: not mark["is_error"]):
        if all(mark["end"] <= k["start"] or k["end"] <= mark["start"] for k in kept):
            kept.append(mark)
    last = 0
    for mark in sorted(kept, key=lambda mark: mark["start"]):
        yield text[last : mark["start"]], None
        yield text[mark["start"] : mark["end"]], mark
        last = mark["end"]
    yield text[last:], None


def quote_error(example: Mapping[str, Any], room: int) -> str:
    """Quote an error, in brackets, among as much text as there is room for."""
    text, marks = example["text"], [*example["gold"], *example["predicted"]]
    wrong = [mark for mark in marks if not isinstance(mark, str) and mark["is_error"]]
    if not wrong:
        return _cut(" ".join(show_controls(text).split()), room)
    start, end = min(m["start"] for m in wrong), max(m["end"] for m in wrong)
    parts = (text[:start], text[start:end], text[end:])
    before, error, after = map(show_controls, parts)
    error = _cut(" ".join(error.split()), room - 2)
    margin = (room - 2 - len(error)) // 2
    before = before[max(0, len(before) - margin) :]
    return " ".join(f"{before}[{error}]{after[:margin]}".split())


def _show_entities(data: Mapping[str, Any]) -> Iterator[Table]:
    comparison, joined = data["comparison"], data["joined"]
    has_train = data["setting"]["train"] is not None
    kinds = KINDS if has_train else {"all": ALL}
    totals = {k.title(): _hide(k, _pick(data, prefix)) for k, prefix in kinds.items()}
    if joined is not None:
        texts = f"In texts of {joined['sentences']}"
        totals[texts] = {**_pick(joined, ALL), "support": ""}
    seen = "An entity is seen if its text stands as an entity in the training corpus"
    columns = (*_SCORES[:4], *_INTERVALS)
    yield _tabulate("Entities", ("",), totals, columns, has_train and seen)
    if comparison is not None:
        found = {
            (kind.title(), key.upper()): {**row, "this": data[f"{prefix}_{key}"]}
            for kind, prefix in KINDS.items()
            for key, row in (comparison[kind] or {}).items()
        }
        yield _compare(f"Against {comparison['model']}", ("", ""), found)
    for name, heading in (("type", "Type"), ("length", "Tokens")):
        parts = {k: data[f"{prefix}_per_{name}"] or {} for k, prefix in kinds.items()}
        rows = {
            (each, kind.title()): _hide(kind, part.get(each, {}))
            for each in sorted(parts["all"])
            for kind, part in parts.items()
        }
        yield _tabulate(f"Entities by {name}", (heading, ""), rows, _SCORES)
        if comparison is not None:
            found = {
                each: {**row["f"], "this": parts["all"][each]["f"]}
                for each, row in comparison[f"per_{name}"].items()
                if row is not None
            }
            title = f"F1 by {name}, against {comparison['model']}"
            yield _compare(title, (heading,), found)


def _show_details(data: Mapping[str, Any]) -> Iterator[Table]:
    for name, title, legend, columns in (
        ("averages", "Averages over types", None, "prf"),
        ("schemes", "Schemes of matching", _SCHEMES, (*"prf", *OUTCOMES)),
    ):
        rows: dict[Any, Any] = {
            (kind.title(), each): score
            for kind, prefix in KINDS.items()
            if data[f"{prefix}_support"]
            for each, score in data[name][kind].items()
        }
        yield _tabulate(title, ("", name[:-1].title()), rows, columns, legend)
    if (found := data["calibration"]) is not None:
        bins = {f"{b['above']:.0%} to {b['to']:.0%}": b for b in found["bins"]}
        rows = {
            name.replace("%", ""): {**b, "difference": b["precision"] - b["mean_score"]}
            for name, b in {"All": found, **bins}.items()
            if b["entities"]
        }
        legend = f"expected calibration error: {show_score(found['error'])}"
        columns = ("mean_score", "precision", "difference", "entities")
        yield _tabulate("Scores of entities", ("Score",), rows, columns, legend)
    for name, groups in data["groups"].items():
        title, texts = GROUPINGS[name]
        rows = {texts[group["group"]]: group for group in groups}
        yield _tabulate(title, ("",), rows, ("recall", "support", "interval"))
    other = ["other_recall"] * (data["comparison"] is not None)
    rows = {tag: {**c, "other_recall": c["other"]} for tag, c in data["chunks"].items()}
    legend = "outside, single token, begin, inside and end of an entity of any type"
    columns = ("recall", *other, "support")
    yield _tabulate("Tokens by chunk tag", ("Tag",), rows, columns, legend)


def _show_categories(data: Mapping[str, Any], n_labels: int) -> Iterator[Table]:
    accuracy, comparison = name_accuracy(data).capitalize(), data["comparison"]
    # precision, recall and F1 of the accuracy are equal
    first = {"f": data["cats_acc"], "f_interval": data["cats_acc_interval"]}
    first |= dict.fromkeys((*"pr", *_INTERVALS[:2]), "")
    averages = {name.title(): _pick(data, f"cats_{name}") for name in AVERAGES}
    legend = f"Documents: {data['cats_support']:,}"
    if (threshold := data["setting"]["threshold"]) is not None:
        legend += f". Labels are predicted from a score of {threshold} on"
    rows = {accuracy: first, **averages}
    yield _tabulate("Categories", ("",), rows, (*"prf", *_INTERVALS), legend)
    if comparison is not None:
        names = {
            f"cats_{n}_{k}": (n.title(), k.upper()) for n in AVERAGES for k in "prf"
        }
        found = {
            cells: {**comparison[name], "this": data[name]}
            for name, cells in {"cats_acc": (accuracy, ""), **names}.items()
            if comparison[name] is not None
        }
        yield _compare(f"Against {comparison['model']}", ("", ""), found)
    per_type = data["cats_per_type"] or {}
    yield _tabulate("Categories by label", ("Label",), per_type, _SCORES)
    matrix = data["matrix"]
    if matrix is None or len(matrix["labels"]) > n_labels:
        return
    labels = [show_controls(label) for label in matrix["labels"]]
    room = (_WIDTH - max(map(len, labels))) // (len(labels) + 1) - _GAP - 1
    header = ["Gold", *(_cut(name, max(4, room)) for name in labels)]
    columns = [labels, *zip(*matrix["counts"], strict=True)]
    if any(matrix["unpredicted"]):
        header.append("none")
        columns.append(matrix["unpredicted"])
    legend = "A row for each gold label, a column for each predicted one"
    yield Table("Confusion matrix", legend, header, [*zip(*columns, strict=True)])


def _show_confusions(confusions: Sequence[Mapping[str, Any]]) -> Table:
    shown = confusions[:_N_SHOWN]
    keys = [key for key in ("gold", "predicted", "error") if shown and key in shown[0]]
    header = [*map(str.capitalize, keys), "Count"]
    rows = [
        [*(show_controls(each[key] or "-") for key in keys), str(each["count"])]
        for each in shown
    ]
    columns = zip(header, *rows, strict=True)
    room = max(20, _WIDTH - sum(max(map(len, column)) + _GAP for column in columns))
    for row, each in zip(rows, shown, strict=True):
        row.append(quote_error(each["examples"][0], room))
    title = f"Confusions ({len(rows)} of {len(confusions)} kinds)"
    aligns = f"{'l' * len(keys)}rl"
    return Table(title, None, [*header, "For example"], rows, aligns)


def _pick(data: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {key.removeprefix(f"{prefix}_"): value for key, value in data.items()}


def _hide(kind: str, scores: Mapping[str, Any]) -> Mapping[str, Any]:
    """Leave out scores of no seen entities, or no unseen ones: what was counted are
    predictions on other tokens, errors for both kinds.
    """
    return scores if scores.get("support") or kind == "all" else {"support": 0}


def _compare(title: str, names: Sequence[str], rows: _Records) -> Table:
    found = [(row["difference"], *(row["interval"] or ())) for row in rows.values()]
    scale = max([0.05, *(abs(x) for each in found for x in each)])
    legend = "p is that of swapping outputs in documents drawn at random"
    return _tabulate(title, names, rows, _DIFFERENCES, legend, scale)


def _tabulate(
    title: str,
    names: Sequence[str],
    records: _Records,
    columns: Sequence[str],
    legend: Any = None,
    scale: float | None = None,
) -> Table:
    """Make a table of records: a row for each, with its name or names, and columns."""

    def show(record: Mapping[str, Any], key: str) -> Any:
        value: Any = record.get(key)
        if key in ("interval", *_INTERVALS) and value != "":
            figures = (record.get(k) for k in (key[0], "recall", "difference"))
            figure = next((x for x in figures if x is not None), None)
            return Range(value, figure, scale)
        if key == "p_value":
            return f"{value:.4f}"
        if key == "difference":
            return f"{value * 100:+.2f}"
        is_score = value is None or isinstance(value, float)
        return show_score(value) if is_score else str(value)

    header = [*names, *(_HEADERS.get(key, key.capitalize()) for key in columns)]
    rows = [
        (*([n] if isinstance(n, str) else n), *(show(record, k) for k in columns))
        for n, record in records.items()
    ]
    return Table(title, legend or None, header, rows, "l" * len(names))


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
