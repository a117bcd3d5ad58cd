"""Files that other commands write beside the results of trials, read for a page."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from spacy_hashembeds.files import read_json

from ..trials.metrics import Count, Share
from ..trials.results import ABLATION, ATTENTION, IMPORTANCE, TrialKey
from ..validation import describe_error


class Listing(BaseModel):
    """A JSON file, or a part of one. What else it has is left alone."""

    model_config = ConfigDict(strict=True)
    NAME: ClassVar[str]
    COMMAND: ClassVar[str]


class Value(Listing):
    """A key that has a row of weights: its text, or its hash if nobody knows it."""

    name: str | None
    key: str


class Weights(Listing):
    """A row of weights: all that has it, the most frequent first."""

    values: Annotated[Sequence[Value], Field(min_length=1)]


class WeightTable(Listing):
    """The rows with the largest and the smallest weights of one table."""

    attr: str
    ngram_size: int
    largest: list[Weights]
    smallest: list[Weights]


class Importance(Listing):
    """The most and the least important in the tables of a pipeline."""

    NAME = IMPORTANCE
    COMMAND = "python -m lab importance"
    tables: list[WeightTable]


class Heads(Listing):
    """Matrices: rows are of tokens that look, columns of those that are looked at."""

    name: str
    heads: list[list[list[Share]]]


class Attention(Listing):
    """The attention of a pipeline in a text."""

    NAME = ATTENTION
    COMMAND = "python -m lab attention"
    tokens: list[str]
    components: list[Heads]


class Setting(Listing):
    """The corpus."""

    test: str


class Chunk(Listing):
    """The number of tokens with a chunk tag, and the shares of them that get it."""

    support: Count
    recall: Share | None
    other: Share | None
    parts: Mapping[str, Share | None]


class Ablation(Listing):
    """Recall by parts of an encoder alone."""

    NAME = ABLATION
    COMMAND = "python -m lab ablation"
    setting: Setting
    chunks: Mapping[str, Chunk]


_Listing = TypeVar("_Listing", bound=Listing)


def read_listing(kind: type[_Listing], path: Path) -> _Listing:
    """Read what a command has written, or raise a ValueError that names the file."""
    try:
        return kind.model_validate(read_json(path))
    except ValueError as error:
        raise ValueError(
            f"'{path}' should hold what `{kind.COMMAND}` writes, but is damaged or of "
            f"another kind: {describe_error(error)}. Write it again, or remove it."
        ) from error


def read_listings(
    kind: type[_Listing], results: str | Path
) -> Iterator[tuple[TrialKey, _Listing]]:
    """Read `<dataset>/<embedder>/<variant>/<kind.NAME>` from the folder of results."""
    for path in sorted(Path(results).glob(f"*/*/*/{kind.NAME}")):
        yield TrialKey(*path.parts[-4:-1]), read_listing(kind, path)
