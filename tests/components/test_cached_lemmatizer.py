"""`cached_lemmatizer`: cached lemmas of spaCy's lemmatizers."""

import json
import random
import re
import warnings
from collections.abc import Callable
from importlib import import_module
from itertools import islice, pairwise, product
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.lookups import Lookups, Table
from spacy.parts_of_speech import IDS
from spacy.pipeline import Lemmatizer
from spacy.strings import hash_string
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc
from spacy.util import get_lang_class, load_language_data, registry

from spacy_hashembeds.components import cached_lemmatizer
from spacy_hashembeds.components.cached_lemmatizer import (
    LEMMATIZERS,
    CachedLemmatizer,
    can_cache,
)

from ..left_out import NO_LOOKUPS
from .toy_caches import ENGLISH, initialize, make

#: Languages with specific lemmatizers, and one with the default lemmatizer.
LANGUAGES = "ca el es fr nl pl ru nb".split()
#: Attributes read by lemmatizers, and one other.
MORPHS = (
    *("", "Number=Sing", "Number=Plur", "VerbForm=Inf", "Degree=Pos", "Foreign=Yes"),
    *("Tense=Pres|VerbForm=Fin", "VerbForm=Part", "VerbForm=Vnoun", "Form=HPref"),
    *("Mood=Sub|Number=Plur|Person=1", "Case=Gen|Gender=Fem|Number=Sing"),
    *("Gender=Masc|Number=Plur|Person=3", "Mood=Imp|Number=Sing|Person=2"),
)
SPACY_FAILS_ON = {("es", "CONJ"), ("es", "EOL")}
#: Maximum number of table entries to test.
MAX_ENTRIES = 300


def make_lemmatizer(factory: str = "cached_lemmatizer", **settings: Any) -> Any:
    return make(factory, **settings).get_pipe("lemmatizer")


def make_blank(lang: str) -> Language:
    """Create a pipeline without the language's tokenizer, which loads slowly."""
    return get_lang_class(lang)(create_tokenizer=lambda nlp: Tokenizer(nlp.vocab))


def make_doc(lemmatizer: Lemmatizer, *tokens: tuple[str, ...]) -> Doc:
    """Create a Doc from words, parts of speech, and optional morphs and lemmas."""
    words, pos, *others = zip(*tokens, strict=True)
    doc = Doc(lemmatizer.vocab, words=words, pos=pos)
    for token, (morph, *lemmas) in zip(doc, zip(*others, strict=True), strict=False):
        token.set_morph(morph)
        token.lemma_ = "".join(lemmas)
    return doc


def lemmatize(lemmatizer: Lemmatizer, *tokens: tuple[str, ...]) -> list[str]:
    return [token.lemma_ for token in lemmatizer(make_doc(lemmatizer, *tokens))]


def count_cached(lemmatizer: Any) -> int:
    return len(lemmatizer._get_lemma_cache())


def read_tables(lang: str) -> dict[str, Any]:
    """Read a language's tables, at most `MAX_ENTRIES` entries each."""

    def cut(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: cut(of) for key, of in islice(value.items(), MAX_ENTRIES)}
        return value[:MAX_ENTRIES] if isinstance(value, list) else value

    paths = registry.lookups.get(lang).items()
    names = {name: path for name, path in paths if name.startswith("lemma_")}
    return {name: cut(load_language_data(path)) for name, path in names.items()}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_lemmas_equal_spacys_in_all_languages(lang):
    if lang == "ru":
        pytest.importorskip("pymorphy3", reason=NO_LOOKUPS)
        tables: dict[str, Any] = {}
        words = ["дома", "столы", "красивая", "мыла", "книги", "XV"]
    elif lang in registry.lookups:
        tables = read_tables(lang)
        found = re.findall(r"\w+", json.dumps(tables, ensure_ascii=False))
        words = [word if len(word) > 3 else f"blo{word}" for word in found]
        words = random.Random(0).sample(words, min(40, len(words)))
    else:
        pytest.skip(NO_LOOKUPS)
    random_state = random.Random(1)
    tokens = [
        (random_state.choice((word, word, word.title())), pos, morph)
        for word in words
        for pos in IDS
        if (lang, pos) not in SPACY_FAILS_ON
        for morph in random_state.sample(MORPHS, 1)
    ]
    random_state.shuffle(tokens)
    theirs, ours = map(make_blank(lang).add_pipe, ("lemmatizer", "cached_lemmatizer"))
    for lemmatizer in (theirs, ours):
        initialize(lemmatizer, tables)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # for words without a part of speech
        for half in (tokens, tokens[::-1]):  # the second half hits the cache
            for start in range(0, len(half), 500):
                part = half[start : start + 500]
                assert lemmatize(ours, *part) == lemmatize(theirs, *part)
    assert count_cached(ours)


