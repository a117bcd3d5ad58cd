"""`cached_trainable_lemmatizer`: spaCy's edit tree lemmatizer with a lemma cache."""

from typing import Any

from spacy.pipeline import EditTreeLemmatizer, factories
from spacy.pipeline._edit_tree_internals import edit_trees
from spacy.strings import StringStore

from .caches import register_cached

#: Maximum number of cached lemmas (about 20 MB), and length of a cached word.
MAX_LEMMAS, MAX_LENGTH = 2**16, 100

_MISSING = object()


class CachedTrees(edit_trees.EditTrees):
    """Edit trees with a cache of results.

    Trees are immutable once added, so only loading invalidates the cache.
    """

    def __init__(self, strings: StringStore) -> None:
        super().__init__(strings)
        self._strings = strings
        self._lemmas: dict[tuple[int, str], str | None] = {}

    def apply(self, tree_id: int, form: str) -> str | None:
        """Apply a tree to a form. Return None if the tree does not apply."""
        lemmas, key = self._lemmas, (tree_id, form)
        lemma: Any = lemmas.get(key, _MISSING)
        if lemma is _MISSING:
            lemma = super().apply(tree_id, form)
            if len(form) <= MAX_LENGTH:
                if len(lemmas) >= MAX_LEMMAS:
                    lemmas.clear()
                lemmas[key] = lemma
        return lemma

    def from_json(self, trees: list) -> None:
        """Load trees, replacing all."""
        super().from_json(trees)
        self._lemmas = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self._strings, self.to_bytes())


def _unpickle(strings: StringStore, data: bytes) -> CachedTrees:
    return CachedTrees(strings).from_bytes(data)


class CachedEditTreeLemmatizer(EditTreeLemmatizer):
    """spaCy's edit tree lemmatizer, with a cache of lemmas.

    Same arguments as spaCy's `trainable_lemmatizer`.
    """

    @property
    def trees(self) -> edit_trees.EditTrees:
        """The edit trees."""
        return self._trees

    @trees.setter
    def trees(self, trees: edit_trees.EditTrees) -> None:
        if not isinstance(trees, CachedTrees):
            trees = _unpickle(*trees.__reduce__()[1])
        self._trees = trees


make_cached_trainable_lemmatizer = register_cached(
    "trainable_lemmatizer",
    factories.make_edit_tree_lemmatizer,
    CachedEditTreeLemmatizer,
    "trees",
)
