"""What a trained pipeline scores: its entities, seen and unseen, or its categories."""

from pathlib import Path
from typing import Any

from spacy.vocab import Vocab
from thinc.api import require_gpu

from ..corpora.docbin import read_docs
from ..loading import load_trained
from .categories import check_numbers, score_categories
from .counts import pack_counts
from .groups import learn_training_set
from .predictions import predict_examples
from .runs import Run
from .tasks import TEXTCAT, find_classes, find_task

#: What each document has of right and wrong entities, beside their scores.
COUNTS = "ents_counts"


def evaluate_pipeline(
    model: str | Path, test: str | Path, train: str | Path, *, use_gpu: int = -1
) -> dict[str, Any]:
    """Score a pipeline on a corpus.

    One with a text classifier is scored on categories, any other on entities: all,
    seen and unseen in training. The pipeline runs once, on the examples that `spacy
    evaluate` would make. Its own scorers are not asked, so any pipeline that sets
    `doc.ents` will do.

    model (str | Path): A pipeline's package name or folder.
    test (str | Path): The gold corpus, a `.spacy` file or a folder of them.
    train (str | Path): The pipeline's training corpus, likewise, by which entities are
        seen or unseen.
    use_gpu (int): The GPU's number, or -1 for the CPU.
    RAISES (FileNotFoundError): If a corpus is missing.
    RAISES (ValueError): If a corpus can't be read, the pipeline is a file, or sets both
        entities and categories, or there is no such GPU.
    RAISES (OSError): If there is no such pipeline.
    RETURNS (dict[str, Any]): The scores of `score_seen_unseen`, and as `ents_counts`
        what a paired test needs: `Run.stack_totals`, by `pack_counts`. Or the scores of
        `score_categories`.
    """
    if use_gpu >= 0:
        require_gpu(use_gpu)
    nlp = load_trained(model)
    examples = predict_examples(nlp, read_docs(test, nlp.vocab))
    if find_task(nlp) == TEXTCAT:
        examples = check_numbers(examples, model=str(model), test=str(test))
        return score_categories(examples, find_classes(nlp))
    # a vocab of its own: the pipeline's would keep every word of the corpus
    run = Run(examples, learn_training_set(read_docs(train, Vocab())))
    return {**run.scores, COUNTS: pack_counts(run.stack_totals())}
