import hypothesis.strategies as st
import pytest
from hypothesis import given
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_hashembeds.corpora.docbin import entity_texts
from spacy_hashembeds.evaluation.groups import (
    GROUPINGS,
    group_entity,
    learn_training_set,
)

from .. import toy_ner


@pytest.fixture(scope="module")
def knowledge():
    texts = [
        "Anna|PER met Paris|PER in Paris|LOC",
        "Carl+Brown|PER is in New York today",
        *["Rome|LOC"] * 12,
    ]
    return learn_training_set(toy_ner.make_doc(text) for text in texts)


def group(text: str, knowledge) -> dict[str, str]:
    [ent] = toy_ner.make_doc(text).ents
    return group_entity(ent, knowledge)


def test_a_training_set_is_counted(knowledge):
    assert knowledge.entities == {
        "Anna": {"PER": 1},
        "Paris": {"PER": 1, "LOC": 1},
        "Carl Brown": {"PER": 1},
        "Rome": {"LOC": 12},
    }
    assert knowledge.tokens["in"] == knowledge.tokens["Paris"] == 2
    assert knowledge.tokens["York"] == 1
    assert knowledge.tokens["york"] == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna|PER", "same_type"),
        ("Paris|PER", "same_type"),
        ("Paris|LOC", "same_type"),
        ("Anna|LOC", "other_type"),
        ("Carl|PER", "tokens_seen"),
        ("New+York|LOC", "tokens_seen"),  # seen, though in no entity
        ("Brown+Carl|PER", "tokens_seen"),
        ("New+Orleans|LOC", "tokens_partly_seen"),
        ("Oslo|LOC", "tokens_unseen"),
        ("Los+Angeles|LOC", "tokens_unseen"),
        ("anna|PER", "tokens_unseen"),  # case counts
    ],
)
def test_entities_are_grouped_by_what_training_has_shown(knowledge, text, expected):
    assert group(f"yesterday {text} slept", knowledge)["knowledge"] == expected


@pytest.mark.parametrize(
    ("text", "entity", "token"),
    [
        ("Rome|LOC", "10-99", "10-99"),
        ("Rome|PER", "10-99", "10-99"),  # whatever the type
        ("Paris|LOC", "2-9", "2-9"),
        ("Carl+Brown|PER", "1", "1"),
        ("Carl+Rome|PER", "0", "1"),
        ("Rome+Oslo|LOC", "0", "0"),
    ],
)
def test_entities_are_grouped_by_frequency(knowledge, text, entity, token):
    groups = group(text, knowledge)
    assert (groups["frequency"], groups["token_frequency"]) == (entity, token)


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, "0"), (1, "1"), (2, "2-9"), (9, "2-9"), (10, "10-99"), (100, "100+")],
)
def test_ranges_hold_their_bounds(count, expected):
    docs = [toy_ner.make_doc("Oslo|LOC")] * count
    groups = group("Oslo|LOC", learn_training_set(docs))
    assert groups["frequency"] == groups["token_frequency"] == expected


VOCAB = Vocab()


@st.composite
def tagged_docs(draw) -> Doc:
    words = draw(st.lists(st.sampled_from("abc"), max_size=6))
    tags = draw(
        st.lists(
            st.sampled_from(["O", "B-X", "B-Y"]),
            min_size=len(words),
            max_size=len(words),
        )
    )
    return Doc(VOCAB, words=words, ents=tags)


@given(st.lists(tagged_docs(), max_size=3), st.lists(tagged_docs(), max_size=3))
def test_each_entity_has_one_group_which_agrees_with_seen_and_unseen(train, test):
    knowledge = learn_training_set(train)
    texts = entity_texts(train)
    assert set(knowledge.entities) == texts
    for ent in (ent for doc in test for ent in doc.ents):
        groups = group_entity(ent, knowledge)
        assert list(groups) == list(GROUPINGS)
        assert all(groups[name] in GROUPINGS[name][1] for name in groups)
        is_seen = groups["knowledge"] in ("same_type", "other_type")
        assert is_seen == (ent.text in texts) == (groups["frequency"] != "0")
