"""Features stored in a corpus, and the rows for their values."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from spacy.tokens import Doc
from spacy.training import Example

from ...architectures.features import Value
from ...hashing.collisions import min_rows
from ...hashing.murmur import MAX_HASHES
from ...training.features import find_stored, keep_features, read_values
from .advice import BOUND, get_usual_rows
from .embedders import Measures

_OTHER = object()  # any value that can't be embedded


class FeatureCounter:
    """Counts features of gold Docs, and copies those in `attrs` to predicted Docs."""

    def __init__(self, attrs: Sequence[str]) -> None:
        self._attrs = attrs
        self._n_tokens = 0
        self._counts: defaultdict[str, Counter[object]] = defaultdict(Counter)

    def add(self, example: Example) -> Doc:
        """Count an example, and return its predicted Doc."""
        self._n_tokens += len(example.reference)
        for attr in find_stored(example.reference):
            values = read_values(example.reference, attr)
            self._counts[attr].update(
                value if isinstance(value, Value) else _OTHER for value in values
            )
        keep_features(example, self._attrs)
        return example.predicted

    def describe(self, bound: float = BOUND) -> dict[str, Measures]:
        """Return for each feature that can be embedded the number of distinct "values",
        the "share" of tokens with a value, 0 to 1, and the "rows" of a hash table: the
        minimum of 1 + values and the usual rows, but at least the lower limit.
        """
        found: dict[str, Measures] = {}
        for attr, counts in sorted(self._counts.items()):
            if _OTHER not in counts:
                given = [count for x, count in counts.items() if x not in (None, "")]
                n = 1 + len(given)
                least = min_rows(n, MAX_HASHES, bound * n)
                found[attr] = {
                    "values": len(given),
                    "share": sum(given) / self._n_tokens,
                    "rows": max(min(n, get_usual_rows(attr)), least),
                }
        return found
