"""Scores of a trained pipeline, as a trial records them."""

import base64
import binascii
import zlib
from itertools import repeat
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from spacy.vocab import Vocab
from thinc.api import require_gpu

from spacy_hashembeds.corpora.docbin import read_docs
from spacy_hashembeds.corpora.joined import regroup
from spacy_hashembeds.evaluation.categories import CategoryRun, check_numbers
from spacy_hashembeds.evaluation.entities import SCORES, TOTALS, EntityRun
from spacy_hashembeds.evaluation.groups import learn_training_set
from spacy_hashembeds.evaluation.sources import predict_examples
from spacy_hashembeds.evaluation.tasks import TEXTCAT, find_classes, find_task
from spacy_hashembeds.files import quote
from spacy_hashembeds.loading import load_trained

#: What each document has of right and wrong entities, beside their scores.
COUNTS = "ents_counts"

#: How many sentences a Doc has in turn.
SENTENCES = (1, 2, 5, 10, 40)


def evaluate_pipeline(
    model: str | Path, test: str | Path, train: str | Path, *, use_gpu: int = -1
) -> dict[str, Any]:
    """Score a pipeline on categories if it has a text classifier, else on entities.

    The pipeline runs once, on the examples that `spacy evaluate` would make. Its own
    scorers are not asked, so any pipeline that sets `doc.ents` will do. With scores of
    entities are, as `ents_counts`, those of `TOTALS` by `pack_counts`.
    """
    if use_gpu >= 0:
        require_gpu(use_gpu)
    nlp = load_trained(model)
    examples = predict_examples(nlp, read_docs(test, nlp.vocab))
    if find_task(nlp) == TEXTCAT:
        examples = check_numbers(examples, model=str(model), test=str(test))
        categories = CategoryRun(examples, find_classes(nlp))
        return categories.score(categories.list_labels())
    # a vocab of its own: the pipeline's would keep every word of the corpus
    run = EntityRun(examples, learn_training_set(read_docs(train, Vocab())))
    return {**run.scores, COUNTS: pack_counts(run.stack(list(TOTALS.values())))}


def score_joined(
    model: str | Path, test: str | Path, train: str | Path, *, use_gpu: int = -1
) -> dict[str, Any]:
    """Score a pipeline's entities on Docs of so many sentences each: see `SENTENCES`.

    RETURNS (dict): By the number of sentences precision, recall and F1 of all, seen and
        unseen entities, 0 to 1; nothing of classifiers.
    """
    if use_gpu >= 0:
        require_gpu(use_gpu)
    nlp = load_trained(model)
    if find_task(nlp) == TEXTCAT:
        return {}
    known = learn_training_set(read_docs(train, Vocab()))
    found = {}
    for n in SENTENCES:
        docs = regroup(read_docs(test, nlp.vocab), repeat(n), enough=inf)
        scores = EntityRun(predict_examples(nlp, docs), known).scores
        found[str(n)] = {key: scores[key] for key in SCORES}
    return found


def pack_counts(counts: np.ndarray) -> str:
    """Write the counts of documents, as `Run.stack` gives them, as text for JSON.

    Base64 of little-endian int32, compressed by zlib, since most are 0.
    """
    return base64.b64encode(zlib.compress(counts.astype("<i4").tobytes(), 9)).decode()


def unpack_counts(text: str, n_things: int) -> np.ndarray:
    """Read the counts of documents that `pack_counts` wrote.

    n_things (int): How many things were counted in each document.
    RAISES (ValueError): If the text is damaged.
    RETURNS (ndarray): *Shape:* `(n_documents, n_things, 3)`, int32.
    """
    try:
        data = zlib.decompress(base64.b64decode(text, validate=True))
        return np.frombuffer(data, "<i4").astype("int32").reshape(-1, n_things, 3)
    except (TypeError, binascii.Error, zlib.error, ValueError) as error:
        raise ValueError(
            f"The counts of documents should be as `pack_counts` writes those of "
            f"{n_things} things, but are {quote(str(text))}. Run the trial again."
        ) from error
