"""`cached_lemmatizer`, spaCy's lemmatizer with a table of the lemmas it has given.

A lemma depends on the word, its part of speech and its morphology alone, so that most
of a text is looked up. The component is an instance of the language's own class, which
computes what the table has not.
"""

from collections.abc import Callable, Sequence
from functools import cache, wraps
from importlib import import_module
from typing import Any

import numpy as np
from spacy.attrs import LEMMA, MORPH, ORTH, POS, SENT_START
from spacy.errors import Errors
from spacy.language import Language
from spacy.lookups import Table
from spacy.pipeline import Lemmatizer
from spacy.strings import get_string_id
from spacy.tokens import Doc, Token
from spacy.util import registry
from thinc.api import Model

from .row_keys import make_keys

#: The lemmatizers of spaCy's that read nothing else of a token, and what they do read.
LEMMATIZERS = {
    "spacy.pipeline.lemmatizer.Lemmatizer": [ORTH, POS, MORPH],
    **{
        f"spacy.lang.{code}.lemmatizer.{language}Lemmatizer": [ORTH, POS, MORPH]
        for code, language in {
            "ca": "Catalan",
            "el": "Greek",
            "en": "English",
            "fr": "French",
            "ga": "Irish",
            "ht": "HaitianCreole",
            "it": "Italian",
            "mk": "Macedonian",
            "nl": "Dutch",
            "pl": "Polish",
            "ru": "Russian",
            "uk": "Ukrainian",
        }.items()
    },
    "spacy.lang.es.lemmatizer.SpanishLemmatizer": [ORTH, POS, MORPH, SENT_START],
}

#: Lemmas are forgotten beyond these, some 15 MB.
MAX_LEMMAS = 2**16
#: Lemmas, and their hashes, by attributes.
Known = dict[bytes, tuple[str, int]]


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
    if factory not in registry.factories:  # of the language itself
        factory = "lemmatizer"
    config: dict[str, Any] = {"model": model, "overwrite": overwrite, "scorer": scorer}
    if mode is not None:
        config["mode"] = mode
    # the Irish one has no scorer, and others may have more
    taken = {key: config.get(key, default) for key, default in defaults.items()}
    lemmatizer = registry.factories.get(factory)(nlp=nlp, name=name, **taken)
    if not can_cache(lemmatizer):
        raise ValueError(
            f"The factory of '{name}' should be 'lemmatizer', but is "
            f"'cached_lemmatizer': what {_get_path(type(lemmatizer))} reads of a token "
            "is not known."
        )
    # what was made stays: the Russian and Ukrainian ones have loaded dictionaries
    lemmatizer.scorer = scorer
    base: Any = type(lemmatizer)
    lemmatizer.__class__ = make_class(base)
    return lemmatizer


def can_cache(lemmatizer: Any) -> bool:
    """Tell whether it is known what a lemmatizer reads of a token."""
    return _get_path(type(lemmatizer)) in LEMMATIZERS


def _get_path(component: type) -> str:
    return f"{component.__module__}.{component.__qualname__}"


