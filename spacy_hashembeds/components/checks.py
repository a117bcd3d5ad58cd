"""What a component may be given, and what it says of what it may not."""

from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import shorten
from typing import Any

from thinc.api import Model

from ..files import quote

#: Characters of an error that are shown.
_MAX_CAUSE = 500


def check_spans_key(spans_key: Any) -> None:
    """RAISES (ValueError): If spans can't be put under this key."""
    if spans_key is not None and not (isinstance(spans_key, str) and spans_key):
        raise ValueError(
            "'spans_key' should be a name in doc.spans, such as \"ents\", or null, but "
            f"is {quote(spans_key)}."
        )


def check_normalized(model: Model) -> None:
    """RAISES (ValueError): If a softmax of the model is left out in prediction."""
    if any(node.attrs.get("softmax_normalize") is False for node in model.walk()):
        raise ValueError(
            "'model' should give probabilities, but its softmax is left out in "
            "prediction. Set normalize = true in a spacy.Tagger.v2, or use "
            '@architectures = "spacy-hashembeds.TokenClassifier.v1".'
        )


def say_no_labels(name: str) -> str:
    """Say that a component has found no entity types."""
    return (
        f"Component '{name}' has no labels: there is no entity in the training data "
        "(doc.ents), and 'labels' gives none. Does the path of the training corpus "
        "point to documents with entities? `spacy hashembeds analyze` shows what is in "
        "them."
    )


@contextmanager
def refusing_damage(source: str, name: str) -> Iterator[None]:
    """Refuse what a component can't load, whatever srsly and Thinc say of it.

    Files that can't be read, and memory that is full, are no damage.

    RAISES (ValueError): If loading fails.
    """
    try:
        yield
    except (OSError, MemoryError):
        raise
    except Exception as error:
        raise ValueError(
            f"{source} should hold component '{name}' as it was saved, but is damaged "
            f"or of another pipeline: {shorten(str(error), _MAX_CAUSE)}"
        ) from error
