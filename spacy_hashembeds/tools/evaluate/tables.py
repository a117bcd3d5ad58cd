"""Warnings, notes and tables of an evaluation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...training.scorer import ALL, KINDS
from ..display import Table
from .bootstrap import CONFIDENCE, NO_INTERVALS
from .confusions import quote_error
from .entities import MIN_TOKENS
from .measures import OUTCOMES

#: Maximum number of confusions, and of matrix labels, in tables. JSON has all.
_MAX_CONFUSIONS, _MAX_LABELS = 10, 20

#: Headers of columns that differ from their capitalized keys.
_HEADERS = {
    **{f"{key}_interval": f"{key.upper()} from-to" for key in "prf"},
    **{key: key[:3].upper() for key in OUTCOMES},
    **{"interval": "From-to", "mean_score": "Mean score", "p_value": "p"},
}
_LEGEND = f"P, R, F: precision, recall, F1 in %; from-to: {CONFIDENCE:.0%} interval"
_OUTCOMES = "COR: correct, INC: incorrect, PAR: partial, MIS: missed, SPU: spurious"
_TAGS = "O: outside, S: single, B: begin, I: inside, E: end of an entity"
_SCORES = (*"prf", "support", "f_interval")
_TOTALS = (*"prf", "support", *NO_INTERVALS)
_ADVICE = (
    " Train on texts of both lengths, by `spacy-hashembeds.JoinedCorpus.v1`, or apply "
    "the pipeline to single sentences."
)

_Data = Mapping[str, Any]


def find_warnings(data: _Data) -> Iterator[str]:
    """Yield reasons for missing, zero or too high scores, most important first."""
    setting, is_of_entities = data["setting"], "schemes" in data
    if not setting["documents"]:
        annotation = "entity" if is_of_entities else "category"
        yield f"No document in '{setting['test']}' has {annotation} annotation."
        return
    yield from (_warn_of_entities if is_of_entities else _warn_of_categories)(data)
    shared = setting["shared"] or {"documents": 0, "of": 0}
    if shared["documents"] * 100 >= shared["of"] > 0:
        yield (
            f"{shared['documents']:,} of the {shared['of']:,} documents of "
            f"{MIN_TOKENS} tokens or more in '{setting['test']}' are also in "
            f"'{setting['train']}': scores are higher than for new documents."
        )


def find_notes(data: _Data) -> Iterator[str]:
    """Yield the basis of the intervals, and the reason for missing rows."""
    setting = data["setting"]
    yield (
        f"{CONFIDENCE:.0%} intervals over {setting['documents']:,} annotated documents "
        f"of {setting['documents_read']:,}, from {setting['samples']:,} draws, seed "
        f"{setting['seed']}"
    )
    if setting["train"] and data.get("ents_support") and not data["ents_seen_support"]:
        yield f"No entity in '{setting['test']}' was seen in '{setting['train']}'"


def _warn_of_categories(data: _Data) -> Iterator[str]:
    setting, test = data["setting"], data["setting"]["test"]
    if missed := sorted(data["cats_per_type"].keys() - {*setting["labels"]}):
        yield (
            f"'{setting['model']}' misses all documents in '{test}' with the label "
            f"{', '.join(missed)}: its labels are "
            f"{', '.join(setting['labels']) or 'none'}."
        )
    if data["cats_exclusive"] and (none := setting["documents_of_none"]):
        yield (
            f"{none:,} of the {data['cats_support']:,} documents in '{test}' have no "
            "label, and are scored as if they had the first in doc.cats, as in spaCy. "
            "Remove them, or add a label for them."
        )


def _warn_of_entities(data: _Data) -> Iterator[str]:
    setting, joined = data["setting"], data["joined"]
    # with a recall of 0, confusions hold all types
    gold, predicted = (
        {error[key] for error in data["confusions"]} - {None}
        for key in ("gold", "predicted")
    )
    if not data["ents_support"]:
        yield f"There is no gold entity in '{setting['test']}'."
    elif data["ents_r"] == 0 and not gold & predicted:
        question = "Does the pipeline have a trained component such as 'ner'?"
        yield (
            f"'{setting['model']}' predicts {', '.join(sorted(predicted)) or 'nothing'}"
            f", and '{setting['test']}' has {', '.join(sorted(gold))}: no common type. "
            f"{'Rename the types of one of them.' if predicted else question}"
        )
    tested = joined and joined["difference"]
    if tested and abs(tested["difference"]) > 0.01 and tested["p_value"] < 0.05:
        is_better = tested["difference"] > 0 or joined["is_trained_so"]
        yield (
            f"F1 is {joined['ents_f']:.1%} in texts of {joined['sentences']} sentences,"
            f" {data['ents_f']:.1%} in documents of the corpus "
            f"(p = {tested['p_value']:.3f}).{'' if is_better else _ADVICE}"
        )


def make_tables(data: _Data) -> list[Table]:
    """Return the non-empty tables of an evaluation."""
    tables = _show_entities(data) if "schemes" in data else _show_categories(data)
    shown = [*tables, _show_confusions(data["confusions"])]
    return [table for table in shown if table.rows]


def summarize(tables: Sequence[Table]) -> list[Table]:
    """Return the summary: totals, significant differences, and confusions."""
    shown = [replace(tables[0], legend=None)] if tables else []
    for table in tables:
        if "Difference" in table.header:
            significant = [row for row in table.rows if float(row[-1]) <= 0.05]
            rows = table.rows if len(shown) == 1 else significant
            shown.append(replace(table, rows=rows, legend=None))
    errors = [table for table in tables if "Confusions" in str(table.title)]
    return [*shown, *errors]


def _show_entities(data: _Data) -> Iterator[Table]:
    joined, comparison = data["joined"], data["comparison"]
    model = comparison and comparison["model"]
    # without gold entities, the errors of a kind are predictions outside of entities
    kinds = {k: x for k, x in KINDS.items() if k == "all" or data[f"{x}_support"]}
    seen = ". An entity is seen if its text is an entity in training" * (len(kinds) > 1)
    totals = {kind.title(): _select(data, prefix) for kind, prefix in kinds.items()}
    if joined:
        totals[f"In texts of {joined['sentences']}"] = _select(joined, ALL)
    yield _tabulate("Entities", [""], totals, _TOTALS, _LEGEND + seen)
    if comparison:
        rows = _flatten({kind: comparison[kind] for kind in KINDS})
        yield _compare(f"Against {model}", ["", ""], rows)
    for name, heading in (("type", "Type"), ("length", "Tokens")):
        scores = {kind: data[f"{x}_per_{name}"] or {} for kind, x in kinds.items()}
        rows = {
            (each, kind.title()): of_kind[each]
            for each in sorted(scores["all"])
            for kind, of_kind in scores.items()
            if kind == "all" or of_kind.get(each, {}).get("support")
        }
        yield _tabulate(f"Entities by {name}", [heading, ""], rows, _SCORES)
        if comparison:
            found = comparison[f"per_{name}"].items()
            rows = {each: row and row["f"] for each, row in found}
            yield _compare(f"F1 by {name}, against {model}", [heading], rows)
    gold = [kind for kind, prefix in kinds.items() if data[f"{prefix}_support"]]
    rows = _flatten({kind: data["averages"][kind] for kind in gold})
    yield _tabulate("Averages over types", ["", ""], rows, [*"prf"])
    rows = _flatten({kind: data["schemes"][kind] for kind in gold})
    columns: Sequence[str] = (*"prf", *OUTCOMES)
    yield _tabulate("Schemes of matching", ["", "Scheme"], rows, columns, _OUTCOMES)
    if found := data["calibration"]:
        bins = {f"to {of['to']}": of for of in found["bins"] if of["entities"]}
        gap = found["mean_score"] - found["precision"]
        title = f"Expected calibration error: {show_score(found['error'])}"
        legend = (
            f"From-to {_show('interval', found['interval'])}; by chance "
            f"{show_score(found['chance'])}. Mean scores are "
            f"{show_score(abs(gap))} points too {'high' if gap > 0 else 'low'}."
        )
        columns = ("mean_score", "precision", "entities")
        yield _tabulate(title, ["Score"], {"all": found, **bins}, columns, legend)
    groups = {k: {of["group"]: of for of in data["groups"][k]} for k in data["groups"]}
    columns, title = ("recall", "support", "interval"), "Recall by group"
    yield _tabulate(title, ["", "Gold entities"], _flatten(groups), columns)
    columns = ("recall", "other", "support")
    yield _tabulate("Tokens by chunk tag", ["Tag"], data["chunks"], columns, _TAGS)


def _show_categories(data: _Data) -> Iterator[Table]:
    accuracy = "Accuracy" if data["cats_exclusive"] else "Exact match"
    comparison = data["comparison"]
    # precision, recall and F1 of the accuracy are equal
    rows = {accuracy: {"f": data["cats_acc"], "f_interval": data["cats_acc_interval"]}}
    rows |= {x.title(): _select(data, f"cats_{x}") for x in ("macro", "micro")}
    legend = f"{_LEGEND}. Documents: {data['cats_support']:,}"
    if (threshold := data["setting"]["threshold"]) is not None:
        legend += f". Threshold of scores: {threshold}"
    yield _tabulate("Categories", [""], rows, (*"prf", *NO_INTERVALS), legend)
    if comparison:
        averages = {x: _select(comparison, f"cats_{x}") for x in ("macro", "micro")}
        rows = {(accuracy, ""): comparison["cats_acc"]} | _flatten(averages)
        yield _compare(f"Against {comparison['model']}", ["", ""], rows)
    per_type = data["cats_per_type"] or {}
    yield _tabulate("Categories by label", ["Label"], per_type, _SCORES)
    matrix = data["matrix"]
    if matrix and len(matrix["labels"]) <= _MAX_LABELS:
        header = ["Gold", *(label[:8] for label in matrix["labels"]), "none"]
        sides = zip(*matrix.values(), strict=True)
        cells = [(gold, *counts, none) for gold, counts, none in sides]
        legend = "Rows: gold labels. Columns: predicted labels"
        yield Table("Confusion matrix", legend, header, cells)


def _show_confusions(confusions: Sequence[_Data]) -> Table:
    names = ("gold", "predicted", "error")
    rows = [
        (*(each.get(name) or "-" for name in names), each["count"], quote_error(each))
        for each in confusions[:_MAX_CONFUSIONS]
    ]
    title = f"Confusions ({len(rows)} of {len(confusions)} kinds)"
    header = ("Gold", "Predicted", "Error", "Count", "For example")
    return Table(title, None, header, rows, "lllrl")


def _select(data: _Data, prefix: str) -> dict[str, Any]:
    prefix += "_"
    return {k.removeprefix(prefix): v for k, v in data.items() if k.startswith(prefix)}


def _flatten(found: Mapping[str, _Data | None]) -> dict[Any, Any]:
    """Flatten nested records to records by pairs of names."""
    return {
        (name[0].upper() + name[1:], key): record
        for name, of in found.items()
        for key, record in (of or {}).items()
    }


def _compare(title: str, names: Sequence[str], found: Mapping[Any, Any]) -> Table:
    rows = {
        name if isinstance(name, str) else (name[0], name[1].upper()): {
            **row,
            "this": row["other"] + row["difference"],
        }
        for name, row in found.items()
        if row
    }
    columns = ("this", "other", "difference", "interval", "p_value")
    legend = "p: paired randomization test over documents"
    return _tabulate(title, names, rows, columns, legend)


def _tabulate(
    title: str,
    names: Sequence[str],
    records: Mapping[Any, _Data],
    columns: Sequence[str],
    legend: str | None = None,
) -> Table:
    """Make a table with a row for each record: its name or names, and columns."""
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
    """Format a score of 0 to 1 in percent, or None as "-"."""
    return "-" if value is None else f"{value * 100:.2f}"
