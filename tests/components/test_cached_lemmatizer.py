"""`cached_lemmatizer`: the lemmas of spaCy's lemmatizers, from a table."""

import copy
import pickle
import random
import warnings
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.lang.en.lemmatizer import EnglishLemmatizer
from spacy.language import Language
from spacy.lookups import Lookups, Table
from spacy.parts_of_speech import IDS
from spacy.pipeline import Lemmatizer
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc
from spacy.util import get_lang_class, load_language_data, registry

from spacy_hashembeds.components import cached_lemmatizer
from spacy_hashembeds.components.cached_lemmatizer import (
    LEMMATIZERS,
    CachedLemmatizer,
    FormList,
    can_cache,
)

from ..left_out import NO_LOOKUPS

#: A language of each class, and of spaCy's own two modes.
LANGUAGES = "ca el en es fr ga it mk nl pl ru uk nb sv de ht".split()
#: What lemmatizers look at, and something that they don't.
MORPHS = (
    *("", "Number=Sing", "Number=Plur", "VerbForm=Inf", "Degree=Pos", "Foreign=Yes"),
    *("Tense=Pres|VerbForm=Fin", "VerbForm=Part", "VerbForm=Vnoun", "Form=HPref"),
    *("Mood=Sub|Number=Plur|Person=1", "Case=Gen|Gender=Fem|Number=Sing"),
    *("Gender=Masc|Number=Plur|Person=3", "Mood=Imp|Number=Sing|Person=2"),
)
SPACY_FAILS_ON = {("es", "CONJ"), ("es", "EOL")}
#: More entries of a table say no more of the code that reads it.
MOST = 1000

ENGLISH = {
    "lemma_rules": {"noun": [["s", ""], ["ies", "y"]], "verb": [["ing", "e"]]},
    "lemma_exc": {"noun": {"mice": ["mouse"]}, "verb": {"was": ["be"]}},
    "lemma_index": {"noun": ["house", "mouse", "pony"], "verb": ["bake", "be"]},
}


def make_lookups(tables: dict[str, Any]) -> Lookups:
    lookups = Lookups()
    for name, table in copy.deepcopy(tables).items():
        lookups.add_table(name, table)
    return lookups


def make_lemmatizer(
    factory: str = "cached_lemmatizer",
    *,
    tables: Any = ENGLISH,
    **cfg,
) -> Lemmatizer:
    lemmatizer = spacy.blank("en").add_pipe(factory, name="lemmatizer", config=cfg)
    lemmatizer.initialize(lookups=make_lookups(tables))
    return lemmatizer


def make_doc(lemmatizer: Lemmatizer, *tokens: tuple[str, ...]) -> Doc:
    """Make a Doc of words, parts of speech, and morphs and lemmas if there are any."""
    words, pos, *others = zip(*tokens, strict=True)
    doc = Doc(lemmatizer.vocab, words=words, pos=pos)
    for name, values in zip(("morph", "lemmas"), others, strict=False):
        for token, value in zip(doc, values, strict=True):
            token.set_morph(value) if name == "morph" else setattr(
                token, "lemma_", value
            )
    return doc


def lemmatize(lemmatizer: Lemmatizer, *tokens: tuple[str, ...]) -> list[str]:
    return [token.lemma_ for token in lemmatizer(make_doc(lemmatizer, *tokens))]


@cache
def read_tables(lang: str) -> dict[str, Any]:
    """Read a language's tables, no more than `MOST` entries of each."""
    tables = registry.lookups.get(lang) if lang in registry.lookups else {}
    random_state = random.Random(0)

    def cut(value: Any) -> Any:
        if len(value) <= MOST or isinstance(value, str):
            return value
        keys = random_state.sample(sorted(value), MOST)
        return {key: value[key] for key in keys} if isinstance(value, dict) else keys

    found = {}
    for name, path in tables.items():
        if name.startswith("lemma_"):
            table = cut(load_language_data(path))
            found[name] = {key: cut(value) for key, value in table.items()}
    return found


