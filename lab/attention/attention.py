"""What a trained pipeline attends to in a text."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language

from spacy_hashembeds.architectures.encoders.parts import (
    find_attending,
    read_attention,
)
from spacy_hashembeds.files import quote

#: A longer text is no picture that anybody could look at, and grows by its square.
MAX_TOKENS = 200


def list_attention(nlp: Language, text: str) -> dict[str, Any]:
    """List how much each token takes of each token of a text.

    RETURNS (dict[str, Any]): `tokens`, and in `components` for each one its `name` and
        its `heads`: for each head a matrix of weights from 0 to 1, as lists, whose rows
        are of the tokens that look, and its columns of those that are looked at.
    """
    attending = find_attending(nlp)
    if not attending:
        raise ValueError(
            "The pipeline should have an encoder that attends, "
            "spacy-hashembeds.AttBiLSTMEncoder.v1, but has none in its components: "
            f"{', '.join(nlp.pipe_names) or 'none'}."
        )
    try:
        text.encode("utf8")
    except UnicodeEncodeError:
        raise ValueError(
            f"'text' should be in UTF-8, but is {quote(text)}. Was it a file in "
            "another encoding?"
        ) from None
    doc = nlp.make_doc(text)
    if not 1 <= len(doc) <= MAX_TOKENS:
        raise ValueError(
            f"The text should have 1 to {MAX_TOKENS} tokens, but has {len(doc)}. Give "
            "one sentence."
        )
    return {
        "text": text,
        "tokens": [token.text for token in doc],
        "components": [
            {"name": name, "heads": _to_lists(*read_attention(tok2vec, [doc]))}
            for name, tok2vec in attending.items()
        ],
    }


def _to_lists(weights: NDArray[np.float32]) -> list[list[list[float]]]:
    return weights.astype("float64").round(6).tolist()
