"""Stored features of a corpus are copied to predicted Docs in training."""

import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span, Token
from spacy.training import Example
from spacy.training.augment import create_lower_casing_augmenter
from spacy.util import load_model_from_config

from spacy_hashembeds.training.features import (
    find_features,
    find_reader_features,
    find_stored,
)
from spacy_hashembeds.training.joined import set_document
from spacy_hashembeds.training.readers import FeatureCorpus, JoinedCorpus

NLP = spacy.blank("en")
KEEP = ["_.mark", "spans.names"]
TEXT = "He can't see New York."
WORDS = TEXT.replace("can't", "ca n't").replace(".", " .").split()
BOTH = pytest.mark.parametrize("create", [FeatureCorpus, JoinedCorpus])


def make_gold(words=WORDS, spaces=None) -> Doc:
    """Create a sentence with values for all tokens except the second, and a span."""
    starts = [i == 0 for i in range(len(words))]
    doc = Doc(NLP.vocab, words=words, spaces=spaces, sent_starts=starts)
    for token in doc:
        if token.i != 1:
            doc.user_data["._.", "mark", token.idx, None] = f"{token.i}:{token}"
    ids = {"kb_id": "Q60", "span_id": "s"}
    doc.spans["names"] = [Span(doc, len(doc) - 3, len(doc) - 1, "GPE", **ids)]
    return doc


def save(path, *docs: Doc):
    DocBin(docs=docs, store_user_data=True).to_disk(path / "train.spacy")
    return path / "train.spacy"


def read_values(doc: Doc) -> list:
    data = doc.user_data
    return [data.get(("._.", "mark", token.idx, None)) for token in doc]


def describe(doc: Doc) -> tuple:
    spans = [(s.text, s.label_, s.kb_id_, s.id_) for s in doc.spans["names"]]
    return [token.text for token in doc], read_values(doc), spans


@BOTH
@pytest.mark.parametrize("cats", [{}, {"A": 1.0}], ids=["", "cats"])
@pytest.mark.parametrize("options", [{}, {"gold_preproc": True}, {"max_length": 8}])
def test_joined_and_cut_docs_keep_features(tmp_path, create, options, cats):
    docs = [Doc.from_docs([make_gold()] * n) for n in (1, 3, 1, 2)]
    for doc in docs:
        doc.cats = cats
    path = save(tmp_path, *docs)
    examples = list(create(path, keep=KEEP, **options)(NLP))
    words, values, spans = describe(make_gold())
    for example in examples:
        n = len(example.predicted) // len(words)
        expected = words * n, values * n, spans * n
        assert describe(example.predicted) == describe(example.reference) == expected
    assert sum(len(example.predicted) for example in examples) == 7 * len(words)


def test_by_default_no_features_are_kept(tmp_path):
    (example,) = FeatureCorpus(save(tmp_path, make_gold()))(NLP)
    assert find_stored(example.reference) == {*KEEP}
    assert not find_stored(example.predicted)


def test_features_are_aligned(tmp_path):
    # the pipeline splits "can't", and merges "Yo" and "rk"
    words, spaces = (
        ["He", "can't", "see", "New", "Yo", "rk", "."],
        [1, 1, 1, 1, 0, 0, 0],
    )
    path = save(tmp_path, make_gold(words, list(map(bool, spaces))))
    (example,) = FeatureCorpus(path, keep=KEEP)(NLP)
    doc = example.predicted
    assert [token.text for token in doc] == WORDS
    found = ["0:He", None, None, "2:see", "3:New", "4:Yo", "6:."]
    assert read_values(doc) == found
    assert [(span.start, span.end) for span in doc.spans["names"]] == [(5, 6)]
    strict = FeatureCorpus(path, keep=KEEP, misaligned="error")
    with pytest.raises(ValueError, match="'misaligned'"):
        next(strict(NLP))


