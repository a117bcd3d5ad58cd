"""The reader that joins sentences and cuts documents, and loses nothing of them."""

from itertools import chain, repeat

import numpy as np
import pytest
import spacy
from spacy.attrs import (
    DEP,
    ENT_IOB,
    ENT_TYPE,
    LEMMA,
    MORPH,
    NORM,
    ORTH,
    POS,
    SENT_START,
    TAG,
)
from spacy.tokens import Doc, DocBin, Span, Token
from spacy.training import Corpus
from spacy.vocab import Vocab

from spacy_hashembeds.training.joined import (
    create_joined_reader,
    name_document,
    regroup,
)

ATTRS = [ORTH, NORM, TAG, POS, MORPH, LEMMA, DEP, ENT_IOB, ENT_TYPE]


@pytest.fixture(autouse=True)
def _extensions():
    owners = (Token, Span, Doc)
    for owner in owners:
        owner.set_extension("note", default=None)
    yield
    for owner in owners:
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
        pos=["NOUN"] * n_words,
        morphs=[f"Number={'Sing' if i % 2 else 'Plur'}" for i in range(n_words)],
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


def describe(docs) -> dict:
    """All that Docs hold, wherever one ends."""
    docs = list(docs)
    placed = [(sum(map(len, docs[:i])), doc) for i, doc in enumerate(docs)]
    return {
        "tokens": [row for doc in docs for row in doc.to_array(ATTRS).tolist()],
        "heads": [t.head.i + start for start, doc in placed for t in doc],
        "sentences": [s.start + start for start, doc in placed for s in doc.sents],
        "spaces": [t.whitespace_ for doc in docs for t in doc if not t.is_sent_end],
        "spans": [
            (key, s.start + start, s.end + start, s.label_, s.kb_id_, s.id_, s._.note)
            for start, doc in placed
            for key, group in doc.spans.items()
            for s in group
        ],
        "notes": [t._.note for doc in docs for t in doc],
        "ents": [
            (e.start + start, e.end + start, e.label_)
            for start, doc in placed
            for e in doc.ents
        ],
    }


def count_sentences(docs) -> list[int]:
    return [len(list(doc.sents)) for doc in docs]


def write(path, docs, **options):
    DocBin(docs=docs, store_user_data=True, **options).to_disk(path)
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
    nlp = spacy.blank("xx", vocab=vocab)
    docs = [
        Doc(vocab, words=["(go", "on"], sent_starts=[True, False]) for _ in range(5)
    ]
    text = Doc.from_docs(docs)
    text.has_unknown_spaces = True
    for doc in [*regroup(docs, repeat(3)), *regroup([text], repeat(3))]:
        assert doc.has_unknown_spaces
        (example,) = Corpus("").make_examples(nlp, [doc])
        assert len(example.predicted) == len(doc)


def test_other_vocabularies_are_not_joined(vocab):
    docs = [make_sentence(each, 2) for each in (vocab, vocab, Vocab())]
    assert count_sentences(regroup(docs, repeat(5))) == [2, 1]


def test_missing_and_blocked_entities_stay_so(vocab):
    def make():
        doc = Doc(vocab, words=list("abcd"), sent_starts=[1, -1, -1, -1])
        doc.set_ents(
            [doc[0:1]], missing=[doc[1:2]], blocked=[doc[2:3]], default="outside"
        )
        return doc

    docs = [make() for _ in range(4)]
    kinds = [t.ent_iob for doc in docs for t in doc]
    for joined in regroup(docs, repeat(4)), regroup([Doc.from_docs(docs)], repeat(2)):
        assert [t.ent_iob for doc in joined for t in doc] == kinds


def test_no_span_is_cut_through(vocab):
    text = make_text(vocab, [2, 2, 2, 2])
    text.spans["sc"] = [text[3:5]]
    assert count_sentences(regroup([text], repeat(1))) == [1, 2, 1]
    text.spans["sc"] = []
    text.set_ents([Span(text, 1, 3, "PER")])
    assert count_sentences(regroup([text], repeat(1))) == [2, 1, 1]


def test_trees_that_cross_sentences_are_not_cut_through(vocab):
    heads, deps = [0, 0, 0, 3, 3, 5], ["ROOT", "a", "a", "ROOT", "a", "ROOT"]
    doc = Doc(vocab, words=list("abcdef"), heads=heads, deps=deps)
    # a boundary that contradicts the tree of the first three
    doc.from_array([SENT_START], np.array([1, -1, 1, 1, -1, 1]).astype("uint64"))
    assert list(map(len, regroup([doc], repeat(1)))) == [3, 2, 1]


