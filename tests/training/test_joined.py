"""The reader that joins sentences and cuts documents, and loses nothing of them."""

from itertools import chain, repeat

import numpy as np
import pytest
import spacy
from spacy.attrs import SENT_START
from spacy.tokens import Doc, DocBin, Span, Token
from spacy.tokens._serialize import ALL_ATTRS
from spacy.vocab import Vocab

from spacy_hashembeds.training.joined import (
    create_joined_reader,
    name_document,
    regroup,
)


@pytest.fixture(autouse=True)
def _extensions():
    for owner in (Token, Span, Doc):
        owner.set_extension("note", default=None)
    yield
    for owner in (Token, Span, Doc):
        owner.remove_extension("note")


def make_sentence(vocab: Vocab, n_words: int, number: int = 0) -> Doc:
    """A sentence with annotation of each layer, an entity, two spans, and extension
    attributes of the tokens, the entity and one span.
    """
    words = [f"w{number}.{i}" for i in range(n_words)]
    doc = Doc(
        vocab,
        words=words,
        spaces=[i % 3 > 0 for i in range(n_words)],
        tags=[f"T{i % 3}" for i in range(n_words)],
        lemmas=[word.upper() for word in words],
        heads=[max(0, i - 1) for i in range(n_words)],
        deps=["ROOT", *["dep"] * (n_words - 1)],
        ents=["B-PER", *["O"] * (n_words - 1)],
    )
    doc.spans["sc"] = [Span(doc, 0, 1, "A", kb_id="Q1", span_id="s"), doc[0:n_words]]
    for token in doc:
        token._.note = f"{token.text}!"
    doc.spans["sc"][1]._.note = [number]
    return doc


def make_text(vocab: Vocab, lengths: list[int]) -> Doc:
    """A Doc of sentences, which are annotated as those of `make_sentence`."""
    sentences = [make_sentence(vocab, n, i) for i, n in enumerate(lengths)]
    return Doc.from_docs(sentences)


def describe(docs) -> list:
    """All that Docs hold, wherever one ends."""
    doc = Doc.from_docs([doc for doc in docs if len(doc)])
    spans = [
        (key, span.start, span.end, span.label_, span.kb_id_, span.id_)
        for key, group in doc.spans.items()
        for span in group
    ]
    return [doc.text, doc.to_array(ALL_ATTRS).tolist(), spans, doc.user_data]


def count_sentences(docs) -> list[int]:
    return [len(list(doc.sents)) for doc in docs]


def write(path, docs):
    DocBin(docs=docs, store_user_data=True).to_disk(path)
    return path


@pytest.fixture
def vocab():
    return Vocab()


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([[3], [1], [4], [2], [5]], [2, 2, 1]),  # sentences, which are joined
        ([[2, 3, 4, 1, 2], [3, 3]], [2, 2, 1, 2]),  # texts, which are cut
    ],
)
def test_sentences_are_joined_and_cut_and_nothing_is_lost(vocab, texts, expected):
    docs = [make_text(vocab, lengths) for lengths in texts]
    docs.insert(1, Doc(vocab))
    found = list(regroup(docs, repeat(2)))
    assert count_sentences(found) == expected
    assert describe(found) == describe(docs)


def test_a_space_stands_between_sentences_that_are_joined():
    vocab = spacy.blank("xx").vocab
    words = (["one"], ["two"], ["three", "\n"], ["four"])
    spaces = ([False], [True], [False, False], [False])
    docs = [
        Doc(vocab, words=of, spaces=after, sent_starts=[1, -1][: len(of)])
        for of, after in zip(words, spaces, strict=True)
    ]
    (joined,) = regroup(docs, repeat(4))
    assert joined.text == "one two three\nfour"


def test_unknown_spaces_stay_unknown(vocab):
    docs = [Doc(vocab, words=["(go", "on"], sent_starts=[1, -1]) for _ in range(5)]
    text = Doc.from_docs(docs)
    text.has_unknown_spaces = True
    for doc in [*regroup(docs, repeat(3)), *regroup([text], repeat(3))]:
        assert doc.has_unknown_spaces


def test_missing_and_blocked_entities_stay_so(vocab):
    docs = [Doc(vocab, words=list("abcd"), sent_starts=[1, -1, -1, -1])] * 4
    kinds = {"missing": [docs[0][1:2]], "blocked": [docs[0][2:3]]}
    docs[0].set_ents([docs[0][0:1]], **kinds, default="outside")
    expected = [t.ent_iob for doc in docs for t in doc]
    for joined in regroup(docs, repeat(4)), regroup([Doc.from_docs(docs)], repeat(2)):
        assert [t.ent_iob for doc in joined for t in doc] == expected


def add_arc(text: Doc) -> None:
    text[4].head = text[3]
    # a boundary that contradicts the tree
    starts = np.array([1, -1] * 4).astype("uint64")
    text.from_array([SENT_START], starts)