def list_words(tables: dict[str, Any]) -> Iterator[str]:
    """List words of each table and entry, and one for each ending with a rule."""
    random_state = random.Random(0)
    for name, table in tables.items():
        entries = [v for v in table.values() if isinstance(v, dict | list)]
        for entry in (table, *entries):
            strings = [s for s in entry if isinstance(s, str)]
            yield from random_state.sample(strings, min(len(strings), 8))
        if name == "lemma_rules":
            for rules in entries:
                yield from (f"blo{rule[0]}" for rule in rules if len(rule[0]) < 12)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_lemmas_are_those_of_each_language_for_all_parts_of_speech(lang):
    if lang in ("ru", "uk"):
        pytest.importorskip("pymorphy3", reason=NO_LOOKUPS)
        tables: dict[str, Any] = {}
        words = ["дома", "столы", "красивая", "був", "мыла", "книги", "гарна", "XV"]
    else:
        if lang != "ht" and lang not in registry.lookups:
            pytest.skip(NO_LOOKUPS)
        tables = read_tables(lang)
        words = list(dict.fromkeys(list_words(tables))) or ["chat", "Chats"]
    if lang == "ht":
        names = ("lemma_lookup", "lemma_rules", "lemma_exc", "lemma_index")
        tables = {name: {} for name in names}
    random_state = random.Random(1)
    tokens = [
        (random_state.choice((word, word, word.title(), word.upper())), pos, morph)
        for word in words
        for pos in IDS
        if (lang, pos) not in SPACY_FAILS_ON
        for morph in random_state.sample(MORPHS, 1)
    ]
    random_state.shuffle(tokens)
    # without the language's own tokenizer, which takes seconds
    nlp = get_lang_class(lang)(create_tokenizer=lambda nlp: Tokenizer(nlp.vocab))
    theirs, ours = map(nlp.add_pipe, ("lemmatizer", "cached_lemmatizer"))
    for lemmatizer in (theirs, ours):
        lemmatizer.initialize(lookups=make_lookups(tables))
    assert isinstance(ours, type(theirs))
    assert can_cache(theirs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of words without a part of speech
        for half in (tokens, tokens[::-1]):  # the second of what the first has met
            for start in range(0, len(half), 500):
                part = half[start : start + 500]
                assert lemmatize(ours, *part) == lemmatize(theirs, *part)
    assert ours._lemmas


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["mice", "Mice", "ponies", "was", "baking", "é", "the"])
            | st.text(min_size=1, max_size=6),
            st.sampled_from(sorted(IDS)),
            st.sampled_from(MORPHS),
            st.sampled_from(["", "", "given"]),
        ),
        min_size=1,
        max_size=12,
    ),
    st.booleans(),
)
def test_lemmas_of_any_tokens_are_spacys(tokens, overwrite):
    theirs, ours = _make_two(overwrite)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert lemmatize(ours, *tokens) == lemmatize(theirs, *tokens)


@cache
def _make_two(overwrite: bool) -> tuple[Lemmatizer, Lemmatizer]:
    theirs, ours = (
        make_lemmatizer(factory, overwrite=overwrite)
        for factory in ("lemmatizer", "cached_lemmatizer")
    )
    return theirs, ours


def test_spanish_lemmas_depend_on_where_a_sentence_starts():
    names = ("lemma_rules", "lemma_rules_groups", "lemma_index", "lemma_exc")
    lemmatizer = spacy.blank("es").add_pipe("cached_lemmatizer")
    lemmatizer.initialize(lookups=make_lookups({name: {} for name in names}))
    doc = Doc(
        lemmatizer.vocab,
        words=["En", "Oslo", "En"],
        pos=["ADP", "PROPN", "ADP"],
        sent_starts=[True, False, False],
    )
    assert [token.lemma_ for token in lemmatizer(doc)] == ["en", "Oslo", "En"]


def test_a_lemma_that_was_given_once_is_not_computed_again(monkeypatch):
    lemmatizer = make_lemmatizer()
    tokens = [
        ("mice", "NOUN", ""),
        ("mice", "NOUN", "Foreign=Yes"),
        ("mice", "VERB", ""),
    ]
    expected = ["mouse", "mouse", "mice"]
    assert lemmatize(lemmatizer, *tokens, *tokens) == expected * 2
    assert len(lemmatizer._lemmas) == 3
    monkeypatch.setattr(
        CachedLemmatizer, "_lemmatize", lambda *_: pytest.fail("computed")
    )
    assert lemmatize(lemmatizer, *tokens) == expected


RATS = {"mice": ["rat"]}
CHANGED = {**ENGLISH, "lemma_exc": {"noun": RATS}}


def replace_lookups(lemmatizer: Lemmatizer) -> None:
    lemmatizer.lookups = make_lookups(CHANGED)
    lemmatizer.cache.clear()


def change_entry(lemmatizer: Lemmatizer) -> None:
    lemmatizer.lookups.get_table("lemma_exc")["noun"].update(RATS)
    lemmatizer.cache.clear()