def test_a_span_with_an_attribute_is_not_cut_through(vocab):
    text = make_text(vocab, [2, 2, 2, 2])
    text.spans.clear()
    text[3:5]._.note = "across"
    found = list(regroup([text], repeat(1)))
    assert count_sentences(found) == [1, 2, 1]
    assert found[1][1:3]._.note == "across"
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
    text._.note, text.user_data["source"] = ["C"], "C"
    one, other = regroup([text], repeat(1))
    assert one._.note == other._.note == ["C"]
    one._.note.append("changed")
    assert other._.note == text._.note == ["C"]
    assert one.user_data["source"] == other.user_data["source"] == "C"
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


def test_empty_docs_are_passed_over(vocab):
    docs = [Doc(vocab), make_sentence(vocab, 2), Doc(vocab), make_sentence(vocab, 1)]
    assert list(map(len, regroup(docs, repeat(2)))) == [3]


def test_what_has_cats_or_attrs_of_spans_is_neither_joined_nor_cut(vocab):
    docs = [make_sentence(vocab, 2) for _ in range(4)]
    docs += [make_text(vocab, [2, 2]) for _ in range(2)]
    docs[1].cats = docs[4].cats = {"A": 1.0}
    docs[3].spans["sc"].attrs["scores"] = docs[5].spans["sc"].attrs["scores"] = [1, 2]
    assert list(regroup(docs, repeat(1))) == docs
    assert list(regroup(docs, repeat(5))) == docs


def test_documents_stay_apart(vocab):
    docs = [make_sentence(vocab, 2) for _ in range(5)]
    for doc, name in zip(docs, "AABCC", strict=True):
        name_document(doc, name)
    assert count_sentences(regroup(docs, repeat(5))) == [2, 1, 2]
    # what was drawn for one document is not for the next
    assert count_sentences(regroup(docs, chain([5], repeat(1)))) == [2, 1, 1, 1]
    # a text between sentences is one too
    docs.insert(1, make_text(vocab, [1, 1]))
    assert count_sentences(regroup(docs, repeat(5))) == [1, 2, 1, 1, 2]


@pytest.mark.parametrize(
    "layer",
    [
        {"ents": ["B-A", "O"]},
        {"tags": ["A", "A"]},
        {"pos": ["NOUN", "NOUN"]},
        {"morphs": ["A=B", "A=B"]},
        {"lemmas": ["a", "a"]},
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
    assert list(regroup(texts, repeat(9))) == texts
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


def test_the_reader_is_spacys_with_one_sentence_each(tmp_path, vocab):
    docs = [make_sentence(vocab, n, i) for i, n in enumerate([3, 1, 4])]
    path = write(tmp_path / "train.spacy", docs)
    nlp = spacy.blank("xx")
    ours = create_joined_reader(path=path, lengths=[1])(nlp)
    theirs = Corpus(path)(nlp)
    for one, other in zip(ours, theirs, strict=True):
        assert one.to_dict() == other.to_dict()


@pytest.fixture
def path(tmp_path, vocab):
    docs = [make_sentence(vocab, 3, i) for i in range(50)]
    return write(tmp_path / "train.spacy", docs)


def read_lengths(reader, nlp=None):
    return [len(example.reference) // 3 for example in reader(nlp or spacy.blank("xx"))]


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


@pytest.mark.parametrize("lengths", [[], "12", 5, None, [1, 0], [2.5], [True]])
def test_lengths_that_cannot_be(path, lengths):
    with pytest.raises((TypeError, ValueError), match="lengths"):
        create_joined_reader(path=path, lengths=lengths)


def test_a_path_that_is_not_there(tmp_path):
    with pytest.raises(ValueError, match=r"\[E913\] Corpus path can't be None"):
        create_joined_reader(path=None)
    # which is made before there are files, as by `spacy debug config`
    reader = create_joined_reader(path=tmp_path / "gone.spacy")
    with pytest.raises(FileNotFoundError, match="gone"):
        list(reader(spacy.blank("xx")))


def test_empty_spans_stay(vocab):
    docs = [make_text(vocab, [2, 2]), make_sentence(vocab, 2), make_sentence(vocab, 3)]
    for doc in docs:
        doc.spans["empty"] = [Span(doc, i, i, "E") for i in (0, len(doc))]
    for n in (1, 2):
        found = [*regroup(docs, repeat(n))]
        counts = [len(doc.spans["empty"]) for doc in found]
        assert sum(counts) == 6
        assert found[-1].spans["empty"][-1].start == len(found[-1])
