"""The kinds of files that are damaged."""

from collections.abc import Mapping

from ..target import Target
from .classifiers import DICTIONARY_CLASSIFIER, ENSEMBLE, NGRAM_CLASSIFIER
from .configs import CONFIG
from .docbins import DOCBIN
from .grids import GRID
from .importance import IMPORTANCE
from .labelled import LABELLED
from .listings import ABLATION, ATTENTION
from .pipelines import PIPELINES
from .predictions import PREDICTIONS
from .rawtexts import PRETRAIN_TEXTS
from .recognizers import RECOGNIZER
from .results import COMPARISON, RESULTS
from .symbols import SYMBOLS
from .texts import COLUMNS, ONTONOTES, RAW_TEXT

_ALL = (
    *PIPELINES,
    NGRAM_CLASSIFIER,
    DICTIONARY_CLASSIFIER,
    ENSEMBLE,
    RECOGNIZER,
    SYMBOLS,
    DOCBIN,
    COLUMNS,
    ONTONOTES,
    RAW_TEXT,
    PRETRAIN_TEXTS,
    CONFIG,
    PREDICTIONS,
    LABELLED,
    GRID,
    RESULTS,
    COMPARISON,
    IMPORTANCE,
    ABLATION,
    ATTENTION,
)

TARGETS: Mapping[str, Target] = {target.name: target for target in _ALL}