@pytest.mark.parametrize("overwrite", [True, False])
def test_existing_lemmas_are_kept_unless_overwrite_is_true(overwrite):
    tokens = [("mice", "NOUN", "", "given"), ("Mice", "NOUN", "", "")]
    tokens += [("ponies", "NOUN", "", "given"), ("baking", "VERB", "", "")]
    theirs, ours = (
        make_lemmatizer(factory, overwrite=overwrite)
        for factory in ("lemmatizer", "cached_lemmatizer")
    )
    expected = lemmatize(theirs, *tokens)
    assert expected[0] == ("mouse" if overwrite else "given")
    for part in (tokens, tokens[::2], tokens):
        assert lemmatize(ours, *part) == lemmatize(theirs, *part)


def test_lemmas_are_computed_once(monkeypatch):
    lemmatizer = make_lemmatizer()
    tokens = [("mice", pos, "") for pos in ("NOUN", "VERB")]
    tokens.insert(1, ("mice", "NOUN", "Foreign=Yes"))
    expected = ["mouse", "mouse", "mice"]
    assert lemmatize(lemmatizer, *tokens, *tokens) == expected * 2
    assert count_cached(lemmatizer) == 3
    monkeypatch.setattr(CachedLemmatizer, "_compute", lambda *_: pytest.fail("miss"))
    assert lemmatize(lemmatizer, *tokens) == expected


def get(lookups: Lookups, name: str = "lemma_lookup") -> Table:
    return lookups.get_table(name)


#: By mode, table changes that change a lemma.
CHANGES: dict[str, list[Callable[[Lookups], Any]]] = {
    "lookup": [
        lambda of: get(of).set("mice", "mouse"),
        lambda of: get(of).__delitem__(hash_string("mice")),
        lambda of: get(of).update({hash_string("mice"): "rat"}),
        lambda of: get(of).pop(hash_string("mice")),
        lambda of: of.set_table("lemma_lookup", Table(data={"mice": "cat"})),
        lambda of: get(of).popitem(),
        lambda of: get(of).set("mice", "mouse"),
        lambda of: get(of).clear(),
    ],
    "rule": [
        lambda of: get(of, "lemma_exc").set("noun", {"mice": ["rat"]}),
        lambda of: get(of, "lemma_exc")["noun"].update({"mice": ["cat"]}),
        lambda of: of.set_table("lemma_exc", Table(data={"noun": {"mice": ["dog"]}})),
        lambda of: get(of, "lemma_exc").pop(hash_string("noun")),
        lambda of: get(of, "lemma_index").set("noun", ["mouse"]),
        lambda of: get(of, "lemma_rules")["noun"].insert(0, ["s", "z"]),
    ],
}


@pytest.mark.parametrize(
    ("lang", "mode"),
    [("en", "lookup"), ("en", "rule"), ("el", "rule"), ("es", "rule")],
)
def test_table_changes_invalidate(lang, mode):
    nlp = make_blank(lang)
    factories = ("lemmatizer", "cached_lemmatizer")
    both = [nlp.add_pipe(factory, config={"mode": mode}) for factory in factories]
    tables = {**ENGLISH, "lemma_lookup": {}, "lemma_rules_groups": {}}
    for lemmatizer in both:
        initialize(lemmatizer, tables)
    found: list[list[str]] = []
    for change in (lambda of: None, *CHANGES[mode]):
        for lemmatizer in both:
            change(lemmatizer.lookups)
            if mode == "rule":  # spaCy's cache is not invalidated
                lemmatizer.cache.clear()
        words = [*product(("mice", "ponies"), ("NOUN", "ADP", "PROPN"))]
        theirs, ours = (lemmatize(lemmatizer, *words) for lemmatizer in both)
        assert ours == theirs
        found.append(ours)
    assert lang != "en" or all(one != other for one, other in pairwise(found))
    assert both[0].to_bytes() == both[1].to_bytes()


