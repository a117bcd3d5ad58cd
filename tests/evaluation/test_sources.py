import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Corpus, Example

from lab.corpora.misspellings import misspell
from spacy_hashembeds import evaluate
from spacy_hashembeds.evaluation.evaluate import Evaluation, evaluate_in_depth
from spacy_hashembeds.evaluation.scorer import KINDS
from spacy_hashembeds.evaluation.sources import pair_examples, predict_examples

from .. import toy_ner

# Predictions.


@pytest.fixture
def ruler():
    return toy_ner.make_ruler({"Oslo": "LOC"}, None)


def get_ents(doc: Doc) -> list[tuple[str, str]]:
    return [(ent.text, ent.label_) for ent in doc.ents]


def test_examples_are_those_of_spacy_evaluate(ruler, tmp_path):
    path = toy_ner.write(tmp_path / "test.spacy", toy_ner.make_test_docs())
    expected = list(Corpus(path)(ruler))
    found = list(predict_examples(ruler, toy_ner.make_test_docs()))
    assert len(found) == len(expected)
    for example, other in zip(found, expected, strict=True):
        tokens = [[t.text_with_ws for t in x.predicted] for x in (example, other)]
        assert tokens[0] == tokens[1]
        assert get_ents(example.reference) == get_ents(other.reference)
        assert get_ents(example.predicted) == get_ents(ruler(other.predicted))


def test_an_example_gives_its_tokens_and_nothing_else(ruler):
    gold = toy_ner.make_doc("Emil|PER in Oslo|LOC")
    before = Doc(ruler.vocab, words=["Emil", "in", "Oslo"], ents=["O", "O", "B-PER"])
    given = Example(before, gold)
    (example,) = predict_examples(ruler, iter([given]))
    assert get_ents(example.predicted) == [("Oslo", "LOC")]
    assert example.reference is gold
    assert given.predicted is before
    assert get_ents(before) == [("Oslo", "PER")]


def test_docs_without_tokens_are_left_out(ruler):
    empty = Doc(ruler.vocab)
    golds = [empty, toy_ner.make_doc("Oslo|LOC"), Example(Doc(ruler.vocab), empty)]
    assert len(list(predict_examples(ruler, golds))) == 1
    predicted = [toy_ner.make_doc("Oslo"), empty]
    (example,) = pair_examples(predicted, golds, name="theirs", gold="ours")
    assert example.predicted is predicted[0]
    assert example.reference is golds[1]


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        (["one two", "three for"], "differ in document 1 from word 1 on: 'for' inst"),
        (
            ["one two", "three"],
            "in document 1 from word 1 on: its end instead of 'four",
        ),
        (
            ["one two three"],
            "differ in document 0 from word 2 on: 'three' instead of i",
        ),
        (["one two"], r"end before its document 1 \('three four'\)"),
        (["one two", "three four", "five"], r"go on where it ends, .* 2 \('five'\)"),
        ([], r"end before its document 0 \('one two'\)"),
    ],
)
def test_the_first_difference_in_words_is_named(predicted, message):
    golds = [toy_ner.make_doc("one|PER two"), spacy.blank("en")("three four")]
    docs = [toy_ner.make_doc(text) for text in predicted]
    with pytest.raises(ValueError, match=f"'theirs' should have .*'ours'.*{message}"):
        list(pair_examples(docs, golds, name="theirs", gold="ours"))


# A misspelt copy.

OPTIONS = {"samples": 50, "show_progress": False}


@pytest.fixture(scope="module")
def nlp():
    """A ruler that knows two names, and a misspelling of one."""
    return toy_ner.make_ruler({"Anna": "PER", "Oslo": "LOC", "Olso": "LOC"}, None)


@pytest.fixture(scope="module")
def train() -> list[Doc]:
    return [toy_ner.make_doc(text) for text in ("Anna|PER sings", "Rome|LOC")]


@pytest.fixture(scope="module")
def golds() -> list[Doc]:
    texts = ("Anna|PER met Rome|LOC", "Oslo|LOC sleeps", "Oslo|LOC wakes", "Anna|PER")
    return [Doc(toy_ner.make_doc("a").vocab), *map(toy_ner.make_doc, texts)]


@pytest.fixture(scope="module")
def copies() -> list[Doc]:
    texts = ("Ana|PER met Roma|LOC", "Olso|LOC sleeps", "Osl|LOC wakes", "Anna|PER")
    return [toy_ner.make_doc(text) for text in texts]


@pytest.fixture(scope="module")
def evaluation(nlp, golds, train, copies) -> Evaluation:
    return evaluate(nlp, golds, train=train, misspelt=copies, **OPTIONS)


