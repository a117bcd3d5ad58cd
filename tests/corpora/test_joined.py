"""The reader that joins sentences and cuts documents, and loses nothing of them."""

import random
from itertools import repeat

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
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Corpus
from spacy.util import registry
from spacy.vocab import Vocab

from spacy_hashembeds.corpora.joined import (
    ENOUGH_TOKENS,
    LENGTHS,
    JoinedCorpus,
    create_joined_reader,
    get_document,
    name_document,
    regroup,
)

ATTRS = [ORTH, NORM, TAG, POS, MORPH, LEMMA, DEP, ENT_IOB, ENT_TYPE]


def make_sentence(vocab: Vocab, n_words: int, number: int = 0) -> Doc:
    """A sentence of which each layer is annotated, with an entity and two spans."""
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
            (key, s.start + start, s.end + start, s.label_, s.kb_id_, s.id_)
            for start, doc in placed
            for key, group in doc.spans.items()
            for s in group
        ],
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


def test_a_space_stands_between_sentences_that_are_joined(vocab):
    docs = [make_sentence(vocab, n) for n in (4, 2)]
    (joined,) = regroup(docs, repeat(2))
    assert joined.text == f"{docs[0].text} {docs[1].text}"


@pytest.mark.parametrize("seed", range(5))
def test_any_docs_by_any_draw(vocab, seed):
    rng = random.Random(seed)
    docs = [
        make_text(vocab, [rng.randint(1, 5) for _ in range(rng.choice([1, 1, 1, 6]))])
        for _ in range(12)
    ]
    draws = (rng.choice(LENGTHS) for _ in repeat(None))
    assert describe(regroup(docs, draws)) == describe(docs)


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


def test_what_is_of_a_whole_doc_is_left_out_without_a_warning(vocab, recwarn):
    docs = [make_sentence(vocab, 2), make_sentence(vocab, 2)]
    for i, doc in enumerate(docs):
        doc.user_data["id"] = i
        doc.spans["sc"].attrs["scores"] = [0.1, 0.2]
    (joined,) = regroup(docs, repeat(2))
    assert joined.user_data == {}
    assert joined.spans["sc"].attrs == {}
    assert not recwarn.list


def test_names_of_documents_are_text_alone(vocab):
    doc = make_sentence(vocab, 1)
    for value in (np.arange(3), float("nan"), 1, True):
        name_document(doc, value)
        assert get_document(doc) is None


def test_empty_docs_are_passed_over(vocab):
    docs = [Doc(vocab), make_sentence(vocab, 2), Doc(vocab), make_sentence(vocab, 1)]
    assert list(map(len, regroup(docs, repeat(2)))) == [3]


def test_what_has_cats_is_neither_joined_nor_cut(vocab):
    docs = [make_sentence(vocab, 2) for _ in range(3)] + [make_text(vocab, [2, 2])]
    docs[1].cats = docs[3].cats = {"A": 1.0}
    found = list(regroup(docs, repeat(5)))
    assert found == docs


def test_documents_stay_apart(vocab):
    docs = [make_sentence(vocab, 2) for _ in range(5)]
    for doc, name in zip(docs, "AABCC", strict=True):
        name_document(doc, name)
    assert count_sentences(regroup(docs, repeat(5))) == [2, 1, 2]
    # a text between sentences is one too
    docs.insert(1, make_text(vocab, [1, 1]))
    assert count_sentences(regroup(docs, repeat(5))) == [1, 2, 1, 1, 2]


def test_annotation_is_not_joined_to_none(vocab):
    bare = [Doc(vocab, words=["a", "b"], spaces=[True, False]) for _ in range(2)]
    docs = [make_sentence(vocab, 2), *bare, make_sentence(vocab, 2)]
    found = list(regroup(docs, repeat(5)))
    assert list(map(len, found)) == [2, 4, 2]
    assert not found[1].has_annotation("DEP")


