"""`cached_lemmatizer`, spaCy's lemmatizer with a cache of lemmas.

A lemma depends only on the word, its part of speech and its morphology, so that most
tokens of a text are found in the cache. The component is an instance of a subclass of
the language's own lemmatizer, which computes lemmas that are not cached.
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
#: spaCy's lemmatizers that read only certain attributes of a token, and these
#: attributes.
LEMMATIZERS = {
    "spacy.pipeline.lemmatizer.Lemmatizer": [ORTH, POS, MORPH],
    "spacy.lang.es.lemmatizer.SpanishLemmatizer": [ORTH, POS, MORPH, SENT_START],
    **{
        f"spacy.lang.{code}.lemmatizer.{language}Lemmatizer": [ORTH, POS, MORPH]
        for code, language in (name.split(".") for name in _NAMES.split())
    },
}

#: Most lemmas in the cache, some 15 MB, and characters of a cached word.
MAX_LEMMAS, MAX_LENGTH = 2**16, 100
#: Key of the lemmas, and the state in which they were computed, in spaCy's `cache`,
#: whose other keys are tuples. Lemmas are thus deleted whenever that cache is cleared.
_KNOWN: Any = "spacy-hashembeds"
#: Forms by attributes. The first form is the lemma.
Known = dict[bytes, list[str]]


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
    """Build the component `cached_lemmatizer`: see `CachedLemmatizer`."""
    defaults = nlp.get_factory_meta("lemmatizer").default_config or {}
    factory = nlp.get_factory_name("lemmatizer")
    if factory not in registry.factories:  # the language has no factory of its own
        factory = "lemmatizer"
    config: dict[str, Any] = {"model": model, "overwrite": overwrite, "scorer": scorer}
    if mode is not None:
        config["mode"] = mode
    # languages' factories may have fewer or more arguments
    taken = {key: config.get(key, default) for key, default in defaults.items()}
    lemmatizer = registry.factories.get(factory)(nlp=nlp, name=name, **taken)
    if not can_cache(lemmatizer):
        raise ValueError(
            f"The factory of '{name}' should be 'lemmatizer', but is "
            f"'cached_lemmatizer', which does not know {_get_path(type(lemmatizer))}."
        )
    # keep the instance: Russian and Ukrainian ones have loaded dictionaries
    base: Any = type(lemmatizer)
    lemmatizer.__class__ = make_class(base)
    return lemmatizer


def can_cache(lemmatizer: Any) -> bool:
    """Return True if `CachedLemmatizer` can replace a lemmatizer."""
    return _get_path(type(lemmatizer)) in LEMMATIZERS


def _get_path(component: type) -> str:
    return f"{component.__module__}.{component.__qualname__}"


class CachedLemmatizer(Lemmatizer):
    """A lemmatizer with a cache of its lemmas.

    Changes of its tables take effect at once for lemmas from lookup tables. For lemmas
    from rules they take effect, as in spaCy, only for new words: clear its `cache`
    after such changes, and after others, such as changing an entry of a table in place.
    The forms in the table "lemma_index" can be replaced but not changed in place, since
    they are searched as a set.

    Arguments are those of spaCy's `lemmatizer`.
    RAISES (ValueError): If the language's lemmatizer is not one of spaCy's own.
    """

    #: Attributes that a lemma depends on.
    _attributes: list[int] = LEMMATIZERS[_get_path(Lemmatizer)]

    def __call__(self, doc: Doc) -> Doc:
        """Lemmatize one Doc, in place."""
        if not self._validated:
            self._validate_tables(Errors.E1004)
        # only if the method has not been overridden
        if self.lemmatize == getattr(self, f"{self.mode}_lemmatize", None):
            with suppress(Exception):  # spaCy repeats and reports an error of a token
                self._set_lemmas(doc, self._find_known())
                return doc
        return super().__call__(doc)

    def _set_lemmas(self, doc: Doc, known: Known) -> None:
        array: Any = doc.to_array(LEMMA)
        rows = doc.to_array([*self._attributes])
        places: Any = slice(None)
        if not self.overwrite and array.any():
            places = np.flatnonzero(array == 0)
        keys = make_keys(rows[places])
        found: list[Any] = list(map(known.get, keys))
        if None in found:
            numbers = np.arange(len(doc))[places].tolist()
            for i, (number, key) in enumerate(zip(numbers, keys, strict=True)):
                if found[i] is None:
                    found[i] = known.get(key) or self._find(doc[number], key, known)
        lemmas = [forms[0] for forms in found]
        if any(type(lemma) is not str for lemma in lemmas):
            raise TypeError  # spaCy's own message is better
        # strings that were added in a memory zone are lost after it
        array[places] = [*map(doc.vocab.strings.add, lemmas)]
        if keys:
            doc.from_array([LEMMA], array)

    def _find(self, token: Token, key: bytes, known: Known) -> list[str]:
        forms = self.lemmatize(token)
        # not cached without a part of speech: spaCy must warn each time
        if token.pos and len(token) <= MAX_LENGTH:
            if len(known) >= MAX_LEMMAS:
                known.clear()
            known[key] = forms
        return forms

    def _find_known(self) -> Known:
        """Return the cached lemmas of the current tables, or an empty cache."""
        tables = [_watch(self.lookups.get_table(name)) for name in self.lookups.tables]
        state = [self.mode, *map(get_version, tables)]
        made_in, known = self.cache.get(_KNOWN, (None, {}))
        if made_in != state:
            known = {}
            self.cache[_KNOWN] = state, known
        return known


class WatchedTable(Table):
    """spaCy's lookup table with a version."""


for _name in ("__delitem__", "__setitem__", "clear", "pop", "popitem"):
    setattr(WatchedTable, _name, renews_version(getattr(Table, _name)))


def _watch(table: Table) -> Table:
    """Convert one of spaCy's tables to a `WatchedTable`, in place."""
    if type(table) is Table:
        table.__class__ = WatchedTable
        for key, forms in [*table.items()] if table.name == "lemma_index" else []:
            if table.get(key) is forms:  # unless another thread has replaced it
                table[key] = Forms(forms)
    return table


class Forms(tuple[str, ...]):
    """Forms that are searched as a set: spaCy's rules search tens of thousands of forms
    for each candidate.
    """

    def __contains__(self, form: object) -> bool:
        if "_set" not in vars(self):
            self._set = frozenset(self)
        return form in self._set


@cache
def make_class(base: Any) -> type["CachedLemmatizer"]:
    """Make the subclass of a language's lemmatizer that caches lemmas."""
    if base is Lemmatizer:
        return CachedLemmatizer
    members = {"__module__": __name__, "_attributes": LEMMATIZERS[_get_path(base)]}
    return type(f"Cached{base.__name__}", (CachedLemmatizer, base), members)


def __getattr__(name: str) -> type["CachedLemmatizer"]:
    """Return a class of `make_class`, which pickle looks up in this module."""
    for path in LEMMATIZERS:
        module, _, base = path.rpartition(".")
        if name == f"Cached{base}":
            return make_class(getattr(import_module(module), base))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
