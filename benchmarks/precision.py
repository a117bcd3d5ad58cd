"""Predictions of trained pipelines that products of fewer bits change."""

from pathlib import Path
from typing import Any

import spacy
from thinc.api import get_current_ops

from spacy_hashembeds.acceleration.changes import ENTITIES, ChangeCounter
from spacy_hashembeds.acceleration.parity import LoadedPipeline, compare_pipelines
from spacy_hashembeds.corpora.docbin import read_docs
from spacy_hashembeds.kernels.convolution import PRECISIONS, name_instructions

from .data import ROOT, Sizes
from .timing import Results, Schedule

#: Where pipelines are, as trials write them.
TRAINED = ROOT / "training"
PLACE = "components.tok2vec.model.encode.precision"

#: The trials of the ladder whose pipelines are compared: spaCy's tables, and lookup.
TRIALS = ("multi_hash_embed/steps2400", "multi_embed_token_ner/steps2400_averaged")


def measure_precision(corpora: Path, schedule: Schedule, sizes: Sizes) -> Results:
    """Predict test data in float32, and in each precision that the processor has.

    corpora (Path): The folder of prepared corpora.
    RAISES (FileNotFoundError): If no pipeline is there.
    """
    models = [
        (trial, path)
        for trial in TRIALS
        for path in sorted(TRAINED.glob(f"*/{trial}/seed*/model-best"))
    ]
    if not models:
        raise FileNotFoundError(
            f"There is no pipeline of {' or '.join(TRIALS)} in '{TRAINED}'. Train them "
            "with `python -m lab sweep ladder`."
        )
    instructions = {name: name_instructions(name) for name in PRECISIONS[1:]}
    yield {
        "instructions": instructions,
        "pipelines": [
            {
                "corpus": (name := path.relative_to(TRAINED).parts[0]),
                "trial": trial,
                "seed": path.parent.name,
                "precision": precision,
                **compare(path, corpora / name / "test.spacy", precision),
            }
            for trial, path in models
            for precision, found in instructions.items()
            if found is not None
        ],
    }


def compare(model: Path, corpus: Path, precision: str) -> dict[str, Any]:
    """Count what a precision changes on test data."""
    before, after = (
        LoadedPipeline(spacy.load(model, config={PLACE: each}), get_current_ops())
        for each in ("float32", precision)
    )
    counter = ChangeCounter([])
    compare_pipelines(before, after, read_docs(corpus, before.nlp.vocab), counter)
    changes = counter.summarize()
    return {
        "tokens": list(changes.tokens),
        "entities": list(changes.kinds[ENTITIES][:2]),
        "f1": list(changes.f1 or ()),
    }
