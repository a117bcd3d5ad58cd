"""`cached_lemmatizer`: spaCy's lemmatizer with a cache of lemmas.

A lemma depends only on the word, its part of speech and its morphology, so most tokens
are cache hits. The component's class is a subclass of the language's lemmatizer, which
computes the lemmas of cache misses.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from spacy.attrs import LEMMA, MORPH, ORTH, POS, SENT_START
from spacy.errors import Errors
from spacy.language import Language
from spacy.lookups import Table
from spacy.pipeline import Lemmatizer
from spacy.tokens import Doc, Token
from spacy.util import registry
from thinc.api import Model

from .caches import get_version, make_keys, renews_version

_NAMES = (
    "ca.Catalan el.Greek en.English fr.French ht.HaitianCreole it.Italian "
    "mk.Macedonian nl.Dutch pl.Polish ru.Russian uk.Ukrainian"
)
#: Supported lemmatizers of spaCy, with the token attributes that each reads.
LEMMATIZERS = {
    "spacy.pipeline.lemmatizer.Lemmatizer": [ORTH, POS, MORPH],
    "spacy.lang.es.lemmatizer.SpanishLemmatizer": [ORTH, POS, MORPH, SENT_START],
    **{
        f"spacy.lang.{code}.lemmatizer.{language}Lemmatizer": [ORTH, POS, MORPH]
        for code, language in (name.split(".") for name in _NAMES.split())
    },
}

#: Maximum number of cached lemmas (about 15 MB), and length of a cached word.
MAX_LEMMAS, MAX_LENGTH = 2**16, 100
#: Our key in spaCy's `cache`, for lemmas and the state that they were computed in:
#: clearing the cache deletes them. spaCy's keys are tuples.
_CACHE_KEY: Any = "spacy-hashembeds"
#: Forms by token attributes. The first form is the lemma.
LemmaCache = dict[bytes, list[str]]


@Language.factory(
    "cached_lemmatizer",
    assigns=["token.lemma"],
    default_config={
        "model": None,
        "mode": None,
        "overwrite": False,
        "scorer": {"@scorers": "spacy.lemmatizer_scorer.v1"},
    },
    default_score_weights={"lemma_acc": 1.0},
)
def make_cached_lemmatizer(
    nlp: Language,
    model: Model | None,
    name: str,
    mode: str | None,
    overwrite: bool,
    scorer: Callable | None,
) -> "CachedLemmatizer":
    """Build `cached_lemmatizer`: see `CachedLemmatizer`."""
    defaults = nlp.get_factory_meta("lemmatizer").default_config or {}
    factory = nlp.get_factory_name("lemmatizer")
    if factory not in registry.factories:  # no factory specific to the language
        factory = "lemmatizer"
    config: dict[str, Any] = {"model": model, "overwrite": overwrite, "scorer": scorer}
    if mode is not None:
        config["mode"] = mode
    # arguments of factories differ by language
    taken = {key: config.get(key, default) for key, default in defaults.items()}
    lemmatizer = registry.factories.get(factory)(nlp=nlp, name=name, **taken)
    if not can_cache(lemmatizer):
        raise ValueError(
            f"The factory of '{name}' should be 'lemmatizer', since "
            f"'cached_lemmatizer' does not support {_get_path(type(lemmatizer))}."
        )
    # keep the instance: Russian and Ukrainian dictionaries are loaded already
    base: Any = type(lemmatizer)
    lemmatizer.__class__ = make_class(base)
    return lemmatizer


def can_cache(lemmatizer: Any) -> bool:
    """True if `CachedLemmatizer` supports the lemmatizer."""
    return _get_path(type(lemmatizer)) in LEMMATIZERS


def _get_path(component: type) -> str:
    return f"{component.__module__}.{component.__qualname__}"


class CachedLemmatizer(Lemmatizer):
    """spaCy's lemmatizer, with a cache of lemmas.

    In mode "lookup", setting or deleting table entries invalidates the cache. In mode
    "rule", as in spaCy, it affects only new words: clear `cache` after such changes,
    and after any mutation of an entry in place. Forms in the table "lemma_index" are
    immutable: replace them instead.

    Same arguments as spaCy's `lemmatizer`.
    RAISES (ValueError): If the language's lemmatizer is not one of spaCy's.
    """

    #: Token attributes that determine the lemma.
    _attributes: list[int] = LEMMATIZERS[_get_path(Lemmatizer)]

    def __call__(self, doc: Doc) -> Doc:
        """Lemmatize one Doc, in place."""
        if not self._validated:
            self._validate_tables(Errors.E1004)
        # unless `lemmatize` was overridden
        if self.lemmatize == getattr(self, f"{self.mode}_lemmatize", None):
            with suppress(Exception):  # rerun by spaCy, which reports the error
                self._set_lemmas(doc, self._get_lemma_cache())
                return doc
        return super().__call__(doc)

    def _set_lemmas(self, doc: Doc, cached: LemmaCache) -> None:
        array: Any = doc.to_array(LEMMA)
        rows = doc.to_array([*self._attributes])
        indices: Any = slice(None)
        if not self.overwrite and array.any():
            indices = np.flatnonzero(array == 0)
        keys = make_keys(rows[indices])
        hits: list[Any] = list(map(cached.get, keys))
        if None in hits:
            numbers = np.arange(len(doc))[indices].tolist()
            for i, (number, key) in enumerate(zip(numbers, keys, strict=True)):
                if hits[i] is None:
                    hits[i] = cached.get(key) or self._compute(doc[number], key, cached)
        lemmas = [forms[0] for forms in hits]
        if any(type(lemma) is not str for lemma in lemmas):
            raise TypeError  # rerun by spaCy, which has a better message
        # again for cache hits, since a memory zone drops strings at its end
        array[indices] = [*map(doc.vocab.strings.add, lemmas)]
        if keys:
            doc.from_array([LEMMA], array)

    def _compute(self, token: Token, key: bytes, cached: LemmaCache) -> list[str]:
        forms = self.lemmatize(token)
        # never cached without a part of speech: spaCy warns each time
        if token.pos and len(token) <= MAX_LENGTH:
            if len(cached) >= MAX_LEMMAS:
                cached.clear()
            cached[key] = forms
        return forms

    def _get_lemma_cache(self) -> LemmaCache:
        """Return the cache of the current tables and mode, empty if stale."""
        tables = [_watch(self.lookups.get_table(name)) for name in self.lookups.tables]
        state = [self.mode, *map(get_version, tables)]
        cached_state, cached = self.cache.get(_CACHE_KEY, (None, {}))
        if cached_state != state:
            cached = {}
            self.cache[_CACHE_KEY] = state, cached
        return cached


class WatchedTable(Table):
    """spaCy's lookup table, with a version that each change replaces."""


