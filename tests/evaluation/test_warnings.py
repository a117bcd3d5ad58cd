import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_hashembeds.corpora.columns import ColumnFormat, make_doc, read_documents
from spacy_hashembeds.evaluation.evaluate import evaluate_in_depth
from spacy_hashembeds.evaluation.groups import count_shared, identify

from .. import toy_ner


@pytest.fixture
def model(tmp_path: Path) -> Path:
    patterns = {"Anna": "PER", "Oslo": "LOC"}
    toy_ner.make_ruler(patterns, None).to_disk(tmp_path / "model")
    return tmp_path / "model"


def warn(model: Path, docs: list[Doc], train: str = "Anna|PER", **options) -> list[str]:
    folder = model.parent
    toy_ner.write(folder / "test.spacy", docs)
    toy_ner.write(folder / "train.spacy", [toy_ner.make_doc(train)])
    return evaluate_in_depth(*find_paths(model), samples=10, **options)["warnings"]


def find_paths(model: Path) -> tuple[Path, Path, Path]:
    return model, model.parent / "test.spacy", model.parent / "train.spacy"


def test_what_can_be_scored_needs_no_warning(model):
    assert warn(model, [toy_ner.make_doc("Anna|PER in Rome|LOC")]) == []
    assert evaluate_in_depth(*find_paths(model), samples=10)["notes"] == []
    # nothing is right, but the types are known
    assert warn(model, [toy_ner.make_doc("Anna in Rome|PER")]) == []


PLAIN = Doc(Vocab(), words=["Anna", "sings"])


@pytest.mark.parametrize(
    ("docs", "message"),
    [
        ([], "The gold corpus '.*/test.spacy' holds no documents.$"),
        ([PLAIN] * 2, "None of the 2 documents in '.*' has entity annotation.$"),
        (["Anna is here"], "There is not one gold entity in the 1 document of '"),
        (["Dora|PER"], "'.*model' predicts not one entity.* trained on such texts.$"),
        (
            ["Anna|person Oslo|location"],
            "The.* LOC, PER, and .* location, person.$",
        ),
    ],
)
def test_what_cannot_be_scored_is_told(model, docs, message):
    docs = [toy_ner.make_doc(doc) if isinstance(doc, str) else doc for doc in docs]
    (text,) = warn(model, docs)
    assert re.match(message, text)


def test_training_without_entities(model):
    (text,) = warn(model, [toy_ner.make_doc("Anna|PER")], train="nobody")
    assert "train.spacy' has no entities, so that all count as unseen" in text


def test_nothing_to_compare(model):
    docs = [toy_ner.make_doc("nobody")]
    _, text = warn(model, docs, against=model)
    assert text.startswith(f"There is no comparison with '{model}'")
    docs = [toy_ner.make_doc("Anna|PER sings")]
    assert warn(model, docs, against=model) == []


def test_another_pipeline_that_finds_nothing_is_no_match(model):
    other = model.parent / "other"
    toy_ner.make_ruler({"Anna": "person"}, None).to_disk(other)
    (text,) = warn(model, [toy_ner.make_doc("Anna|PER sings")], against=other)
    assert text.startswith(f"'{other}' finds not one gold entity")


LONG = "Anna|PER and nobody else sings of love in Oslo today"
SHORT = "Anna|PER and nobody else sings of love in Oslo"


def warn_of_shared(model: Path, texts: list[str], train: list[str]) -> list[str]:
    folder = model.parent
    for name, lines in (("test", texts), ("train", train)):
        # spaces and entities don't matter, only tokens
        docs = [toy_ner.make_doc(line, spaces=name == "test") for line in lines]
        toy_ner.write(folder / f"{name}.spacy", docs)
    return evaluate_in_depth(*find_paths(model), samples=10)["warnings"]


def test_a_long_document_of_the_training_corpus(model):
    texts = [LONG, LONG + " or tomorrow", "Dora|PER", "Anna|PER sings"]
    (text,) = warn_of_shared(model, texts, [LONG.replace("|PER", ""), "Dora|PER"])
    assert text.startswith("1 of the 2 documents of 10 tokens or more in '")
    assert "test.spacy' (50.0%) stand word for word in the training corpus" in text


def test_less_than_one_in_a_hundred_is_a_note(model):
    texts = [LONG, *(f"{LONG} and {i}" for i in range(100))]
    (text,) = warn_of_shared(model, texts[:100], [LONG])
    assert text.startswith("1 of the 100 documents of 10 tokens or more in '")
    assert evaluate_in_depth(*find_paths(model), samples=10)["notes"] == []
    assert warn_of_shared(model, texts, [LONG]) == []
    evaluation = evaluate_in_depth(*find_paths(model), samples=10)
    (text,) = evaluation["notes"]
    assert text.startswith("1 of the 101 documents of 10 tokens or more in '")
    for form in (evaluation.to_markdown(), evaluation.to_html()):
        assert "1 of the 101 documents" in form


def test_short_documents_may_repeat_up_to_a_half(model):
    others = ["Dora|PER", "Anna|PER sings", "nobody"]
    assert warn_of_shared(model, [SHORT, *others[:2]], [SHORT, *others[2:]]) == []
    (text,) = warn_of_shared(model, [SHORT, others[0]], [SHORT, "Ben|PER"])
    assert text.startswith("1 of the 2 documents in '")
    assert "test.spacy' (50.0%) stand word for word" in text


@pytest.mark.parametrize(
    ("train", "test", "tag", "n_shared", "n_long"),
    [
        # The same news, printed again.
        ("conll2002/esp.train", "conll2002/esp.testb", -1, 309, 86),
        ("anem/AnEM.train", "anem/AnEM.test", 3, 104, 0),
    ],
)
def test_of_real_corpora(data_dir, train, test, tag, n_shared, n_long):
    def read(name: str) -> Iterator[Doc]:
        for document in read_documents(data_dir / name, ColumnFormat(tag=tag)):
            yield make_doc(Vocab(), document)

    known = {identify(doc) for doc in read(train)}
    shared = count_shared(read(test), known)
    assert (shared["documents"], shared["long_documents"]) == (n_shared, n_long)
