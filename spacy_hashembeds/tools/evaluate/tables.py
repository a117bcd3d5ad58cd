"""Warnings, tables and errors of an evaluation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...training.scorer import ALL, KINDS
from ..display import Table
from .bootstrap import NO_INTERVALS
from .confusions import quote_error
from .entities import LONG
from .measures import OUTCOMES

#: Most confusions, and most labels of a matrix, in tables. JSON has all.
_N_SHOWN, _N_LABELS = 10, 20

#: Headers of columns that differ from their capitalised keys.
_HEADERS = {
    **{f"{key}_interval": f"{key.upper()} from-to" for key in "prf"},
    **{"correct": "COR", "incorrect": "INC", "partial": "PAR", "missed": "MIS"},
    **{"spurious": "SPU", "interval": "From-to", "recall": "R", "precision": "P"},
    **{"mean_score": "Mean score", "p_value": "p"},
}
_SCORES = (*"prf", "support", "f_interval")
_TOTALS = (*"prf", "support", *NO_INTERVALS)
_ADVICE = (
    " A pipeline is best served as it was trained: train it on both, by "
    "`spacy-hashembeds.JoinedCorpus.v1`, or serve it sentence by sentence."
)

_Data = Mapping[str, Any]


def find_warnings(data: _Data) -> Iterator[str]:
    """Explain why figures are missing, 0, or too good, the most important first."""
    setting, is_of_entities = data["setting"], "schemes" in data
    if not setting["documents"]:
        annotation = "entity" if is_of_entities else "category"
        yield f"No document in '{setting['test']}' has {annotation} annotation."
        return
    yield from (_warn_of_entities if is_of_entities else _warn_of_categories)(data)
    shared = setting["shared"] or {"documents": 0, "of": 0}
    if shared["documents"] * 100 >= shared["of"] > 0:
        yield (
            f"{shared['documents']:,} of the {shared['of']:,} documents of {LONG} "
            f"tokens or more in '{setting['test']}' stand word for word in "
            f"'{setting['train']}' too: scores are better than they would be on others."
        )


def _warn_of_categories(data: _Data) -> Iterator[str]:
    setting, test = data["setting"], data["setting"]["test"]
    if missed := sorted(data["cats_per_type"].keys() - {*setting["labels"]}):
        yield (
            f"'{setting['model']}' misses all documents in '{test}' with the label "
            f"{', '.join(missed)}: it knows {', '.join(setting['labels']) or 'none'}."
        )
    if data["cats_exclusive"] and (none := setting["documents_of_none"]):
        yield (
            f"{none:,} of the {data['cats_support']:,} documents in '{test}' have none "
            "of the labels, and count as one of the first in doc.cats, as by spaCy. "
            "Leave them out, or give them a label of their own."
        )


def _warn_of_entities(data: _Data) -> Iterator[str]:
    setting, joined = data["setting"], data["joined"]
    # if no entity is right, all predictions are errors
    gold, predicted = (
        {error[key] for error in data["confusions"]} - {None}
        for key in ("gold", "predicted")
    )
    if not data["ents_support"]:
        yield f"There is not one gold entity in '{setting['test']}'."
    elif data["ents_r"] == 0 and not gold & predicted:
        yield (
            f"'{setting['model']}' predicts {', '.join(sorted(predicted)) or 'nothing'}"
            f", and '{setting['test']}' has {', '.join(sorted(gold))}: no type of "
            "entity is in both. Is a component such as 'ner' there, and trained?"
        )
    tested = joined and joined["difference"]
    if tested and abs(tested["difference"]) > 0.01 and tested["p_value"] < 0.05:
        is_better = tested["difference"] > 0 or joined["is_trained_so"]
        yield (
            f"In texts of {joined['sentences']} sentences F1 is {joined['ents_f']:.1%},"
            f" and {data['ents_f']:.1%} as the corpus has them "
            f"(p = {tested['p_value']:.3f}).{'' if is_better else _ADVICE}"
        )


def make_tables(data: _Data) -> list[Table]:
    """Make the tables of the results of `evaluate`, without empty ones."""
    tables = _show_entities(data) if "schemes" in data else _show_categories(data)
    shown = [*tables, _show_confusions(data["confusions"])]
    return [table for table in shown if table.rows]


def summarize(tables: Sequence[Table]) -> list[Table]:
    """Choose what to show first: totals, surely changed scores, and the main errors."""
    shown = [replace(tables[0], legend=None)] if tables else []
    for table in tables:
        if "Difference" in table.header:
            sure = [row for row in table.rows if float(row[-1]) <= 0.05]
            rows = table.rows if len(shown) == 1 else sure
            shown.append(replace(table, rows=rows, legend=None))
    errors = [table for table in tables if "Confusions" in str(table.title)]
    return [*shown, *errors]


def _show_entities(data: _Data) -> Iterator[Table]:
    joined, comparison = data["joined"], data["comparison"]
    model = comparison and comparison["model"]
    kinds, legend = {"all": ALL}, None
    if data["setting"]["train"] is not None:
        kinds, legend = KINDS, "An entity is seen if its text is an entity in training"
    totals = {k.title(): _hide(k, _pick(data, prefix)) for k, prefix in kinds.items()}
    if joined:
        totals[f"In texts of {joined['sentences']}"] = _pick(joined, ALL)
    yield _tabulate("Entities", [""], totals, _TOTALS, legend)
    if comparison:
        rows = _flatten({kind: comparison[kind] for kind in KINDS})
        yield _compare(f"Against {model}", ["", ""], rows)
    for name, heading in (("type", "Type"), ("length", "Tokens")):
        rows = {
            (each, kind.title()): _hide(kind, (data[key] or {}).get(each, {}))
            for each in sorted(data[f"{ALL}_per_{name}"] or ())
            for kind, key in ((k, f"{x}_per_{name}") for k, x in kinds.items())
        }
        yield _tabulate(f"Entities by {name}", [heading, ""], rows, _SCORES)
        if comparison:
            found = comparison[f"per_{name}"].items()
            rows = {each: row and row["f"] for each, row in found}
            yield _compare(f"F1 by {name}, against {model}", [heading], rows)
    gold = [kind for kind, prefix in KINDS.items() if data[f"{prefix}_support"]]
    rows = _flatten({kind: data["averages"][kind] for kind in gold})
    yield _tabulate("Averages over types", ["", ""], rows, [*"prf"])
    rows = _flatten({kind: data["schemes"][kind] for kind in gold})
    yield _tabulate("Schemes of matching", ["", "Scheme"], rows, (*"prf", *OUTCOMES))
    if scores := data["calibration"]:
        bins = {f"to {of['to']}": of for of in scores["bins"] if of["entities"]}
        gap = scores["mean_score"] - scores["precision"]
        title = f"Expected calibration error: {show_score(scores['error'])}"
        legend = (
            f"From-to {_show('interval', scores['interval'])}; by chance alone "
            f"{show_score(scores['chance'])}. On average, scores are "
            f"{show_score(abs(gap))} points too {'high' if gap > 0 else 'low'}."
        )
        columns: Sequence[str] = ("mean_score", "precision", "entities")
        yield _tabulate(title, ["Score"], {"all": scores, **bins}, columns, legend)
    groups = {k: {of["group"]: of for of in data["groups"][k]} for k in data["groups"]}
    columns, title = ("recall", "support", "interval"), "Recall by group"
    yield _tabulate(title, ["", "Gold entities"], _flatten(groups), columns)
    columns = ("recall", "other", "support")
    yield _tabulate("Tokens by chunk tag", ["Tag"], data["chunks"], columns)


def _show_categories(data: _Data) -> Iterator[Table]:
    accuracy = "Accuracy" if data["cats_exclusive"] else "Exact match"
    comparison = data["comparison"]
    # precision, recall and F1 of the accuracy are equal
    rows = {accuracy: {"f": data["cats_acc"], "f_interval": data["cats_acc_interval"]}}
    rows |= {name.title(): _pick(data, f"cats_{name}") for name in ("macro", "micro")}
    legend = f"Documents: {data['cats_support']:,}"
    if (threshold := data["setting"]["threshold"]) is not None:
        legend += f". Labels are predicted from a score of {threshold} on"
    yield _tabulate("Categories", [""], rows, (*"prf", *NO_INTERVALS), legend)
    if comparison:
        averages = {x: _pick(comparison, f"cats_{x}") for x in ("macro", "micro")}
        rows = {(accuracy, ""): comparison["cats_acc"]} | _flatten(averages)
        yield _compare(f"Against {comparison['model']}", ["", ""], rows)
    per_type = data["cats_per_type"] or {}
    yield _tabulate("Categories by label", ["Label"], per_type, _SCORES)
    matrix = data["matrix"]
    if matrix and len(matrix["labels"]) <= _N_LABELS:
        header = ["Gold", *(label[:8] for label in matrix["labels"]), "none"]
        sides = zip(*matrix.values(), strict=True)
        cells = [(gold, *counts, none) for gold, counts, none in sides]
        legend = "A row for each gold label, a column for each predicted one"
        yield Table("Confusion matrix", legend, header, cells)


def _show_confusions(confusions: Sequence[_Data]) -> Table:
    names = ("gold", "predicted", "error")
    rows = [
        (*(each.get(name) or "-" for name in names), each["count"], quote_error(each))
        for each in confusions[:_N_SHOWN]
    ]
    title = f"Confusions ({len(rows)} of {len(confusions)} kinds)"
    header = ("Gold", "Predicted", "Error", "Count", "For example")
    return Table(title, None, header, rows, "lllrl")


def _pick(data: _Data, prefix: str) -> dict[str, Any]:
    prefix += "_"
    return {k.removeprefix(prefix): v for k, v in data.items() if k.startswith(prefix)}


def _hide(kind: str, scores: _Data) -> _Data:
    """Leave out the scores of a kind, seen or unseen, without gold entities. Such
    counts are only of predictions on other tokens, which are errors for both kinds.
    """
    none = {**dict.fromkeys(_TOTALS), "support": 0}
    return scores if scores.get("support") or kind == "all" else none


def _flatten(found: Mapping[str, _Data | None]) -> dict[Any, Any]:
    """Flatten records of records to records, keyed by both names."""
    return {
        (name[0].upper() + name[1:], key): record
        for name, of in found.items()
        for key, record in (of or {}).items()
    }


def _compare(title: str, names: Sequence[str], found: Mapping[Any, Any]) -> Table:
    rows = {  # of each name, or of each kind and score
        name if isinstance(name, str) else (name[0], name[1].upper()): {
            **row,
            "this": row["other"] + row["difference"],
        }
        for name, row in found.items()
        if row
    }
    columns = ("this", "other", "difference", "interval", "p_value")
    legend = "p is that of swapping outputs in documents drawn at random"
    return _tabulate(title, names, rows, columns, legend)


def _tabulate(
    title: str,
    names: Sequence[str],
    records: Mapping[Any, _Data],
    columns: Sequence[str],
    legend: str | None = None,
) -> Table:
    """Make a table of records: a row for each, with its name or names, and columns."""
    header = [*names, *(_HEADERS.get(key, key.capitalize()) for key in columns)]
    rows = []
    for name, record in records.items():
        cells = [_show(key, record.get(key, "")) for key in columns]
        rows.append((*([name] if isinstance(name, str) else name), *cells))
    return Table(title, legend, header, rows, "l" * len(names))


def _show(key: str, value: Any) -> str:
    if value is not None and key.endswith("interval"):
        return "..".join(f"{x * 100:.1f}" for x in value)
    if key == "p_value":
        return f"{value:.4f}"
    if key == "difference":
        return f"{value * 100:+.2f}"
    return str(value) if isinstance(value, int | str) else show_score(value)


def show_score(value: float | None) -> str:
    """Format a share of 0 to 1, or None if nothing was counted."""
    return "-" if value is None else f"{value * 100:.2f}"