class CachedLemmatizer(Lemmatizer):
    """A lemmatizer that looks up the lemmas that it has given before.

    They are forgotten when `lookups`, or a table or an entry in it, is replaced, or an
    entry of spaCy's own `cache`. What is changed within an entry of a table counts once
    that is emptied, as with spaCy's lemmatizer; take lists of forms from the table,
    which has put others in their place.

    model (Model, optional): As spaCy's `lemmatizer` takes it, and all that follows.
    mode (str, optional): How lemmas are found, by default as the language has it.
    overwrite (bool): Whether lemmas that are there are replaced.
    scorer (Callable, optional): What scores the component in evaluation.
    RAISES (ValueError): If the language's lemmatizer is none of spaCy's own: what it
        reads of a token is not known.
    """

    #: What a lemma depends on.
    _attributes: list[int] = LEMMATIZERS[_get_path(Lemmatizer)]
    _lemmas: Known
    #: The tables that lemmas are of, and in what state they and the component were.
    _tables: list[Table]
    _state: list[Any] | None = None

    def __call__(self, doc: Doc) -> Doc:
        """Lemmatize one Doc, in place."""
        if not self._validated:
            self._validate_tables(Errors.E1004)
        tables = [self.lookups.get_table(name) for name in self.lookups.tables]
        if not self._is_spacys(tables):
            return super().__call__(doc)
        try:
            self._set_lemmas(doc, self._find_known(tables))
        except Exception:  # of a token, which spaCy's error handler is told
            return super().__call__(doc)
        return doc

    def _is_spacys(self, tables: Sequence[Table]) -> bool:
        """Tell whether nobody has put methods or other tables into this one."""
        return (
            self.lemmatize == getattr(self, f"{self.mode}_lemmatize", None)
            and "is_base_form" not in vars(self)
            and all(
                getattr(type(self), name).__module__.startswith("spacy.")
                for name in ("is_base_form", f"{self.mode}_lemmatize")
            )
            and all(type(table) in (Table, WatchedTable) for table in tables)
        )

    def _set_lemmas(self, doc: Doc, known: Known) -> None:
        lemmas: Any = doc.to_array(LEMMA)
        rows = doc.to_array([*self._attributes])
        places: Any = slice(None)
        if not self.overwrite and lemmas.any():
            places = np.flatnonzero(lemmas == 0)
        keys = make_keys(rows[places])
        found: list[Any] = list(map(known.get, keys))
        if None in found:
            numbers = np.arange(len(doc))[places].tolist()
            for i, (number, key) in enumerate(zip(numbers, keys, strict=True)):
                if found[i] is None:
                    found[i] = self._lemmatize(doc[number], key, known)
        # what was added in a memory zone is gone after it
        strings = doc.vocab.strings
        lemmas[places] = [
            value if value in strings else strings.add(lemma) for lemma, value in found
        ]
        if keys:
            doc.from_array([LEMMA], lemmas)

    def _lemmatize(self, token: Token, key: bytes, known: Known) -> tuple[str, int]:
        found = known.get(key)  # from the same Doc
        if found is None:
            lemma = self.lemmatize(token)[0]
            if type(lemma) is not str:
                raise TypeError  # which spaCy's words are better for
            found = lemma, get_string_id(lemma)
            if token.pos:  # without one spaCy warns, each time
                if len(known) >= MAX_LEMMAS:
                    known.clear()
                known[key] = found
        return found

    def _find_known(self, tables: list[Table]) -> Known:
        """Find the lemmas of the tables as they are."""
        if self._state != self._describe(tables):
            _prepare(tables)
            if type(self.cache) is dict:
                self.cache = WatchedCache(self.cache)
            self._lemmas, self._tables = {}, tables
            self._state = self._describe(tables)
        return self._lemmas

    def _describe(self, tables: Sequence[Table]) -> list[Any]:
        states = [(id(t), len(t), getattr(t, "changes", 0)) for t in tables]
        changes = getattr(self.cache, "changes", 0)
        return [self.mode, id(self.cache), changes, *states]


def _prepare(tables: Sequence[Table]) -> None:
    """Have tables count their changes, and lists of forms find one at once."""
    for table in tables:
        if type(table) is Table:
            table.__class__ = WatchedTable
        if table.name == "lemma_index":
            for key, forms in table.items():
                if type(forms) is list and all(isinstance(f, str) for f in forms):
                    table[key] = FormList(forms)


class WatchedTable(Table):
    """A table of spaCy's that counts how often an entry was set."""

    changes = 0

    def __setitem__(self, key: str | int, value: Any) -> None:
        self.changes += 1
        super().__setitem__(key, value)


class WatchedCache(dict):
    """spaCy's cache of lemmas that counts how often something in it was replaced or
    removed, which its lemmatizers never do.
    """

    changes = 0

    def __setitem__(self, key: Any, value: Any) -> None:
        if key in self:
            self._note_change()
        super().__setitem__(key, value)

    def _note_change(self) -> None:
        self.changes += 1


class FormList(list):
    """A list of forms that is looked into as a set: spaCy's rules look for each form in
    tens of thousands.
    """

    def __contains__(self, form: object) -> bool:
        forms = self.__dict__.get("forms")
        if forms is None:
            forms = self.forms = frozenset(self)
        return form in forms

    def __reduce__(self) -> tuple[type, tuple[list[str]]]:
        return FormList, ([*self],)

    def _note_change(self) -> None:
        self.__dict__.pop("forms", None)


def _noting(change: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(change)
    def changed(self: Any, *args: Any, **kwargs: Any) -> Any:
        self._note_change()
        return change(self, *args, **kwargs)

    return changed


for _class, *_names in (
    (WatchedCache, "__delitem__", "__ior__", "clear", "pop", "popitem", "update"),
    (FormList, "__delitem__", "__iadd__", "__imul__", "__setitem__", "append"),
    (FormList, "clear", "extend", "insert", "pop", "remove"),
):
    for _name in _names:
        setattr(_class, _name, _noting(getattr(_class, _name)))


@cache
def make_class(base: Any) -> type["CachedLemmatizer"]:
    """Make the class of a language's lemmatizer with a table of lemmas."""
    if base is Lemmatizer:
        return CachedLemmatizer
    members = {"__module__": __name__, "_attributes": LEMMATIZERS[_get_path(base)]}
    return type(f"Cached{base.__name__}", (CachedLemmatizer, base), members)


def __getattr__(name: str) -> type["CachedLemmatizer"]:
    """Find a class that was made: pickle looks for it here."""
    for path in LEMMATIZERS:
        module, _, base = path.rpartition(".")
        if name == f"Cached{base}":
            return make_class(getattr(import_module(module), base))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