def load(lemmatizer: Lemmatizer) -> None:
    other = make_lemmatizer("lemmatizer", tables=CHANGED)
    lemmatizer.from_bytes(other.to_bytes())
    lemmatizer.cache.clear()


def refill_cache(lemmatizer: Lemmatizer) -> None:
    """So that its size does not tell that it was emptied."""
    lemmatizer.cache.clear()
    lemmatizer.lemmatize(make_doc(lemmatizer, ("houses", "NOUN"))[0])


def change_entry_and_refill_cache(lemmatizer: Lemmatizer) -> None:
    lemmatizer.lookups.get_table("lemma_exc")["noun"].update(RATS)
    refill_cache(lemmatizer)


def overwrite_in_cache(lemmatizer: Lemmatizer) -> None:
    (key,) = lemmatizer.cache
    lemmatizer.cache[key] = ["rat"]


def set_entry(lemmatizer: Lemmatizer) -> None:
    lemmatizer.lookups.get_table("lemma_exc").set("noun", RATS)
    refill_cache(lemmatizer)


def replace_table(lemmatizer: Lemmatizer) -> None:
    """By one of as many entries."""
    entries = {**ENGLISH["lemma_exc"], "noun": RATS}
    lemmatizer.lookups.set_table("lemma_exc", Table("lemma_exc", entries))
    refill_cache(lemmatizer)


def replace_cache(lemmatizer: Lemmatizer) -> None:
    lemmatizer.lookups.get_table("lemma_exc")["noun"]["mice"] = ["rat"]
    lemmatizer.cache = dict.fromkeys("others")


def replace_method(lemmatizer: Lemmatizer) -> None:
    lemmatizer.lemmatize = lambda _: ["rat"]


def change_mode(lemmatizer: Lemmatizer) -> None:
    lemmatizer._mode, lemmatizer.lemmatize = "lookup", lemmatizer.lookup_lemmatize


class OtherTable(Table):
    """A table of somebody else's."""


def put_other_table(lemmatizer: Lemmatizer) -> None:
    lemmatizer.cache.clear()
    table = OtherTable("lemma_exc", {"noun": {"mice": ["mouse"]}})
    lemmatizer.lookups._tables["lemma_exc"] = table
    lemmatize(lemmatizer, ("mice", "NOUN"))
    table["noun"] = RATS
    lemmatizer.cache.clear()


@pytest.mark.parametrize(
    "change",
    [
        *(replace_lookups, change_entry, change_entry_and_refill_cache, load),
        *(overwrite_in_cache, set_entry, replace_table),
        *(replace_cache, replace_method, change_mode, put_other_table),
    ],
)
def test_no_change_is_missed(change):
    tables = {**ENGLISH, "lemma_lookup": {"mice": "rat"}}
    saved = []
    for factory in ("lemmatizer", "cached_lemmatizer"):
        lemmatizer = make_lemmatizer(factory, tables=tables)
        assert lemmatize(lemmatizer, ("mice", "NOUN")) == ["mouse"]
        change(lemmatizer)
        assert lemmatize(lemmatizer, ("mice", "NOUN")) == ["rat"]
        saved.append(lemmatizer.to_bytes(exclude=["vocab"]))
    assert saved[0] == saved[1]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        *[("append", ["a"]), ("extend", [["b", "c"]]), ("insert", [0, "d"])],
        *[("remove", ["house"]), ("pop", []), ("__setitem__", [0, "e"])],
        *[("__delitem__", [1]), ("__iadd__", [["f"]]), ("__imul__", [2])],
        *[("sort", []), ("reverse", []), ("clear", [])],
    ],
)
def test_forms_are_found_as_in_a_list_whatever_is_done_to_it(name, arguments):
    lemmatizer = make_lemmatizer()
    assert lemmatize(lemmatizer, ("houses", "NOUN")) == ["house"]
    index = lemmatizer.lookups.get_table("lemma_index")["noun"]
    assert type(index) is FormList
    expected = list(index)
    forms = {*expected, *"abcdef"}
    for of in (index, expected):
        getattr(of, name)(*arguments)
    assert [form in index for form in forms] == [form in expected for form in forms]
    assert pickle.loads(pickle.dumps(index)) == index == expected