@pytest.mark.parametrize("number", range(4))
def test_changes_by_another_thread_invalidate(monkeypatch, number):
    """The change happens when the mode is read for the nth time."""
    tables = {"lemma_lookup": {"mice": "mouse"}}
    lemmatizer = make_lemmatizer(content=tables, mode="lookup")
    countdown = iter(range(number, -1, -1))

    def interrupt(lemmatizer: Lemmatizer) -> str:
        if next(countdown, 1) == 0:
            lemmatize(lemmatizer, ("mice", "NOUN"))
            get(lemmatizer.lookups)["mice"] = "rat"
        return lemmatizer._mode

    monkeypatch.setattr(Lemmatizer, "mode", property(interrupt))
    for _ in range(4):
        found = lemmatize(lemmatizer, ("mice", "NOUN"))
    assert found == ["rat"]


def test_the_cache_is_bounded(monkeypatch):
    monkeypatch.setattr(cached_lemmatizer, "MAX_LEMMAS", 10)
    lemmatizer = make_lemmatizer()
    words = ["x" * 100 + "s", "x" * 99 + "s"]
    expected = [word[:-1] for word in words]
    assert lemmatize(lemmatizer, *((word, "NOUN") for word in words)) == expected
    assert count_cached(lemmatizer) == 1
    words = [f"w{i}s" for i in range(94)]
    lemmatize(lemmatizer, *((word, "NOUN") for word in words))
    assert count_cached(lemmatizer) == 5


@pytest.mark.parametrize("factory", ["lemmatizer", "cached_lemmatizer"])
def test_errors_are_passed_to_the_error_handler(factory):
    lemmatizer = make_lemmatizer(factory)
    get(lemmatizer.lookups, "lemma_exc")["verb"] = {"fails": [3]}
    failed = []
    lemmatizer.set_error_handler(lambda *args: failed.append(args))
    doc = make_doc(lemmatizer, ("mice", "NOUN"), ("fails", "VERB"), ("mice", "NOUN"))
    assert lemmatizer(doc) is None
    [(name, component, docs, error)] = failed
    assert (name, component, docs) == ("lemmatizer", lemmatizer, [doc])
    assert isinstance(error, TypeError | KeyError)
    assert [token.lemma_ for token in doc] == ["mouse", "", ""]


def test_warning_of_missing_parts_of_speech_is_repeated():
    lemmatizer = make_lemmatizer()
    for _ in range(2):
        with pytest.warns(UserWarning, match="W108"):
            lemmatize(lemmatizer, ("mice", ""))


def test_default_mode_is_the_languages():
    nlp = spacy.blank("it")
    assert nlp.add_pipe("cached_lemmatizer").mode == "pos_lookup"
    named = nlp.add_pipe("cached_lemmatizer", name="b", config={"mode": "lookup"})
    assert named.mode == "lookup"


def test_unsupported_lemmatizers_are_refused(monkeypatch):
    monkeypatch.delitem(LEMMATIZERS, "spacy.lang.en.lemmatizer.EnglishLemmatizer")
    nlp = spacy.blank("en")
    assert not can_cache(nlp.add_pipe("lemmatizer"))
    with pytest.raises(ValueError, match=r"should be 'lemmatizer'.*EnglishLemmatizer"):
        nlp.add_pipe("cached_lemmatizer")


def test_supported_classes_are_spacys():
    for path in LEMMATIZERS:
        module, _, name = path.rpartition(".")
        made = getattr(cached_lemmatizer, f"Cached{name}")
        assert issubclass(
            made, (CachedLemmatizer, getattr(import_module(module), name))
        )
    with pytest.raises(AttributeError, match="CachedNone"):
        _ = cached_lemmatizer.CachedNone
