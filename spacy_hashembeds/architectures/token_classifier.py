from typing import Any

from spacy.tokens import Doc
from thinc.api import Model, chain, with_array
from thinc.types import Floats2d

from .dense import check_dense, resize_output, score_labels

InT = list[Doc]
OutT = list[Floats2d]


def TokenClassifier(tok2vec: Model[InT, OutT]) -> Model[InT, OutT]:
    """Classify tokens by their vectors: an affine layer and a softmax.

    The model of `token_ner`, with 4P + 1 classes for P entity types. Unlike
    `spacy.Tagger.v2` with `normalize = true`, weights are initialized randomly, so that
    `tok2vec` gets a gradient from the first step, and the output can be resized.

    tok2vec (Model): A `spacy.Tok2Vec.v2`, or a `spacy.Tok2VecListener.v1`, which shares
        a tok2vec with other components.

    *Output:* probabilities, a float32 array of shape `(tokens, nO)` for each Doc.

    Source: Li et al., "Why Attention? Analyze BiLSTM Deficiency and Its Remedies in the
    Case of NER" (2020), §3.2.
    """
    softmax: Any = score_labels(None, exclusive_classes=True)
    model: Any = chain(tok2vec, with_array(softmax))
    check_dense(model)
    model.set_ref("tok2vec", tok2vec)
    model.set_ref("output_layer", softmax.layers[0])
    model.attrs["resize_output"] = resize_output
    return model
