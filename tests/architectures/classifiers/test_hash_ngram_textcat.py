"""HashNgramTextCat: what it computes, learns, refuses and keeps."""

import copy

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import fix_random_seed

from spacy_hashembeds.architectures.classifiers.dictionary import extract_words
from spacy_hashembeds.architectures.classifiers.hash_ngram_textcat import (
    HashNgramTextCat,
)

from ...toy_classifiers import (
    MARKS,
    OTHERS,
    SMALL,
    get_scores,
    make_config,
    make_examples,
    make_pipeline,
    make_texts,
    measure_accuracy,
    train,
)
from ...toy_embedders import get_nodes

DEEP = {"hidden_layers": 2, "hidden_width": 12}
TRICK = {"importance_rows": 0, "num_hashes": 1, "rows": 5000}
TEXTS = [text for text, _ in make_texts(12, seed=3)] + ["", ", . !", "great"]


@pytest.mark.parametrize("arguments", [DEEP, TRICK], ids=str)
def test_it_learns_and_comes_back(arguments, tmp_path):
    nlp = train(make_pipeline(make_config(**arguments)))
    assert measure_accuracy(nlp) > 0.95
    scores = get_scores(nlp, TEXTS)
    assert all(sum(cats.values()) == pytest.approx(1) for cats in scores)
    nlp.to_disk(tmp_path)
    for loaded in (
        spacy.load(tmp_path),
        spacy.util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes()),
    ):
        assert get_scores(loaded, TEXTS) == scores


def test_rows_without_weights_begin_near_zero():
    """N-grams that training has not shown must not matter."""
    nlp = make_pipeline(make_config(**TRICK))
    nlp.initialize(lambda: make_examples(nlp))
    (embed,) = get_nodes(nlp.get_pipe("textcat").model, "hashembed")
    assert 0.009 < abs(embed.get_param("E")).max() <= 0.01


def make_independent_examples(nlp, n=80, seed=0):
    """Texts with any of the labels, some of which are missing."""
    examples = []
    for i, (text, _) in enumerate(make_texts(n, seed)):
        words = [word for word in text.split() if word in OTHERS]
        cats = {"good": float(i % 2), "bad": float(i // 2 % 2)}
        words += ["great"] * (i % 2) + ["awful"] * (i // 2 % 2)
        if i % 3 == 0:
            del cats["bad"]
        doc = nlp.make_doc(" ".join(words))
        examples.append(Example.from_dict(doc, {"cats": cats}))
    return examples


def test_labels_that_do_not_exclude_each_other():
    config = make_config(exclusive_classes=False, ngram_size=1)
    nlp = make_pipeline(config, "textcat_multilabel")
    examples = make_independent_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.05
    for _ in range(60):
        nlp.update(examples, sgd=optimizer)
    assert nlp.get_pipe("textcat").model.attrs["multi_label"] is True
    hits = [
        (nlp(example.text).cats[label] > 0.5) == truth
        for example in make_independent_examples(nlp, seed=1)
        for label, truth in example.reference.cats.items()
    ]
    assert sum(hits) / len(hits) > 0.9


@pytest.mark.parametrize(
    ("attr", "include_punctuation", "expected"),
    [
        ("LOWER", False, ["the", "film", "b"]),
        ("ORTH", False, ["The", "film", "b"]),
        ("LOWER", True, ["the", "film", ",", "\n", "b"]),
    ],
)
def test_words(attr, include_punctuation, expected):
    vocab = spacy.blank("en").vocab
    docs = [Doc(vocab, words=["The", "film", ",", "\n", "b"]), Doc(vocab)]
    words = extract_words(attr, include_punctuation=include_punctuation).predict(docs)
    assert [vocab.strings[int(key)] for key in words.dataXd] == expected
    assert words.lengths.tolist() == [len(expected), 0]


@pytest.mark.parametrize("exclusive", [True, False])
def test_labels_added_later(exclusive):
    factory = "textcat" if exclusive else "textcat_multilabel"
    nlp = train(make_pipeline(make_config(exclusive_classes=exclusive), factory))
    before = get_scores(nlp, TEXTS)
    pipe = nlp.get_pipe("textcat")
    assert pipe.add_label("new") == 1
    after = get_scores(nlp, TEXTS)
    for old, new in zip(before[:-2], after[:-2], strict=True):
        if old != dict.fromkeys(old, 0.0):  # spaCy's scores of texts without tokens
            assert {label: new[label] for label in old} == pytest.approx(old, abs=1e-3)
            assert new["new"] == pytest.approx(0 if exclusive else 0.5, abs=1e-3)
    assert pipe.model.get_dim("nO") == pipe.model.get_ref("output_layer").get_dim("nO")
    cats = {**dict.fromkeys(MARKS, 0.0), "new": 1.0}
    examples = [Example.from_dict(nlp.make_doc("a brand"), {"cats": cats})] * 4
    examples += make_examples(nlp)
    optimizer = nlp.resume_training()
    optimizer.learn_rate = 0.1
    for _ in range(40):
        nlp.update(examples, sgd=optimizer)
    assert nlp("a brand").cats["new"] > 0.5
    loaded = spacy.util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert get_scores(loaded, TEXTS) == get_scores(nlp, TEXTS)


def test_rehearsal_goes_on_after_a_label_was_added():
    """spaCy's rehearsal model is a deep copy, which must not share the output."""
    nlp = train(make_pipeline(make_config()))
    optimizer = nlp.resume_training()
    copied = copy.deepcopy(nlp.get_pipe("textcat").model)
    assert nlp.rehearse(make_examples(nlp), sgd=optimizer)
    copied.attrs["resize_output"](copied, 3)
    docs = [nlp.make_doc("great")]
    assert copied.predict(docs).shape == (1, 3)
    assert nlp.get_pipe("textcat").model.predict(docs).shape == (1, 2)


def test_the_number_of_labels_as_an_argument():
    model = HashNgramTextCat(**SMALL, nO=3)
    fix_random_seed(0)
    model.initialize(X=[Doc(Vocab(), words=["a"])])
    assert model.predict([Doc(Vocab(), words=["a"])]).shape == (1, 3)


def test_each_ngram_of_a_dictionary_may_have_a_row_of_its_own():
    arguments = {**SMALL, "rows": None, "importance_rows": 0, "num_hashes": 1}
    assert get_nodes(HashNgramTextCat(**arguments), "symbolembed")