@pytest.mark.parametrize(
    "add",
    [
        lambda text: text.spans.update(sc=[text[3:5]]),
        lambda text: text.set_ents([Span(text, 3, 5, "PER")]),
        lambda text: setattr(text[3:5]._, "note", "across"),
        add_arc,
    ],
)
def test_what_goes_on_is_not_cut_through(vocab, add):
    text = make_text(vocab, [2, 2, 2, 2])
    text.spans.clear()
    add(text)
    found = list(regroup([text], repeat(1)))
    assert list(map(len, found)) == [2, 4, 2]
    assert found[1][1:3]._.note == text[3:5]._.note


def test_a_note_of_a_text_without_spaces_ends_with_its_token(vocab):
    text = Doc(vocab, words=["a", "b"], spaces=[False] * 2, sent_starts=[1, 1])
    text[0:1]._.note = "alone"
    assert count_sentences(regroup([text], repeat(1))) == [1, 1]


def test_data_of_a_whole_doc_is_kept_and_differing_data_is_not_joined(vocab, recwarn):
    docs = [make_sentence(vocab, 2, i) for i in range(7)]
    for doc, source in zip(docs, "AAAABBB", strict=True):
        doc._.note = [source]
        doc.user_data["source"] = source
    docs[3].user_data["more"] = 1
    docs[5].user_data["more"] = np.array([1, 2])  # which can't be compared
    docs[6].user_data["more"] = np.array([1, 2])
    found = list(regroup(docs, repeat(5)))
    assert count_sentences(found) == [3, 1, 1, 1, 1]
    assert [doc._.note for doc in found] == [["A"], ["A"], ["B"], ["B"], ["B"]]
    assert [doc.user_data["source"] for doc in found] == [*"AABBB"]
    text = make_text(vocab, [2, 2])
    text._.note = ["C"]
    one, other = regroup([text], repeat(1))
    one._.note.append("changed")
    assert other._.note == text._.note == ["C"]
    assert not recwarn.list


def test_attributes_of_tokens_that_are_no_longer_there_are_left_out(vocab):
    # `as_doc` copies those of the whole text, to places outside of the sentence
    text = make_text(vocab, [2, 2])
    pieces = [sent.as_doc(copy_user_data=True) for sent in text.sents]
    others = [make_sentence(vocab, 2, i) for i in (5, 6)]
    docs = [others[0], *pieces[::-1], others[1]]
    (joined,) = regroup(docs, repeat(4))
    joined.spans["sc"][1]._.note.append("changed")  # a copy, as spaCy makes them
    assert others[0].spans["sc"][1]._.note == [5]
    assert [t._.note for t in joined] == [f"{t.text}!" for t in joined]
    assert len(joined.user_data) == sum(len(doc) + 1 for doc in docs)
    bare = Doc(vocab, words=list("abc"), sent_starts=[1, 1, 1])
    places = ((-2, None), (1, 9), (len(bare.text.rstrip()), None))
    bare.user_data |= {("._.", "note", *place): 1 for place in places}
    assert [dict(doc.user_data) for doc in regroup([bare], repeat(1))] == [{}] * 3


def test_empty_spans_stay(vocab):
    docs = [make_text(vocab, [2, 2]), make_sentence(vocab, 2), make_sentence(vocab, 3)]
    for doc in docs:
        doc.spans["empty"] = [Span(doc, i, i, "E") for i in (0, len(doc))]
    for n in (1, 2):
        found = [*regroup(docs, repeat(n))]
        assert sum(len(doc.spans["empty"]) for doc in found) == 6
        assert found[-1].spans["empty"][-1].start == len(found[-1])


def test_what_has_cats_or_attrs_of_spans_is_neither_joined_nor_cut(vocab):
    docs = [make_sentence(vocab, 2) for _ in range(4)]
    docs += [make_text(vocab, [2, 2]) for _ in range(2)]
    docs[1].cats = docs[4].cats = {"A": 1.0}
    docs[3].spans["sc"].attrs["scores"] = docs[5].spans["sc"].attrs["scores"] = [1, 2]
    assert list(regroup(docs, repeat(1))) == docs
    assert list(regroup(docs, repeat(5))) == docs


def test_documents_and_vocabularies_stay_apart(vocab):
    docs = [make_sentence(each, 2) for each in (*[vocab] * 5, Vocab())]
    for doc, name in zip(docs, "AABCCC", strict=True):
        name_document(doc, name)
    assert count_sentences(regroup(docs, repeat(5))) == [2, 1, 2, 1]
    # what was drawn for one document is not for the next
    assert count_sentences(regroup(docs, chain([5], repeat(1)))) == [2, 1, 1, 1, 1]
    # a text between sentences is one too
    docs.insert(1, make_text(vocab, [1, 1]))
    assert count_sentences(regroup(docs, repeat(5))) == [1, 2, 1, 1, 2, 1]


