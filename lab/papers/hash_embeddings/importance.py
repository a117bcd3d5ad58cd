"""Table 4 of the paper, read from what `python -m lab importance` writes."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...trials.results import IMPORTANCE, TrialKey
from ..listings import find_listings, get_part, read_listing
from ..printed import get_printed_texts, get_rows
from ..tables import TextTable, make_text_table
from .layouts import DATASETS, HASH_DICTIONARY, PAPER, name_trials

_KEYS = ("largest", "smallest")

_TRIALS = f"ag_news_small/{'/'.join(HASH_DICTIONARY)}"

#: An example of what makes such a list.
IMPORTANCE_COMMAND = (
    f"python -m lab importance training/{_TRIALS}/seed0/model-best "
    "--texts corpus/ag_news_small/train.spacy "
    f"-o metrics/{_TRIALS}/{IMPORTANCE}"
)

#: What the paper writes between the words of an n-gram.
_BETWEEN = "_"


def make_importance_table(results: str | Path) -> TextTable:
    """Set what is important in our pipelines below what the paper prints.

    results (str | Path): The folder of results. Lists that belong to trials are beside
        them: `<dataset>/<embedder>/<variant>/importance.json`.
    RAISES (ValueError): If such a file can't be read.
    RETURNS (TextTable): The paper's rows, and one for each table of weights.
    """
    rows = [
        (DATASETS[dataset], "the paper", *(_join(printed[key]) for key in _KEYS))
        for dataset in get_rows(4, PAPER)
        for printed in [get_printed_texts(4, dataset, PAPER)]
    ]
    for key, path in find_listings(results, IMPORTANCE):
        rows += _make_rows(key, read_importance(path))
    headings = ("Dataset", "Pipeline", "Largest", "Smallest")
    return make_text_table(4, headings, rows, PAPER)


def read_importance(path: Path) -> list[dict[str, Any]]:
    """Read the tables of weights that `python -m lab importance` has listed.

    path (Path): The JSON file.
    RAISES (ValueError): If it is damaged or of another kind.
    RETURNS (list[dict[str, Any]]): For each table its "attr", "ngram_size", and under
        "largest" and "smallest" what has a row of weights, as text.
    """
    return read_listing(path, "python -m lab importance", _read_tables)


def _make_rows(
    key: TrialKey, tables: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, ...]]:
    dataset = DATASETS.get(key.dataset, key.dataset)
    for table in tables:
        name = f"{name_trials(key.embedder, key.variant)}: {table['attr']}"
        if table["ngram_size"] > 1:
            name += f", 1 to {table['ngram_size']} words"
        yield (dataset, name, *(_join(table[end]) for end in _KEYS))


def _read_tables(content: dict[str, Any]) -> list[dict[str, Any]]:
    return [_read_table(table) for table in get_part(content, "tables", list)]


def _read_table(table: Any) -> dict[str, Any]:
    size = get_part(table, "ngram_size", int)
    if size < 1:
        raise ValueError(f"'ngram_size' is {size}")
    return {
        "attr": get_part(table, "attr", str),
        "ngram_size": size,
        **{
            key: [_name_row(row) for row in get_part(table, key, list)] for key in _KEYS
        },
    }


def _name_row(row: Any) -> str:
    """Name what has a row of weights: the most frequent, and how many others."""
    values = get_part(row, "values", list)
    if not values:
        raise ValueError("'values' should have one or more, but is []")
    first = values[0]
    # what nobody knows the text of has its hash alone
    if get_part(first, "name", (str, type(None))) is None:
        name = f"#{get_part(first, 'key', str)}"
    else:
        name = _BETWEEN.join(first["name"].split()) or repr(first["name"])
    return f"{name} (+{len(values) - 1})" if len(values) > 1 else name


def _join(names: Sequence[str]) -> str:
    return ", ".join(names)