def test_unaligned_white_space_has_no_value(tmp_path):
    gold = make_gold(["Ann", "don't", "go", "\n"], [True] * 4)
    (example,) = FeatureCorpus(save(tmp_path, gold), keep=KEEP)(NLP)
    words = [token.text for token in example.predicted]
    found = dict(zip(words, read_values(example.predicted), strict=True))
    assert (found["Ann"], found["go"]) == ("0:Ann", "2:go")


@BOTH
def test_features_are_kept_with_spacys_augmenters(tmp_path, create):
    augmenter = create_lower_casing_augmenter(1.0)
    path = save(tmp_path, make_gold(spaces=[True] * len(WORDS)))
    (example,) = create(path, keep=KEEP, augmenter=augmenter)(NLP)
    words, values, _ = describe(example.predicted)
    assert words == [word.lower() for word in WORDS]
    assert values == read_values(make_gold())


def test_features_dropped_by_augmenters_are_restored(tmp_path):
    def copy_spans(nlp, example):
        doc = Doc(nlp.vocab, words=[token.text for token in example.predicted])
        doc.spans["names"] = [doc[0:1]]
        yield Example(doc, example.reference)

    bare = Doc(NLP.vocab, words=["No", "group"])
    path = save(tmp_path, make_gold(), bare)
    one, other = FeatureCorpus(path, keep=KEEP, augmenter=copy_spans)(NLP)
    assert read_values(one.predicted) == read_values(make_gold())
    assert [span.text for span in one.predicted.spans["names"]] == ["He"]
    _, other = FeatureCorpus(path, keep=KEEP)(NLP)
    assert not other.predicted.spans["names"]


def test_augmenters_that_drop_features_are_refused(tmp_path):
    def shorten(nlp, example):
        yield Example(nlp.make_doc("He"), nlp.make_doc("He"))

    path = save(tmp_path, make_gold())
    with pytest.raises(ValueError, match="'augmenter'"):
        list(FeatureCorpus(path, keep=KEEP, augmenter=shorten)(NLP))


def test_warning_of_features_that_no_doc_stores(tmp_path):
    reader = FeatureCorpus(save(tmp_path, make_gold()), keep=["_.typo"])
    with pytest.warns(UserWarning, match=r"_\.typo"):
        list(reader(NLP))


@pytest.mark.parametrize("keep", ["_.mark", ["mark"]])
def test_names_that_are_not_features_are_refused(tmp_path, keep):
    with pytest.raises((ValueError, TypeError), match="'keep'"):
        FeatureCorpus(tmp_path, keep=keep)


def test_document_names_and_unknown_keys_are_not_features():
    doc = Doc(NLP.vocab, words=["a"])
    set_document(doc, "first")
    for key in ("", "a b", "$(id)", 5, None, b"x"):
        doc.user_data["._.", key, 0, None] = doc.user_data["._.", "x", "0", None] = 1
    assert not find_stored(doc)


def test_a_config_registers_extensions_and_lists_kept_features():
    block = {"@architectures": "spacy-hashembeds.MultiFewerHashEmbed.v1", "width": 8}
    block |= {"attrs": ["NORM", "_.toy_new"], "rows": [9, 9]}
    block |= {"include_static_vectors": False}
    model = {"@architectures": "spacy.Tagger.v2", "tok2vec": block}
    callback = {
        "@callbacks": "spacy-hashembeds.set_extensions.v1",
        "names": ["toy_new"],
    }
    reader = {"@readers": "spacy-hashembeds.Corpus.v1", "path": None, "keep": ["_.a"]}
    nlp = load_model_from_config(
        {
            "nlp": {"lang": "en", "pipeline": ["tagger"], "before_creation": callback},
            "components": {"tagger": {"factory": "tagger", "model": model}},
            "corpora": {"train": reader, "dev": reader},
        },
        auto_fill=True,
    )
    assert Token.get_extension("toy_new") == (None, None, None, None)
    assert (find_features(nlp), find_reader_features(nlp)) == (["_.toy_new"], ["_.a"])
    del nlp.config["corpora"]
    assert find_reader_features(nlp) == []
