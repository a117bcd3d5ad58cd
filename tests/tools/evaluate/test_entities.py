import hypothesis.strategies as st
import pytest
from hypothesis import given
from spacy.language import Language
from spacy.tokens import Doc, SpanGroup
from spacy.training import Example
from spacy.training.iob_utils import doc_to_biluo_tags
from spacy.vocab import Vocab

from spacy_hashembeds.tools.evaluate.entities import (
    CHUNKS,
    EntityRun,
    TrainingKnowledge,
    group_entity,
)
from spacy_hashembeds.tools.evaluate.evaluate import evaluate
from spacy_hashembeds.tools.evaluate.sources import predict_examples
from spacy_hashembeds.training.scorer import KINDS

from ... import toy_ner
from .expected import check


@Language.component("with_scores")
def add_scores(doc: Doc) -> Doc:
    """Add scores that grow with the length of entities."""
    scores = [1 - 1 / len(ent.text) for ent in doc.ents]
    doc.spans["found"] = SpanGroup(doc, spans=doc.ents, attrs={"scores": scores})
    return doc


def test_the_evaluation_equals_the_expected_file(tiny_corpus):
    """Two rulers have most names of the test set, and some with a wrong label."""
    train, golds = (toy_ner.read(tiny_corpus / f"{x}.spacy") for x in ("train", "test"))
    ents = sorted({(ent.text, ent.label_) for doc in golds for ent in doc.ents})
    pipelines = []
    for step in (5, 2):
        known = {text: label for i, (text, label) in enumerate(ents) if i % step}
        known.update(dict.fromkeys([text for text, _ in ents[::9]], "ORG"))
        # parts of names, and words that are not names
        known.update({text.split()[0]: label for text, label in ents[::6]})
        known |= {"opens": "LOC", "Monday": "DATE", "saw": "PERSON", "of": "PERSON"}
        pipelines.append(toy_ner.make_ruler(known, None))
    pipelines[0].add_pipe("with_scores")
    options = {"train": train, "against": pipelines[1], "samples": 1000, "seed": 1}
    evaluation = evaluate(pipelines[0], golds, **options)
    check(evaluation, "entities.md")
    # values that no table shows
    orgs = evaluation["schemes"]["unseen"]["strict"]["per_type"]["ORG"]
    assert (orgs["correct"], orgs["spurious"]) == (14, 2)
    assert evaluation["ents_seen_per_type"]["ORG"]["r_interval"] == (0, 1)


TRAIN = (
    "Anna|PER met Paris|PER in Paris|LOC",
    "Carl+Brown|PER is in New York today",
    *["Rome|LOC"] * 12,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna|PER", ("same_type", "1", "1")),
        ("Paris|PER", ("same_type", "2-9", "2-9")),
        ("Rome|PER", ("other_type", "10-99", "10-99")),  # any type
        ("Carl+Brown|PER", ("same_type", "1", "1")),
        ("New+York|LOC", ("tokens_seen", "0", "1")),  # outside of entities
        ("New+Orleans|LOC", ("tokens_partly_seen", "0", "0")),
        ("anna|PER", ("tokens_unseen", "0", "0")),  # case counts
    ],
)
def test_entities_are_grouped_by_training_data(text, expected):
    knowledge = TrainingKnowledge(map(toy_ner.make_doc, TRAIN))
    [ent] = toy_ner.make_doc(f"yesterday {text} slept").ents
    assert tuple(group_entity(ent, knowledge).values()) == expected


def test_ranges_include_their_bounds():
    doc = toy_ner.make_doc("Oslo|LOC")
    ranges = {0: "0", 1: "1", 2: "2-9", 9: "2-9", 10: "10-99", 99: "10-99", 100: "100+"}
    for count, expected in ranges.items():
        groups = group_entity(doc.ents[0], TrainingKnowledge([doc] * count))
        assert groups["frequency"] == groups["token_frequency"] == expected


def test_an_empty_corpus_has_an_evaluation_without_scores():
    nlp = toy_ner.make_ruler({"Oslo": "LOC"}, None)
    for docs in ([], [Doc(nlp.vocab)]):
        evaluation = evaluate(nlp, docs, train=[], against=nlp, samples=10)
        assert evaluation["ents_f"] is evaluation["ents_f_interval"] is None
        assert evaluation["confusions"] == []
        assert evaluation["comparison"]["all"] is None
        assert evaluation["averages"] == dict.fromkeys(("all", "seen", "unseen"))
        assert {group["support"] for group in evaluation["groups"]["frequency"]} == {0}
        for form in (evaluation.to_markdown(), evaluation._repr_html_()):
            assert "No document" in form


def test_seen_entities_can_be_those_of_other_docs():
    """These docs are the gold docs of a misspelt corpus: Anna and Rome are seen."""
    nlp = toy_ner.make_ruler({"Anna": "PER", "Oslo": "LOC", "Olso": "LOC"}, None)
    train, golds, copies = (
        [toy_ner.make_doc(text) for text in texts]
        for texts in (
            ("Anna|PER sings", "Rome|LOC"),
            ("Anna|PER met Rome|LOC", "Oslo|LOC sleeps", "Oslo|LOC wakes", "Anna|PER"),
            ("Ana|PER met Roma|LOC", "Olso|LOC sleeps", "Osl|LOC wakes", "Anna|PER"),
        )
    )
    knowledge = TrainingKnowledge(train)
    scores = EntityRun(predict_examples(nlp, copies), knowledge, golds).scores
    recalls = [scores[f"{prefix}_r"] for prefix in KINDS.values()]
    assert recalls == [2 / 5, 1 / 3, 1 / 2]


# Tags of chunks.

VOCAB = Vocab()


def get_chunks(*examples: Example) -> dict[str, tuple[int, int]]:
    """Return the numbers of tokens of each tag that are predicted, and missed."""
    totals = EntityRun(examples, None).totals
    return {tag: tuple(totals["chunk", tag, None][::2]) for tag in CHUNKS}


PARTS = ["O", "B-X", "B-Y", "B-X I-X", "B-X I-X I-X", "B-Y I-Y I-Y I-Y"]


@given(
    st.lists(st.sampled_from(PARTS), max_size=9),
    st.lists(st.sampled_from([*PARTS, "-"]), max_size=9),  # "-": no annotation
)
def test_chunk_tags_equal_those_of_spacy(predicted, annotated):
    parts = (predicted, annotated)
    tags = [" ".join([*of, "O " * 12]).split()[:12] for of in parts]
    ents = [["" if tag == "-" else tag for tag in each] for each in tags]
    sides = [Doc(VOCAB, words=["a"] * 12, ents=each) for each in ents]
    expected = {tag: [0, 0] for tag in CHUNKS}
    tags = zip(*map(doc_to_biluo_tags, sides), strict=True)
    for token, (other, gold) in zip(sides[1], tags, strict=True):
        if token.ent_iob:
            tag = {"U": "S", "L": "E"}.get(gold[0], gold[0])
            expected[tag][gold[0] != other[0]] += 1
    found = get_chunks(Example(*sides))
    assert found == {tag: tuple(counts) for tag, counts in expected.items()}


# the first prediction is right; or both are wrong
@pytest.mark.parametrize("ents", [["B-X", "O"], ["B-Z", ""]])
def test_one_prediction_per_token_is_counted(ents):
    gold = Doc(VOCAB, words=["ab", "c"], spaces=[False] * 2, ents=ents)
    words = ["a", "b", "c"]
    predicted = Doc(VOCAB, words, spaces=[False] * 3, ents=["B-X", "B-Y", "I-Y"])
    assert get_chunks(Example(predicted, gold))["S"] == (1, 0)
