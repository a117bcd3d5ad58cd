"""Tables of what was measured, each column a number by its name."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from ..display import Table, format_fields, format_percent
from .measures import Measures

Records = Sequence[Measures]

#: Columns that are made of a record, by their titles.
Columns = Mapping[str, Callable[[Measures], str]]

#: How columns are called, if not as the numbers in them.
_TITLES = {
    "once": "Seen once",
    "at_least_10": "Seen 10 times or more",
    "attr": "Attribute",
    "num_hashes": "Hashes",
    "load": "Values/row",
    "rows_never_reached": "Unused rows",
    "sharing_code": "Shared",
    "unknown_values": "Unknown",
    "importance_rows": "Weight rows",
    "sharing_components": "Components",
    "sharing_weights": "Weights",
    "own_rows": "Own rows",
    "hashed_values": "Values",
    "merged_without": "Only it tells apart",
    "words_sharing_codes": "Words that share all rows",
    "min_freq": "min_freq",
}


def tabulate(
    title: str,
    legend: str | None,
    records: Iterable[Measures],
    keys: Sequence[str],
    more: Columns | None = None,
    aligns: str = "l",
) -> Table:
    """Make a table with a row for each record: what it has under keys, and more."""
    columns = more or {}
    titles = [_TITLES.get(key, key.capitalize()) for key in keys]
    rows = [
        [*format_fields(record, *keys), *(show(record) for show in columns.values())]
        for record in records
    ]
    return Table(title, legend, [*titles, *columns], rows, aligns)


def make_shares(key: str, records: Records, title: str = "{}") -> Columns:
    """Make columns of the shares that records have under a key for each split."""

    def show(split: str, record: Measures) -> str:
        return format_percent(record[key].get(split))

    splits = records[0][key] if records else ()
    return {title.format(split): partial(show, split) for split in splits}


def expect(key: str) -> Callable[[Measures], str]:
    """Show what was measured, and in brackets what was to be expected."""
    return lambda record: f"{record[key]:,} ({record[f'expected_{key}']:,.1f})"


def compare_size(tables: Records, standard: str) -> Iterator[Measures]:
    """Give tables with a standard embedding's parameters, and the share of them."""
    for table in tables:
        n = table["standard"][standard]
        share = format_percent(table["parameters"] / n if n else None)
        yield {**table, "standard": n, "share": share}
