"""The kinds of files that are damaged."""

from collections.abc import Mapping

from ..target import Target
from .docbins import DOCBIN
from .grids import GRID
from .importance import IMPORTANCE
from .labelled import LABELLED
from .pipelines import HASH_PIPELINE, LOOKUP_PIPELINE
from .results import COMPARISON, RESULTS
from .symbols import SYMBOLS
from .texts import COLUMNS, ONTONOTES, RAW_TEXT

_ALL = (
    HASH_PIPELINE,
    LOOKUP_PIPELINE,
    SYMBOLS,
    DOCBIN,
    COLUMNS,
    ONTONOTES,
    RAW_TEXT,
    LABELLED,
    GRID,
    RESULTS,
    COMPARISON,
    IMPORTANCE,
)

TARGETS: Mapping[str, Target] = {target.name: target for target in _ALL}
