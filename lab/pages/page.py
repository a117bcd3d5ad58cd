"""Tables in pages of docs/, and files of measurements."""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from spacy.tokens import Doc
from spacy.vocab import Vocab

from lab.trials.results import TrialKey
from spacy_hashembeds.training.docbin import read_docs

DOCS = Path(__file__).parents[2] / "docs"
RESULTS = Path(__file__).parents[1] / "results"


def import_figure() -> Any:
    """Import matplotlib's class of figures, which needs no screen."""
    try:
        from matplotlib.figure import Figure
    except ImportError as e:
        extra = "pip install 'spacy-hashembeds[report]'"
        raise ImportError(f"Charts need matplotlib: {extra}.") from e
    return Figure


def to_markdown(table: Sequence[Sequence[str]]) -> str:
    """Write a table, whose first row is the header, in Markdown."""
    header, *body = table
    lines = [header, ["---"] * len(header), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def fill(page: Path, tables: Mapping[str, str]) -> str:
    """Read a page, and insert tables between the comments with their names."""
    text = page.read_text(encoding="utf8")
    for name, table in tables.items():
        pattern = f"(<!-- table: {name} -->\n).*?(<!-- end of table -->)"
        text, n = re.subn(pattern, rf"\1\n{table}\n\n\2", text, flags=re.DOTALL)
        if n != 1:
            raise ValueError(
                f"'{page}' should have one comment '<!-- table: {name} -->'."
            )
    return text


def fill_all(pages: Mapping[Path, Mapping[str, str]]) -> None:
    """Insert tables into pages."""
    for page, tables in pages.items():
        page.write_text(fill(page, tables), encoding="utf8")
        sys.stdout.write(f"Filled the tables of {page}\n")


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read measurements. (ujson, in srsly, rounds floats.)"""
    return json.loads(path.read_text(encoding="utf8"))


def save(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Save measurements, one a line."""
    lines = ",\n".join(map(json.dumps, rows))
    path.write_text(f"[\n{lines}\n]\n", encoding="utf8")


def record(measured: Iterable[dict[str, Any]], path: Path) -> list[dict[str, Any]]:
    """Save measurements, replace old ones of equal trials, and return all."""
    keys = itemgetter("dataset", "embedder", "variant", "seed")
    rows = {keys(row): row for row in read_rows(path)}
    for row in measured:
        rows[keys(row)] = row
        save([rows[name] for name in sorted(rows)], path)  # runs are long
        sys.stdout.write(f"Measured {row['dataset']}, seed {row['seed']}\n")
    return [rows[name] for name in sorted(rows)]


def find_models(root: Path, dataset: str, trial: str = "*/*") -> list[Path]:
    """Find the pipelines of finished trials ("EMBEDDER/VARIANT")."""
    results = sorted((root / "metrics" / dataset).glob(f"{trial}/seed*.json"))
    names = [path.relative_to(root / "metrics").with_suffix("") for path in results]
    models = [root / "training" / name / "model-best" for name in names]
    return [model for model in models if model.is_dir()]


def name_trial(model: Path) -> dict[str, Any]:
    """Return the names and the seed of a pipeline's trial."""
    *names, seed = model.parts[-5:-1]
    return {**TrialKey(*names)._asdict(), "seed": int(seed.removeprefix("seed"))}


def read_splits(root: Path, dataset: str, *splits: str) -> Iterator[list[Doc]]:
    """Yield the Docs of splits of a corpus."""
    for split in splits:
        path = root / "corpus" / dataset / f"{split}.spacy"
        yield list(read_docs(path, Vocab()))
