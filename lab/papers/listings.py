"""Files that other commands write beside the results of trials, read for a page."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from spacy_hashembeds.files import read_json

from ..attention.attention import MAX_TOKENS
from ..trials.metrics import MAX_COUNT
from ..trials.results import ABLATION, ATTENTION, IMPORTANCE, TrialKey
from ..validation import describe_error

#: What chunks are tagged with: tokens outside of entities, single ones, and those that
#: begin, are inside of, and end entities.
TAGS = "OSBIE"

#: What columns of a table of ablations are named that are not of parts.
RESERVED = {"support", "whole", "other"}

_Share = Annotated[float, Field(ge=0, le=1)]


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
    ngram_size: Annotated[int, Field(ge=1)]
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
    # more panels than anybody could look at are none
    heads: Annotated[list[list[list[_Share]]], Field(min_length=1, max_length=64)]


class Attention(Listing):
    """The attention of a pipeline in a text."""

    NAME = ATTENTION
    COMMAND = "python -m lab attention"
    tokens: Annotated[list[str], Field(min_length=1, max_length=MAX_TOKENS)]
    components: list[Heads]

    @model_validator(mode="after")
    def _check_square(self) -> Self:
        n = len(self.tokens)
        matrices = [
            matrix for component in self.components for matrix in component.heads
        ]
        rows = [row for matrix in matrices for row in matrix]
        if {*map(len, matrices), *map(len, rows)} - {n}:
            raise ValueError(f"heads should be matrices of {n} by {n}")
        return self


class Setting(Listing):
    """The parts that were measured alone, and the corpus."""

    test: str
    parts: Annotated[list[str], Field(min_length=1)]


class Chunk(Listing):
    """The number of tokens with a chunk tag, and the shares of them that get it."""

    support: Annotated[int, Field(ge=0, le=MAX_COUNT)]
    recall: _Share | None
    other: _Share | None
    parts: Mapping[str, _Share | None]


class Ablation(Listing):
    """Recall by parts of an encoder alone."""

    NAME = ABLATION
    COMMAND = "python -m lab ablation"
    setting: Setting
    chunks: Mapping[str, Chunk]

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        parts = {*self.setting.parts}
        if reserved := RESERVED & parts:
            raise ValueError(f"no part should be named {' or '.join(sorted(reserved))}")
        for tag in TAGS:
            if tag not in self.chunks or self.chunks[tag].parts.keys() != parts:
                raise ValueError(f"the chunk {tag} should have the parts of 'setting'")
        return self


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
