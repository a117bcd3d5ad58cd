"""Scores of a trained pipeline, as a trial records them."""

import base64
import zlib
from itertools import repeat
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from spacy.vocab import Vocab
from thinc.api import require_gpu

from spacy_hashembeds.loading import load_trained
from spacy_hashembeds.tools.evaluate.categories import CategoryRun
from spacy_hashembeds.tools.evaluate.entities import (
    SCORES,
    TOTALS,
    EntityRun,
    TrainingKnowledge,
)
from spacy_hashembeds.tools.evaluate.sources import (
    TEXTCAT,
    find_classes,
    find_task,
    predict_examples,
)
from spacy_hashembeds.training.docbin import read_docs
from spacy_hashembeds.training.joined import regroup

#: What each document has of right and wrong entities, beside their scores.
COUNTS = "ents_counts"

#: How many sentences a Doc has in turn.
SENTENCES = (1, 2, 5, 10, 40)


def score_pipeline(
    model: str | Path, test: str | Path, train: str | Path, *, use_gpu: int = -1
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Score a pipeline on categories if it has a text classifier, else on entities.

    With scores of entities are, as `ents_counts`, those of `TOTALS` by `pack_counts`.

    RETURNS (tuple): The scores, and precision, recall and F1 of entities in Docs of as
        many sentences as `SENTENCES` has, by that number; nothing of classifiers.
    """
    if use_gpu >= 0:
        require_gpu(use_gpu)
    nlp = load_trained(model)
    examples = predict_examples(nlp, read_docs(test, nlp.vocab))
    if find_task(nlp) == TEXTCAT:
        return CategoryRun(examples, find_classes(nlp)).score(), {}
    # a vocab of its own: the pipeline's would keep every word of the corpus
    known = TrainingKnowledge(read_docs(train, Vocab()))
    run = EntityRun(examples, known)
    joined = {}
    for n in SENTENCES:
        docs = regroup(read_docs(test, nlp.vocab), repeat(n), enough=inf)
        scores = EntityRun(predict_examples(nlp, docs), known).scores
        joined[str(n)] = {key: scores[key] for key in SCORES}
    counts = pack_counts(run.stack(list(TOTALS.values())))
    return {**run.scores, COUNTS: counts}, joined


def pack_counts(counts: np.ndarray) -> str:
    """Write the counts of documents as text for JSON: base64 of little-endian int32,
    compressed by zlib, since most are 0.
    """
    return base64.b64encode(zlib.compress(counts.astype("<i4").tobytes(), 9)).decode()


def unpack_counts(text: str, n_things: int) -> np.ndarray:
    """Read what `pack_counts` wrote. *Shape:* `(n_documents, n_things, 3)`, int32."""
    data = zlib.decompress(base64.b64decode(text))
    return np.frombuffer(data, "<i4").astype("int32").reshape(-1, n_things, 3)