def test_sentence_boundaries_that_are_missing_stay_so(vocab):
    nlp = spacy.blank("xx", vocab=vocab)
    bare = [Doc(vocab, words=list("abc")) for _ in range(2)]
    single = Doc(vocab, words=["a"])
    known = Doc(vocab, words=list("abc"), sent_starts=[1, -1, -1])
    found = list(regroup([*bare, single, known, single, known, bare[0]], repeat(9)))
    assert list(map(len, found)) == [7, 7, 3]
    starts = [
        example.get_aligned_sent_starts()
        for example in Corpus("").make_examples(nlp, found)
    ]
    assert starts[0] == [None] * 7
    assert starts[1] == [True, False, False, True, True, False, False]
    assert starts[2] == [None] * 3


def test_sentences_without_boundaries_count_as_one_and_become_no_long_texts(vocab):
    docs = [Doc(vocab, words=["a"] * 40) for _ in range(40)]
    found = list(map(len, regroup(docs, repeat(40))))
    assert found == [480, 480, 480, 160]
    assert max(found) <= ENOUGH_TOKENS
    assert list(map(len, regroup([make_text(vocab, [40] * 20)], repeat(40)))) == [
        480,
        320,
    ]


def test_a_text_that_is_not_cut_stays_the_doc_it_is(vocab):
    doc = make_text(vocab, [2, 2])
    (found,) = regroup([doc], repeat(2))
    assert found is doc


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


def test_lengths_are_drawn_as_often_as_they_stand_there(path):
    reader = create_joined_reader(path=path, lengths=[1, 1, 1, 4], seed=3)
    found = [n for _ in range(40) for n in read_lengths(reader)[:-1]]
    assert set(found) == {1, 4}
    assert 0.68 < found.count(1) / len(found) < 0.82


def test_settings_of_spacys_reader(path, vocab, tmp_path):
    assert sum(read_lengths(create_joined_reader(path=path, limit=7))) == 7
    short = create_joined_reader(path=path, lengths=[10], max_length=10)
    assert set(read_lengths(short)) == {3, 2}
    assert read_lengths(create_joined_reader(path=path, max_length=3)) == []
    twice = create_joined_reader(
        path=path, lengths=[10], augmenter=lambda nlp, example: [example, example]
    )
    assert read_lengths(twice) == [10] * 10
    doc = Doc(vocab, words=["(don", "x"], spaces=[True, False])
    path = write(tmp_path / "gold.spacy", [doc] * 2)
    for gold_preproc, n in ((True, 4), (False, 6)):
        reader = create_joined_reader(path=path, lengths=[2], gold_preproc=gold_preproc)
        (example,) = reader(spacy.blank("en"))
        assert len(example.predicted) == n


def test_it_is_made_from_a_config(path):
    block = {"@readers": "spacy-hashembeds.JoinedCorpus.v1", "path": path, "seed": 5}
    reader = registry.resolve({"corpus": block})["corpus"]
    assert isinstance(reader, JoinedCorpus)
    assert (reader.lengths, reader.seed) == (LENGTHS, 5)


@pytest.mark.parametrize("lengths", [[], "12", 5, None, [1, 0], [2.5], [True]])
def test_lengths_that_cannot_be(path, lengths):
    with pytest.raises(ValueError, match="'lengths"):
        create_joined_reader(path=path, lengths=lengths)


@pytest.mark.parametrize("setting", ["max_length", "limit", "seed"])
def test_other_settings_that_cannot_be(path, setting):
    with pytest.raises(ValueError, match=f"'{setting}' should be 0 or more"):
        create_joined_reader(path=path, **{setting: -1})


def test_a_path_that_is_not_there(tmp_path):
    with pytest.raises(ValueError, match=r"\[E913\] Corpus path can't be None"):
        create_joined_reader(path=None)
    # which is made before there are files, as by `spacy debug config`
    reader = create_joined_reader(path=tmp_path / "gone.spacy")
    with pytest.raises(FileNotFoundError, match="gone"):
        list(reader(spacy.blank("xx")))