for _name in ("__delitem__", "__setitem__", "clear", "pop", "popitem"):
    setattr(WatchedTable, _name, renews_version(getattr(Table, _name)))


def _watch(table: Table) -> Table:
    """Convert one of spaCy's tables to a `WatchedTable`, in place."""
    if type(table) is Table:
        table.__class__ = WatchedTable
        for key, forms in [*table.items()] if table.name == "lemma_index" else []:
            if table.get(key) is forms:  # unless replaced by another thread
                table[key] = Forms(forms)
    return table


class Forms(tuple[str, ...]):
    """Forms with constant-time lookup: spaCy's rules search tens of thousands."""

    def __contains__(self, form: object) -> bool:
        if "_set" not in vars(self):
            self._set = frozenset(self)
        return form in self._set


@cache
def make_class(base: Any) -> type["CachedLemmatizer"]:
    """Return the caching subclass of a language's lemmatizer."""
    if base is Lemmatizer:
        return CachedLemmatizer
    members = {"__module__": __name__, "_attributes": LEMMATIZERS[_get_path(base)]}
    return type(f"Cached{base.__name__}", (CachedLemmatizer, base), members)


def __getattr__(name: str) -> type["CachedLemmatizer"]:
    """Return a class made by `make_class`, for pickle."""
    for path in LEMMATIZERS:
        module, _, base = path.rpartition(".")
        if name == f"Cached{base}":
            return make_class(getattr(import_module(module), base))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
