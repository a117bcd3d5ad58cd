"""Table 5 of the paper, read from what `evaluate --ablation` writes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy_hashembeds.comparison.metrics import MAX_COUNT
from spacy_hashembeds.files import quote

from ...trials.results import ABLATION, Estimate
from ..layouts import Column
from ..listings import find_listings, get_part, read_listing
from ..printed import get_printed, get_rows
from ..tables import Cell, Row, Table, make_table
from .layouts import PAPER, name_dataset, name_trials

_ATT, _BASELINE = (f"wnut17/bilstm_char_cnn/{name}" for name in ("att", "baseline"))

#: An example of what makes such a file.
ABLATION_COMMAND = (
    f"spacy hashembeds evaluate training/{_ATT}/seed0/model-best "
    "corpus/wnut17/dev.spacy --train corpus/wnut17/train.spacy --ablation "
    f"--against training/{_BASELINE}/seed0/model-best -o metrics/{_ATT}/{ABLATION}"
)

#: The parts that the paper leaves alone.
_PARTS = ("H", "C", "C1", "C2", "C3", "C4", "C5")
_SUPPORT = Column(key="support", label="Tokens", kind="count")
_WHOLE = Column(key="whole", label="HC all", kind="fine")
_OTHER = Column(key="other", label="Baseline", kind="fine_change")
_LABELS = {"C": "C all"}


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """How many tokens of a chunk tag get it.

    support (int): How many tokens have it.
    recall (float, optional): The share of these that get it, 0 to 1. None if there are
        none.
    other (float, optional): The same of another pipeline, if there is one.
    parts (Mapping[str, Optional[float]]): The same with each part of the encoder alone.
    """

    support: int
    recall: float | None
    other: float | None
    parts: Mapping[str, float | None]


@dataclass(frozen=True, kw_only=True)
class Ablation:
    """What the parts of an encoder do.

    corpus (str): The name of the corpus that it was evaluated on, e.g. "dev".
    chunks (Mapping[str, Chunk]): For each tag, O, S, B, I and E.
    """

    corpus: str
    chunks: Mapping[str, Chunk]


def make_chunk_table(results: str | Path) -> Table:
    """Set what parts of our encoders do below what the paper prints.

    results (str | Path): The folder of results. Evaluations that belong to trials are
        beside them: `<dataset>/<embedder>/<variant>/ablation.json`.
    RAISES (ValueError): If such a file can't be read.
    RETURNS (Table): The paper's rows, and a row for each chunk tag of each file.
    """
    found = {key: read_ablation(path) for key, path in find_listings(results, ABLATION)}
    names = dict.fromkeys(_PARTS)
    for ablation in found.values():
        for chunk in ablation.chunks.values():
            names.update(dict.fromkeys(chunk.parts))
    parts = [_make_column(name) for name in names]
    columns = [_SUPPORT, _WHOLE, *parts, _OTHER]
    rows = [_make_printed_row(tag, columns) for tag in get_rows(5, PAPER)]
    for key, ablation in found.items():
        corpus = f"{name_dataset(key.dataset)}, {ablation.corpus}"
        stub = (corpus, name_trials(key.embedder, key.variant))
        for tag, chunk in ablation.chunks.items():
            cells = dict(_make_cells(chunk, columns))
            rows.append(Row(stub=(*stub, tag), cells=cells))
    return make_table(5, ("Dataset", "Model", "Tag"), columns, rows, PAPER)


def read_ablation(path: Path) -> Ablation:
    """Read how many tokens get their chunk tag, with parts of an encoder alone.

    path (Path): The JSON file.
    RAISES (ValueError): If it is damaged or of another kind.
    RETURNS (Ablation): What was read.
    """
    return read_listing(path, "spacy hashembeds evaluate --ablation", _read_ablation)


def _read_ablation(content: dict[str, Any]) -> Ablation:
    setting = get_part(content, "setting", dict)
    parts = get_part(setting, "parts", list)
    if not parts or not all(isinstance(part, str) for part in parts):
        raise ValueError(f"'parts' should be names of parts, but is {quote(parts)}")
    chunks = get_part(content, "chunks", dict)
    return Ablation(
        corpus=Path(get_part(setting, "test", str)).stem,
        chunks={
            tag: _read_chunk(get_part(chunks, tag, dict), parts)
            for tag in get_rows(5, PAPER)
        },
    )


def _read_chunk(content: dict[str, Any], parts: Sequence[str]) -> Chunk:
    support = get_part(content, "support", int)
    if not 0 <= support <= MAX_COUNT:
        raise ValueError(f"'support' is {quote(support)}")
    recalls = get_part(content, "parts", dict)
    return Chunk(
        support=support,
        recall=_read_recall(content, "recall"),
        other=_read_recall(content, "other"),
        parts={part: _read_recall(recalls, part) for part in parts},
    )


def _read_recall(content: dict[str, Any], key: str) -> float | None:
    if key not in content:
        raise ValueError(f"{quote(key)} is not there")
    recall = get_part(content, key, (float, int, type(None)))
    if recall is not None and not 0 <= recall <= 1:
        raise ValueError(f"{quote(key)} is {quote(recall)}")
    return recall


def _make_column(part: str) -> Column:
    return Column(
        key=f"part {part}",
        label=_LABELS.get(part, part),
        kind="fine_change",
    )


def _make_printed_row(tag: str, columns: Sequence[Column]) -> Row:
    cells = {
        column.key: Cell(
            printed=get_printed(5, tag, column.key.removeprefix("part "), PAPER)
        )
        for column in columns
    }
    stub = (f"{PAPER.datasets['ontonotes']}, dev", "the paper's Att-BiLSTM-CNN", tag)
    return Row(stub=stub, cells=cells, has_ours=False)


def _make_cells(chunk: Chunk, columns: Sequence[Column]) -> Iterator[tuple[str, Cell]]:
    """Make the cells of a row: the recall of the whole, and differences to it."""
    yield _SUPPORT.key, Cell(ours=Estimate(mean=chunk.support))
    yield _WHOLE.key, _make_cell(chunk.recall, 0.0)
    recalls = {_make_column(part).key: recall for part, recall in chunk.parts.items()}
    recalls[_OTHER.key] = chunk.other
    for column in columns:
        if column not in (_SUPPORT, _WHOLE):
            yield column.key, _make_cell(recalls.get(column.key), chunk.recall)


def _make_cell(recall: float | None, whole: float | None) -> Cell:
    if recall is None or whole is None:
        return Cell()
    return Cell(ours=Estimate(mean=recall - whole))
