"""Scores of a trained pipeline, as trials record them."""

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
    ENTITY_SCORES,
    TOTALS,
    EntityRun,
    TrainingKnowledge,
)
from spacy_hashembeds.tools.evaluate.sources import TEXTCAT, find_classes, find_task
from spacy_hashembeds.training.docbin import read_docs
from spacy_hashembeds.training.joined import regroup
from spacy_hashembeds.training.prediction import predict_examples

#: The key of the packed counts of each document.
COUNTS = "ents_counts"

#: The numbers of sentences in a Doc.
SENTENCES = (1, 2, 5, 10, 40)


def score_pipeline(
    model: str | Path, test: str | Path, train: str | Path, *, use_gpu: int = -1
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Score a pipeline on categories if it has a text classifier, else on entities.

    RETURNS (tuple): The scores, of entities with the counts of each document by
        `pack_counts` as `ents_counts`; and precision, recall and F1 of entities in Docs
        of `SENTENCES` sentences, by the number of sentences.
    """
    if use_gpu >= 0:
        require_gpu(use_gpu)
    nlp = load_trained(model)
    examples = predict_examples(nlp, read_docs(test, nlp.vocab))
    if find_task(nlp) == TEXTCAT:
        return CategoryRun(examples, find_classes(nlp)).score(), {}
    # with another vocab, the pipeline's does not grow
    known = TrainingKnowledge(read_docs(train, Vocab()))
    run = EntityRun(examples, known)
    joined = {}
    for n in SENTENCES:
        docs = regroup(read_docs(test, nlp.vocab), repeat(n), enough=inf)
        scores = EntityRun(predict_examples(nlp, docs), known).scores
        joined[str(n)] = {key: scores[key] for key in ENTITY_SCORES}
    counts = pack_counts(run.stack(list(TOTALS.values())))
    return {**run.scores, COUNTS: counts}, joined


def pack_counts(counts: np.ndarray) -> str:
    """Pack counts as text: int32, little-endian, compressed by zlib, in base64."""
    return base64.b64encode(zlib.compress(counts.astype("<i4").tobytes(), 9)).decode()


def unpack_counts(text: str, n_things: int) -> np.ndarray:
    """Read packed counts. *Shape:* `(n_documents, n_things, 3)`, int32."""
    data = zlib.decompress(base64.b64decode(text))
    return np.frombuffer(data, "<i4").astype("int32").reshape(-1, n_things, 3)
