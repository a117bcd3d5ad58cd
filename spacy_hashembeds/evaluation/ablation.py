"""What each part of an encoder's output does for the chunk tags of tokens.

The pipeline runs once more for each part, with zeros in the place of all others, and is
not trained for it (Li, Fu and Ma, "Why Attention?" 2020, §4.6 and table 5).
"""

from collections.abc import Mapping
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model

from ..architectures.encoders.parts import find_layer, find_parts
from ..layers.columns import leaving_alone
from .chunks import score_chunks
from .predictions import predict_examples
from .sources import Options, Source


def find_ablated(source: Source) -> Model:
    """Find the layer whose parts are left alone.

    source (Source): A pipeline.
    RAISES (ValueError): If it is none, or has no such layer, or several.
    """
    if not isinstance(source.docs, Language):
        raise ValueError(
            "'ablation' (--ablation) runs a pipeline with parts of its encoder alone, "
            f"but '{source.name}' are predictions. Give the pipeline that made them."
        )
    return find_layer(source.docs)


def ablate(
    layer: Model, source: Source, golds: list[Doc | Example], options: Options
) -> dict[str, Mapping[str, Mapping[str, Any]]]:
    """Score chunk tags with each part of the output alone.

    layer (Model): From `find_ablated`.
    source (Source): Its pipeline.
    golds (list[Doc | Example]): The gold docs.
    options (Options): How to show how far it is.
    RETURNS (dict[str, dict]): By the name of the part, see `find_parts`, the scores of
        `score_chunks`.
    """
    scores = {}
    for name, columns in find_parts(layer).items():
        with leaving_alone(layer, columns):
            examples = predict_examples(source.docs, golds)
            title = f"Evaluating {name} alone"
            scores[name] = score_chunks(options.show(examples, title, len(golds)))
    return scores
