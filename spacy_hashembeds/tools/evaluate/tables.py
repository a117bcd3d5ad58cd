"""Warnings, tables and errors of an evaluation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from ...training.scorer import ALL, KINDS
from ..display import Table
from .categories import AVERAGES, name_accuracy
from .confusions import quote_error
from .entities import LONG
from .measures import OUTCOMES

#: Confusions, and labels of a matrix, that tables have; JSON has all.
_N_SHOWN, _N_LABELS = 10, 20

#: Headers of columns that are not their keys in capital letters.
_HEADERS = {
    **{f"{key}_interval": f"{key.upper()} from-to" for key in "prf"},
    **{name: name[:3].upper() for name in OUTCOMES},
    **{"interval": "From-to", "recall": "R", "precision": "P", "p_value": "p"},
}
_TOTALS = (*"prf", "support", "p_interval", "r_interval", "f_interval")
_SCORES = (*"prf", "support", "f_interval")
_DIFFERENCES = ("this", "other", "difference", "interval", "p_value")

_Data = Mapping[str, Any]


def find_warnings(data: _Data) -> Iterator[str]:
    """Explain why figures are missing, 0, or too good, the most important first."""
    setting, is_of_entities = data["setting"], "schemes" in data
    if not setting["documents"]:
        annotation = "entity" if is_of_entities else "category"
        yield f"No document in '{setting['test']}' has {annotation} annotation."
        return
    yield from (_warn_of_entities if is_of_entities else _warn_of_categories)(data)
    shared = setting["shared"] or {"documents": 0, "long_documents": 0}
    n_shared, of, length = shared["documents"], setting["documents_read"], ""
    least = 0.5  # less of short ones may be chance
    if shared["long_documents"]:
        n_shared, of = shared["long_documents"], shared["of_long_documents"]
        least, length = 0.01, f" of {LONG} tokens or more"
    if n_shared / of >= least:
        yield (
            f"{n_shared:,} of the {of:,} documents{length} in '{setting['test']}' "
            f"({n_shared / of:.1%}) stand word for word in the training corpus "
            f"'{setting['train']}' too: scores are better than they would be on others."
        )


def _warn_of_categories(data: _Data) -> Iterator[str]:
    setting, none = data["setting"], data["setting"]["documents_of_none"]
    test, known = setting["test"], setting["labels"]
    if missed := sorted(data["cats_per_type"].keys() - {*known}):
        yield (
            f"'{test}' has labels that '{setting['model']}' does not know, so that all "
            f"their documents are missed: {', '.join(missed)}. It knows "
            f"{', '.join(known) or 'none'}."
        )
    if none and data["cats_exclusive"]:
        yield (
            f"{none:,} of the {data['cats_support']:,} documents in '{test}' have none "
            "of the labels: as in spaCy's scorer, each counts as one of the first in "
            "its doc.cats. Leave them out, or give them a label of their own."
        )
    for assumed in setting["assumed"]:
        rule = f"count from a score of {assumed['threshold']} on"
        rule = "exclude each other" if assumed["exclusive"] else rule
        yield (
            f"'{assumed['model']}' is without its pipeline, so labels are taken to "
            f"{rule}. If the pipeline says otherwise, evaluate it itself."
        )


def _warn_of_entities(data: _Data) -> Iterator[str]:
    setting, joined, comparison = data["setting"], data["joined"], data["comparison"]
    # where nothing is right, all predictions are errors
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
    if setting["train_entities"] == 0:
        yield f"'{setting['train']}' has no entities, so that all count as unseen."
    if comparison and comparison["all"] and not comparison["all"]["r"]["other"]:
        yield f"'{comparison['model']}' finds not one gold entity: compare with others."
    tested = joined and joined["difference"]
    if tested and abs(tested["difference"]) > 0.01 and tested["p_value"] < 0.05:
        advice = (
            " A pipeline is best served as it was trained: train it on both, by "
            "`spacy-hashembeds.JoinedCorpus.v1`, or serve it sentence by sentence."
        )
        is_better = tested["difference"] > 0 or joined["is_trained_so"]
        yield (
            f"In texts of {joined['sentences']} sentences F1 is {joined['ents_f']:.1%},"
            f" and {data['ents_f']:.1%} as the corpus has them "
            f"(p = {tested['p_value']:.3f}).{'' if is_better else advice}"
        )


def make_tables(data: _Data) -> list[Table]:
    """Make the tables of what `evaluate` returns, those that have rows."""
    tables = _show_entities(data) if "schemes" in data else _show_categories(data)
    shown = [*tables, _show_confusions(data["confusions"])]
    return [table for table in shown if table.rows]


def summarize(tables: Sequence[Table]) -> list[Table]:
    """Choose what to look at first: totals, surely changed scores, the main errors."""
    shown = [replace(tables[0], legend=None)] if tables else []
    for table in tables:
        if "Difference" in table.header:
            sure = [row for row in table.rows if float(row[-1]) <= 0.05]
            rows = table.rows if len(shown) == 1 else sure
            shown.append(replace(table, rows=rows, legend=None))
    errors = [table for table in tables if "Confusions" in str(table.title)]
    return [*shown, *errors]


def _show_entities(data: _Data) -> Iterator[Table]:
    comparison, joined = data["comparison"], data["joined"]
    kinds = {"all": ALL} if data["setting"]["train"] is None else KINDS
    totals = {k.title(): _hide(k, _pick(data, prefix)) for k, prefix in kinds.items()}
    if joined is not None:
        totals[f"In texts of {joined['sentences']}"] = _pick(joined, ALL)
    seen = "An entity is seen if its text stands as an entity in the training corpus"
    yield _tabulate("Entities", [""], totals, _TOTALS, seen if kinds is KINDS else None)
    if comparison is not None:
        found = {kind: comparison[kind] for kind in KINDS}
        yield _compare(f"Against {comparison['model']}", ["", ""], _flatten(found))
    for name, heading in (("type", "Type"), ("length", "Tokens")):
        parts = {k: data[f"{prefix}_per_{name}"] or {} for k, prefix in kinds.items()}
        rows = {
            (each, kind.title()): _hide(kind, part.get(each, {}))
            for each in sorted(parts["all"])
            for kind, part in parts.items()
        }
        yield _tabulate(f"Entities by {name}", [heading, ""], rows, _SCORES)
        if comparison is not None:
            per = comparison[f"per_{name}"]
            rows = {each: row and row["f"] for each, row in per.items()}
            title = f"F1 by {name}, against {comparison['model']}"
            yield _compare(title, [heading], rows)
    gold = [kind for kind, prefix in KINDS.items() if data[f"{prefix}_support"]]
    found = {kind: data["averages"][kind] for kind in gold}
    yield _tabulate("Averages over types", ["", ""], _flatten(found), [*"prf"])
    found = {kind: data["schemes"][kind] for kind in gold}
    columns = (*"prf", *OUTCOMES)
    yield _tabulate("Schemes of matching", ["", "Scheme"], _flatten(found), columns)
    if (scores := data["calibration"]) is not None:
        bins = {f"to {each['to']}": each for each in scores["bins"]}
        title = f"Expected calibration error: {show_score(scores['error'])}"
        columns = ("mean_score", "precision", "entities")
        yield _tabulate(title, ["Score"], {"all": scores, **bins}, columns)
    found = {k: {of["group"]: of for of in data["groups"][k]} for k in data["groups"]}
    columns, title = ("recall", "support", "interval"), "What training has shown"
    yield _tabulate(title, ["", "Gold entities"], _flatten(found), columns)
    columns = ("recall", "other", "support")
    yield _tabulate("Tokens by chunk tag", ["Tag"], data["chunks"], columns)


def _show_categories(data: _Data) -> Iterator[Table]:
    accuracy, comparison = name_accuracy(data).capitalize(), data["comparison"]
    # precision, recall and F1 of the accuracy are equal
    rows = {accuracy: {"f": data["cats_acc"], "f_interval": data["cats_acc_interval"]}}
    rows |= {name.title(): _pick(data, f"cats_{name}") for name in AVERAGES}
    legend = f"Documents: {data['cats_support']:,}"
    if (threshold := data["setting"]["threshold"]) is not None:
        legend += f". Labels are predicted from a score of {threshold} on"
    yield _tabulate(
        "Categories", [""], rows, [k for k in _TOTALS if k != "support"], legend
    )
    if comparison is not None:
        found = {(accuracy, ""): comparison["cats_acc"]}
        for name, key in product(AVERAGES, "prf"):
            found[name.title(), key.upper()] = comparison[f"cats_{name}_{key}"]
        yield _compare(f"Against {comparison['model']}", ["", ""], found)
    per_type = data["cats_per_type"] or {}
    yield _tabulate("Categories by label", ["Label"], per_type, _SCORES)
    matrix = data["matrix"]
    if matrix is not None and len(matrix["labels"]) <= _N_LABELS:
        header = ["Gold", *(label[:8] for label in matrix["labels"]), "none"]
        sides = (matrix["labels"], matrix["counts"], matrix["unpredicted"])
        cells = [(gold, *n, none) for gold, n, none in zip(*sides, strict=True)]
        legend = "A row for each gold label, a column for each predicted one"
        yield Table("Confusion matrix", legend, header, cells)


def _show_confusions(confusions: Sequence[_Data]) -> Table:
    names, shown = ("gold", "predicted", "error"), confusions[:_N_SHOWN]
    rows = [
        (*(each.get(name) or "-" for name in names), each["count"], quote_error(each))
        for each in shown
    ]
    header = [*map(str.capitalize, names), "Count", "For example"]
    title = f"Confusions ({len(rows)} of {len(confusions)} kinds)"
    return Table(title, None, header, rows, "lllrl")


def _pick(data: _Data, prefix: str) -> dict[str, Any]:
    return {key.removeprefix(f"{prefix}_"): value for key, value in data.items()}


def _flatten(found: Mapping[str, _Data | None]) -> dict[Any, Any]:
    """Put records of records into one, by both names."""
    return {
        (name.capitalize(), key.upper() if len(key) == 1 else key): record
        for name, of in found.items()
        for key, record in (of or {}).items()
    }


def _hide(kind: str, scores: _Data) -> _Data:
    """Leave out scores of no seen entities, or no unseen ones: what was counted are
    predictions on other tokens, errors for both kinds.
    """
    none = {**dict.fromkeys(_TOTALS), "support": 0}
    return scores if scores.get("support") or kind == "all" else none


def _compare(title: str, names: Sequence[str], found: Mapping[Any, Any]) -> Table:
    rows = {
        name: {**row, "this": row["other"] + row["difference"]}
        for name, row in found.items()
        if row is not None
    }
    legend = "p is that of swapping outputs in documents drawn at random"
    return _tabulate(title, names, rows, _DIFFERENCES, legend)


def _tabulate(
    title: str,
    names: Sequence[str],
    records: Mapping[Any, _Data],
    columns: Sequence[str],
    legend: str | None = None,
) -> Table:
    """Make a table of records: a row for each, with its name or names, and columns."""
    header = [*names, *(_HEADERS.get(key, key.capitalize()) for key in columns)]
    rows = [
        (
            *([name] if isinstance(name, str) else name),
            *(_show(key, record.get(key, "")) for key in columns),
        )
        for name, record in records.items()
    ]
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
    """Format a share of 0 to 1, None where nothing was counted."""
    return "-" if value is None else f"{value * 100:.2f}"