@pytest.mark.parametrize(
    "layer",
    [
        *({"ents": ["B-A", "O"]}, {"tags": ["A", "A"]}, {"pos": ["NOUN", "NOUN"]}),
        *({"morphs": ["A=B", "A=B"]}, {"lemmas": ["a", "a"]}),
        {"heads": [0, 0], "deps": ["ROOT", "dep"]},
    ],
    ids=lambda layer: next(iter(layer)),
)
def test_annotation_of_a_layer_is_not_joined_to_none(vocab, layer):
    docs = [
        Doc(vocab, words=["a", "b"], sent_starts=[1, -1], **options)
        for options in (layer, layer, {}, {}, layer)
    ]
    assert list(map(len, regroup(docs, repeat(5)))) == [4, 4, 2]


def test_what_has_no_sentence_boundaries_is_neither_joined_nor_cut(vocab):
    texts = [Doc(vocab, words=words.split()) for words in ("a b", "c", "d", "e . F .")]
    known = [make_sentence(vocab, n) for n in (2, 1, 3)]
    found = list(regroup([*known, *texts, *known], repeat(9)))
    assert list(map(len, found)) == [6, 2, 1, 1, 4, 6]
    assert found[1:5] == texts


@pytest.mark.parametrize("max_length", [0, 1000])
@pytest.mark.parametrize("is_text", [False, True])
def test_no_more_than_500_tokens_are_put_together(tmp_path, vocab, is_text, max_length):
    docs = [make_sentence(vocab, n) for n in (250, 250, 250, 251)]
    docs = [Doc.from_docs(docs)] if is_text else docs
    path = write(tmp_path / "train.spacy", docs)
    reader = create_joined_reader(path=path, lengths=[4], max_length=max_length)
    examples = reader(spacy.blank("xx"))
    assert [len(example.reference) for example in examples] == [500, 250, 251]


@pytest.fixture
def path(tmp_path, vocab):
    docs = [make_sentence(vocab, 3, i) for i in range(50)]
    return write(tmp_path / "train.spacy", docs)


def read_lengths(reader):
    return [len(example.reference) // 3 for example in reader(spacy.blank("xx"))]


def test_each_reading_draws_anew_from_the_seed(path):
    reader = create_joined_reader(path=path)
    first, second = read_lengths(reader), read_lengths(reader)
    assert sum(first) == sum(second) == 50
    assert first != second
    again = create_joined_reader(path=path)
    assert [read_lengths(again), read_lengths(again)] == [first, second]
    assert read_lengths(create_joined_reader(path=path, seed=1)) not in (first, second)


def test_settings_of_spacys_reader(path, vocab, tmp_path):
    assert sum(read_lengths(create_joined_reader(path=path, limit=7))) == 7
    drawn = read_lengths(create_joined_reader(path=path, lengths=[1, 1, 1, 4], seed=3))
    assert drawn.count(1) > 2 * drawn[:-1].count(4) > 0
    for gold_preproc in (True, False):
        options = {"path": path, "lengths": [3], "gold_preproc": gold_preproc}
        short, longer = (create_joined_reader(**options, max_length=n) for n in (9, 10))
        assert read_lengths(short) == [2] * 25
        assert read_lengths(longer) == [3] * 16 + [2]
    assert read_lengths(create_joined_reader(path=path, max_length=3)) == []
    twice = create_joined_reader(
        path=path, lengths=[10], augmenter=lambda nlp, example: [example, example]
    )
    assert read_lengths(twice) == [10] * 10
    doc = Doc(vocab, words=["(don", "x"], spaces=[True, False], sent_starts=[1, -1])
    path = write(tmp_path / "gold.spacy", [doc] * 2)
    for gold_preproc, n in ((True, 4), (False, 6)):
        reader = create_joined_reader(path=path, lengths=[2], gold_preproc=gold_preproc)
        (example,) = reader(spacy.blank("en"))
        assert len(example.predicted) == n


def test_files_are_those_of_a_folder_up_to_the_limit_and_whole(tmp_path, vocab):
    for name in "abc":
        path = write(tmp_path / f"{name}.spacy", [make_sentence(vocab, 3)] * 4)
    reader = create_joined_reader(path=tmp_path, lengths=[9], limit=6)
    assert read_lengths(reader) == [6]
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(ValueError, match=f"'{path}'"):
        read_lengths(create_joined_reader(path=tmp_path))


@pytest.mark.parametrize("lengths", [[], "12", None, [1, 0], [2.5], [True]])
def test_settings_that_cannot_be(path, lengths):
    with pytest.raises((TypeError, ValueError), match="lengths"):
        create_joined_reader(path=path, lengths=lengths)
    with pytest.raises(ValueError, match="E913"):
        create_joined_reader(path=None)