def test_no_more_lemmas_are_kept_than_may_be(monkeypatch):
    monkeypatch.setattr(cached_lemmatizer, "MAX_LEMMAS", 10)
    lemmatizer = make_lemmatizer()
    words = [f"w{i}s" for i in range(95)]
    assert lemmatize(lemmatizer, *((w, "NOUN") for w in words)) == [
        w[:-1] for w in words
    ]
    assert len(lemmatizer._lemmas) == 5


def test_tables_that_are_missing_are_spacys_error():
    lemmatizer = spacy.blank("en").add_pipe("cached_lemmatizer")
    with pytest.raises(ValueError, match="E1004"):
        lemmatizer(make_doc(lemmatizer, ("mice", "NOUN")))


@pytest.mark.parametrize("lemma", [b"rat", type("OtherStr", (str,), {})("rat")])
def test_lemmas_of_a_wrong_type_are_spacys_error(lemma):
    for factory in ("lemmatizer", "cached_lemmatizer"):
        lemmatizer = make_lemmatizer(factory)
        lemmatizer.lookups.get_table("lemma_exc")["noun"] = {"mice": [lemma]}
        with pytest.raises(TypeError, match="'lemma_' has incorrect type"):
            lemmatize(lemmatizer, ("mice", "NOUN"))


@pytest.mark.parametrize("factory", ["lemmatizer", "cached_lemmatizer"])
def test_what_fails_goes_to_the_error_handler_with_the_lemmas_before_it(factory):
    lemmatizer = make_lemmatizer(factory)
    lemmatizer.lookups.get_table("lemma_exc")["verb"] = {"fails": [3]}
    failed = []
    lemmatizer.set_error_handler(lambda *args: failed.append(args))
    doc = make_doc(lemmatizer, ("mice", "NOUN"), ("fails", "VERB"), ("mice", "NOUN"))
    assert lemmatizer(doc) is None
    [(name, component, docs, error)] = failed
    assert (name, component, docs) == ("lemmatizer", lemmatizer, [doc])
    assert isinstance(error, TypeError | KeyError)
    assert [token.lemma_ for token in doc] == ["mouse", "", ""]


def test_spacy_warns_of_words_without_a_part_of_speech_each_time():
    lemmatizer = make_lemmatizer()
    for _ in range(2):
        with pytest.warns(UserWarning, match="W108"):
            lemmatize(lemmatizer, ("mice", ""))


def test_the_mode_is_the_languages_own_unless_it_is_named():
    modes = {
        lang: spacy.blank(lang).add_pipe("cached_lemmatizer").mode
        for lang in ("en", "it", "de")
    }
    assert modes == {"en": "rule", "it": "pos_lookup", "de": "lookup"}
    nlp = spacy.blank("en")
    assert nlp.add_pipe("cached_lemmatizer", config={"mode": "lookup"}).mode == "lookup"
    with pytest.raises(ValueError, match="E1003"):
        make_lemmatizer(mode="none", tables={})


def test_a_lemmatizer_that_is_not_known_is_refused_with_the_remedy():
    class OtherLemmatizer(Lemmatizer):
        pass

    class Other(Language):
        lang = "other"

    defaults = {"model": None, "mode": "rule", "more": 1}

    @Other.factory("lemmatizer", default_config=defaults)
    def make(nlp, name, model, mode, more):
        return OtherLemmatizer(nlp.vocab, model, name, mode=mode)

    assert not can_cache(Other().add_pipe("lemmatizer"))
    with pytest.raises(ValueError, match=r"should be 'lemmatizer'.*OtherLemmatizer"):
        Other().add_pipe("cached_lemmatizer")


def test_each_class_is_spacys_own():
    for path in LEMMATIZERS:
        module, _, name = path.rpartition(".")
        made = getattr(cached_lemmatizer, f"Cached{name}")
        assert issubclass(
            made, (CachedLemmatizer, getattr(import_module(module), name))
        )
    with pytest.raises(AttributeError, match="CachedNone"):
        _ = cached_lemmatizer.CachedNone


@pytest.mark.parametrize("is_of_class", [True, False])
def test_base_forms_may_be_those_of_somebody_else(monkeypatch, is_of_class):
    if is_of_class:
        monkeypatch.setattr(
            EnglishLemmatizer, "is_base_form", lambda _, token: token.i == 0
        )
    for factory in ("lemmatizer", "cached_lemmatizer"):
        lemmatizer = make_lemmatizer(factory)
        if not is_of_class:
            lemmatizer.is_base_form = lambda token: token.i == 0
        tokens = [("houses", "NOUN"), ("houses", "NOUN")]
        assert lemmatize(lemmatizer, *tokens) == ["houses", "house"]