def test_what_was_seen_is_told_by_the_gold_words(evaluation):
    found = evaluation["misspelt"]
    assert found["corpus"] == "misspelt"
    # Anna twice and Rome were seen, of which Anna is found twice and then once
    recalls = {kind: found[kind]["r"]["other"] for kind in KINDS}
    assert recalls == {"all": 2 / 5, "seen": 1 / 3, "unseen": 1 / 2}
    for kind, prefix in KINDS.items():
        for key, row in found[kind].items():
            lost = evaluation[f"{prefix}_{key}"] - row["other"]
            assert row["difference"] == pytest.approx(lost)
    assert found["seen"]["r"]["difference"] == pytest.approx(1 / 3)
    assert found["per_type"]["LOC"]["r"]["other"] == 1 / 3
    assert found["per_length"]["1"]["r"]["other"] == 2 / 5


def test_the_gold_corpus_is_scored_as_without_it(evaluation, nlp, golds, train):
    plain = dict(evaluate(nlp, golds, train=train, **OPTIONS))
    assert plain.pop("misspelt") is None
    found = dict(evaluation)
    del found["misspelt"]
    assert found == plain


def test_all_scores_are_those_of_the_misspelt_corpus(train, tmp_path):
    golds = toy_ner.make_test_docs()
    nlp = toy_ner.train_ner(toy_ner.write_train(tmp_path / "train.spacy"))
    copies = misspell(golds)
    found = evaluate(nlp, golds, train=train, misspelt=copies, **OPTIONS)["misspelt"]
    expected = evaluate(nlp, copies, train=train, **OPTIONS)
    assert {key: row["other"] for key, row in found["all"].items()} == {
        key: expected[f"ents_{key}"] for key in "prf"
    }
    # a copy that is none costs nothing
    same = evaluate(nlp, golds, train=train, misspelt=golds, **OPTIONS)["misspelt"]
    for kind in KINDS:
        assert all(row["difference"] == 0 for row in same[kind].values())
        assert all(row["p_value"] == 1 for row in same[kind].values())


def test_examples_and_files_give_the_same(
    evaluation, nlp, golds, train, copies, tmp_path
):
    def make_examples(docs: list[Doc]) -> list[Example]:
        return [Example(nlp.make_doc(doc.text), doc) for doc in docs]

    texts = [make_examples(docs) for docs in (golds, copies)]
    options = {"train": train, **OPTIONS}
    found = evaluate(nlp, texts[0], misspelt=texts[1], **options)
    assert found["misspelt"] == evaluation["misspelt"]
    nlp.to_disk(tmp_path / "model")
    paths = [
        toy_ner.write(tmp_path / f"{name}.spacy", docs)
        for name, docs in (("test", golds), ("train", train), ("other", copies))
    ]
    from_files = evaluate_in_depth(
        tmp_path / "model", *paths[:2], misspelt=paths[2], **OPTIONS
    )["misspelt"]
    assert from_files.pop("corpus") == str(paths[2])
    expected = {k: v for k, v in evaluation["misspelt"].items() if k != "corpus"}
    assert from_files == expected


def test_it_is_shown(evaluation, nlp, golds, train):
    text, page = str(evaluation), evaluation.to_html()
    assert "Against itself on misspelt" in text
    assert "| Seen | R | 66.67 | 33.33 | +33.33 |" in text
    assert "<h2>Misspelt</h2>" in page
    assert '<th class="r">Misspelt</th>' in page
    plain = evaluate(nlp, golds, train=train, **OPTIONS)
    assert "Misspelt" not in str(plain) + plain.to_html()


def test_nothing_is_lost_where_there_is_nothing(nlp, train):
    for golds in ([], [Doc(nlp.vocab)], [toy_ner.make_doc("nobody sings")]):
        evaluation = evaluate(nlp, golds, train=train, misspelt=golds, **OPTIONS)
        assert [evaluation["misspelt"][kind] for kind in KINDS] == [None] * 3
        assert "Against itself" not in str(evaluation)
        assert "<h2>Misspelt</h2>" not in evaluation.to_html()


@pytest.mark.parametrize(
    ("texts", "number"),
    [
        (("Ana|PER met Roma|LOC",), 1),
        (("Ana|PER met", "Olso|LOC sleeps", "Osl|LOC wakes", "Anna|PER"), 0),
        (("Ana|PER met Roma|LOC", "Olso sleeps", "Osl|LOC wakes", "Anna|PER"), 1),
        (("Ana|PER met Roma|PER", "Olso|LOC sleeps", "Osl|LOC wakes", "Anna|PER"), 0),
        (("Ana|PER met Roma|LOC", "Olso|LOC sleeps", *["Osl|LOC wakes"] * 2), 3),
    ],
)
def test_what_is_no_copy_is_refused_before_the_work(
    nlp, golds, train, texts, number, monkeypatch
):
    calls = toy_ner.record_calls(monkeypatch)
    message = rf"'misspelt', the misspelt .* 'examples', .* in document {number}, .*"
    message += "`python -m lab misspell`"
    with pytest.raises(ValueError, match=message):
        evaluate(nlp, golds, train=train, misspelt=map(toy_ner.make_doc, texts))
    assert calls == []


def test_predictions_read_nothing(golds, train, copies):
    message = r"'misspelt' \(--misspelt\) is read by .* 'predictions' are predictions"
    with pytest.raises(ValueError, match=message):
        evaluate(golds, golds, train=train, misspelt=copies)
