"""Features that a corpus stores: their values, and advice on columns for them."""

from collections import Counter
from collections.abc import Collection, Iterable

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example

from ...architectures.features import Value, read_feature
from ...arguments import EXTENSION, is_feature
from ...hashing.collisions import fewest_rows
from ...hashing.murmur import MAX_HASHES
from ...training.features import (
    create_set_extensions,
    find_stored,
    keep_features,
    read_values,
)
from ..display import format_percent
from .advice import BOUND, get_usual_rows
from .embedders import Measures


class FeatureCounter:
    """Counts the features that the gold Docs of a corpus store, and gives those that
    are among `attrs` to the predicted Docs.
    """

    def __init__(self, attrs: Iterable[str]) -> None:
        self._needed = [*filter(is_feature, attrs)]
        self._n_tokens = 0
        self._counts: dict[str, Counter[Value]] = {}
        self._unusable: set[str] = set()

    def add(self, example: Example) -> Doc:
        """Count an example, and return its predicted Doc."""
        doc = example.reference
        self._n_tokens += len(doc)
        for attr in find_stored(doc):
            if attr in self._needed and attr.startswith(EXTENSION):
                create_set_extensions(names=[attr.removeprefix(EXTENSION)])(None)
                read_feature(doc, attr)  # raises an error for other values
            values = [
                value.item() if isinstance(value, np.generic) else value
                for value in read_values(doc, attr)
            ]
            counts = self._counts.setdefault(attr, Counter())
            if all(isinstance(value, Value) for value in values):
                counts.update(value for value in values if value not in (None, ""))
            else:
                self._unusable.add(attr)
        keep_features(example, self._needed)
        return example.predicted

    def describe(self, bound: float = BOUND) -> dict[str, Measures]:
        """Return the number of distinct "values" of each feature, the "share" of tokens
        that have one, 0 to 1, and the "rows" of a hash table: one for each value and
        for none, or as many as attributes usually have, or the lower limit. They are
        None if a value can't be embedded.
        """
        found: dict[str, Measures] = {}
        for attr, counts in sorted(self._counts.items()):
            n = 1 + len(counts)
            least = fewest_rows(n, MAX_HASHES, bound * n)
            found[attr] = {
                "values": len(counts),
                "share": counts.total() / self._n_tokens,
                "rows": max(min(n, get_usual_rows(attr)), least),
            }
            if attr in self._unusable:
                found[attr] = dict.fromkeys(found[attr])
        return found


def suggest(stored: dict[str, Measures], read: Collection[str]) -> list[str]:
    """Suggest columns for features of tokens that are stored and not among `read`."""
    new = [attr for attr in stored if attr.startswith(EXTENSION) and attr not in read]
    usable = {attr: stored[attr] for attr in new if stored[attr]["values"]}
    listed = (
        f"{attr} ({of['values']:,} values, {format_percent(of['share'])} of tokens)"
        for attr, of in usable.items()
    )
    options = " ".join(f"--feature {attr}" for attr in usable)
    advice = f"The corpus stores {', '.join(listed)}: `config {options}` adds columns."
    return [advice] if usable else []
