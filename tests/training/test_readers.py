"""The reader that joins sentences and splits Docs, keeping all annotation."""

from itertools import accumulate, chain, repeat

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.attrs import SENT_START
from spacy.tokens import Doc, DocBin, Span, Token
from spacy.tokens._serialize import ALL_ATTRS
from spacy.vocab import Vocab

from spacy_hashembeds.training.joined import regroup, set_document
from spacy_hashembeds.training.readers import JoinedCorpus

VOCAB = spacy.blank("xx").vocab  # with IS_SPACE


@pytest.fixture(autouse=True, scope="module")
def _extensions():
    for owner in (Token, Span, Doc):
        owner.set_extension("note", default=None)
    yield
    for owner in (Token, Span, Doc):
        owner.remove_extension("note")


def make_sentence(n_words: int, number: int = 0) -> Doc:
    """Create a sentence with all annotation: an entity, missing and blocked tokens, two
    spans, and extension attributes of tokens, the entity and one span.
    """
    words = [f"w{number}.{i}" for i in range(n_words)]
    words[-1] = "\n" if number == 2 else words[-1]
    doc = Doc(
        VOCAB,
        words=words,
        spaces=[i % 3 > 0 for i in range(n_words)],
        tags=[f"T{i % 3}" for i in range(n_words)],
        lemmas=[word.upper() for word in words],
        heads=[max(0, i - 1) for i in range(n_words)],
        deps=["ROOT", *["dep"] * (n_words - 1)],
    )
    kinds = {"missing": [doc[1:2]], "blocked": [doc[2:3]]} if n_words > 2 else {}
    doc.set_ents([Span(doc, 0, 1, "PER")], **kinds)
    doc.spans["sc"] = [Span(doc, 0, 1, "A", kb_id="Q1", span_id="s"), doc[0:n_words]]
    for token in doc:
        token._.note = f"{token.text}!"
    doc.spans["sc"][1]._.note = [number]
    return doc


def make_text(lengths: list[int], ensure_whitespace: bool = True) -> Doc:
    """Create a Doc of sentences annotated as in `make_sentence`."""
    sentences = [make_sentence(n, i) for i, n in enumerate(lengths)]
    return Doc.from_docs(sentences, ensure_whitespace=ensure_whitespace)


def describe(docs, *, ensure_whitespace: bool) -> list:
    """Return all content of Docs, independent of Doc boundaries."""
    doc = Doc.from_docs([*filter(len, docs)], ensure_whitespace=ensure_whitespace)
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


@st.composite
def texts(draw) -> tuple[Doc, list[int]]:
    """Return a Doc with a span, entity, note or arc across sentence boundaries, and the
    ends of sentences that nothing crosses.
    """
    lengths = draw(st.lists(st.integers(1, 4), min_size=2, max_size=4))
    doc, ends = make_text(lengths, draw(st.booleans())), [*accumulate(lengths)]
    kind = draw(st.sampled_from(["none", "span", "entity", "note", "arc"]))
    start = draw(st.integers(0, len(doc) - 2))
    end = draw(st.integers(start + 2, len(doc)))
    if kind == "span":
        doc.spans["more"] = [Span(doc, start, end, "M")]
    elif kind == "entity":
        doc.set_ents([Span(doc, start, end, "M")])
    elif kind == "note":
        doc[start:end]._.note = "across"
    elif kind == "arc" and any(start < e < end for e in ends):  # else cyclic
        starts = doc.to_array([SENT_START])
        child, head = draw(st.permutations([start, end - 1]))
        doc[child].head = doc[head]
        doc.from_array([SENT_START], starts)  # may conflict with the tree
    return doc, [e for e in ends if kind == "none" or not start < e < end]


@given(st.lists(texts(), min_size=1, max_size=3), st.integers(1, 3), st.booleans())
def test_docs_are_split_without_crossing_annotation(drawn, n, is_unknown):
    docs, lengths = [doc for doc, _ in drawn], []
    for doc, ends in drawn:
        doc.has_unknown_spaces = is_unknown
        cuts = [*ends[n - 1 : -1 : n], len(doc)]
        lengths += np.diff(cuts, prepend=0).tolist()
    expected = describe(docs, ensure_whitespace=False)
    found = list(regroup([Doc(VOCAB), *docs], repeat(n)))
    assert describe(found, ensure_whitespace=False) == expected
    assert list(map(len, found)) == lengths
    assert all(doc.has_unknown_spaces == is_unknown for doc in found)


@given(st.lists(st.integers(1, 4), min_size=1), st.integers(1, 4), st.booleans())
def test_joined_sentences_keep_all_annotation(lengths, n, is_unknown):
    docs = [make_sentence(length, i) for i, length in enumerate(lengths)]
    for doc in docs:
        doc.has_unknown_spaces = is_unknown
    expected = describe(docs, ensure_whitespace=True)
    found = list(regroup(docs, repeat(n)))
    assert describe(found, ensure_whitespace=True) == expected
    starts = range(0, len(lengths), n)
    assert count_sentences(found) == [len(lengths[i : i + n]) for i in starts]
    assert all(doc.has_unknown_spaces == is_unknown for doc in found)


def test_doc_level_user_data_is_kept_and_must_be_equal(recwarn):
    docs = [make_sentence(2, i) for i in range(7)]
    for doc, source in zip(docs, "AAAABBB", strict=True):
        doc._.note = [source]
        doc.user_data["source"] = source
    docs[3].user_data["more"] = 1
    docs[5].user_data["more"] = np.array([1, 2])  # comparison raises an error
    docs[6].user_data["more"] = np.array([1, 2])
    found = list(regroup(docs, repeat(5)))
    assert count_sentences(found) == [3, 1, 1, 1, 1]
    assert [doc._.note for doc in found] == [["A"], ["A"], ["B"], ["B"], ["B"]]
    assert [doc.user_data["source"] for doc in found] == [*"AABBB"]
    text = make_text([2, 2])
    text._.note = ["C"]
    one, other = regroup([text], repeat(1))
    one._.note.append("changed")
    assert other._.note == text._.note == ["C"]
    assert not recwarn.list


def test_attributes_outside_of_the_doc_are_dropped():
    # `as_doc` copies attributes from outside of the sentence
    text = make_text([2, 2])
    pieces = [sent.as_doc(copy_user_data=True) for sent in text.sents]
    others = [make_sentence(2, i) for i in (5, 6)]
    docs = [others[0], *pieces[::-1], others[1]]
    (joined,) = regroup(docs, repeat(4))
    joined.spans["sc"][1]._.note.append("changed")  # a copy, as in spaCy
    assert others[0].spans["sc"][1]._.note == [5]
    assert [t._.note for t in joined] == [f"{t.text}!" for t in joined]
    assert len(joined.user_data) == sum(len(doc) + 1 for doc in docs)
    bare = Doc(VOCAB, words=list("abc"), sent_starts=[1, 1, 1])
    places = ((-2, None), (1, 9), (len(bare.text.rstrip()), None))
    bare.user_data |= {("._.", "note", *place): 1 for place in places}
    assert [dict(doc.user_data) for doc in regroup([bare], repeat(1))] == [{}] * 3


def test_empty_spans_are_kept():
    docs = [make_text([2, 2]), make_sentence(2), make_sentence(3)]
    for doc in docs:
        doc.spans["empty"] = [Span(doc, i, i, "E") for i in (0, len(doc))]
    for n in (1, 2):
        found = [*regroup(docs, repeat(n))]
        assert sum(len(doc.spans["empty"]) for doc in found) == 6
        assert found[-1].spans["empty"][-1].start == len(found[-1])


def test_docs_with_cats_or_span_attrs_are_kept_as_is():
    docs = [make_sentence(2) for _ in range(4)]
    docs += [make_text([2, 2]) for _ in range(2)]
    docs[1].cats = docs[4].cats = {"A": 1.0}
    docs[3].spans["sc"].attrs["scores"] = docs[5].spans["sc"].attrs["scores"] = [1, 2]
    assert list(regroup(docs, repeat(1))) == docs
    assert list(regroup(docs, repeat(5))) == docs


def test_documents_and_vocabs_are_not_joined():
    docs = [make_sentence(2) for _ in range(5)]
    docs.append(Doc(Vocab()).from_bytes(docs[0].to_bytes()))
    for doc, name in zip(docs, "AABCCC", strict=True):
        set_document(doc, name)
    assert count_sentences(regroup(docs, repeat(5))) == [2, 1, 2, 1]
    # a new number is drawn for each document
    assert count_sentences(regroup(docs, chain([5], repeat(1)))) == [2, 1, 1, 1, 1]
    # a Doc of several sentences is a boundary
    docs.insert(1, make_text([1, 1]))
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
def test_annotated_docs_are_not_joined_to_others(layer):
    docs = [
        Doc(VOCAB, words=["a", "b"], sent_starts=[1, -1], **options)
        for options in (layer, layer, {}, {}, layer)
    ]
    assert list(map(len, regroup(docs, repeat(5)))) == [4, 4, 2]


def test_docs_without_sentence_boundaries_are_kept_as_is():
    texts = [Doc(VOCAB, words=words.split()) for words in ("a b", "c", "d", "e . F .")]
    known = [make_sentence(n) for n in (2, 1, 3)]
    found = list(regroup([*known, *texts, *known], repeat(9)))
    assert list(map(len, found)) == [6, 2, 1, 1, 4, 6]
    assert found[1:5] == texts


def read(**settings) -> list[int]:
    """Return the number of tokens of each example."""
    reader = JoinedCorpus(**settings)
    return [len(example.reference) for example in reader(spacy.blank("xx"))]


@pytest.mark.parametrize("max_length", [0, 1000])
@pytest.mark.parametrize("is_text", [False, True])
def test_joined_docs_have_at_most_500_tokens(tmp_path, is_text, max_length):
    docs = [make_sentence(n) for n in (250, 250, 250, 251)]
    docs = [Doc.from_docs(docs)] if is_text else docs
    path = write(tmp_path / "train.spacy", docs)
    assert read(path=path, lengths=[4], max_length=max_length) == [500, 250, 251]


@pytest.fixture
def path(tmp_path):
    """A file of 50 sentences of one token."""
    return write(tmp_path / "train.spacy", [make_sentence(1, i) for i in range(50)])


def test_draws_depend_on_pass_and_seed(path):
    def read_epochs(seed: int) -> list[list[int]]:
        reader = JoinedCorpus(path, seed=seed)
        nlp = spacy.blank("xx")
        return [[len(eg.reference) for eg in reader(nlp)] for _ in range(2)]

    first, second = read_epochs(0)
    assert sum(first) == sum(second) == 50
    assert first != second
    assert read_epochs(0) == [first, second]
    assert read_epochs(1)[0] not in (first, second)


def test_settings_of_spacys_reader(path, tmp_path):
    assert sum(read(path=path, limit=7)) == 7
    drawn = read(path=path, lengths=[1, 1, 1, 4], seed=3)
    assert drawn.count(1) > 2 * drawn[:-1].count(4) > 0
    for settings in ({"gold_preproc": True}, {"gold_preproc": False}):
        assert read(path=path, lengths=[3], max_length=3, **settings) == [2] * 25
        assert read(path=path, lengths=[3], max_length=4, **settings) == [3] * 16 + [2]
    assert read(path=path, max_length=1) == []
    twice = {"augmenter": lambda nlp, example: [example, example]}
    assert read(path=path, lengths=[10], **twice) == [10] * 10
    doc = Doc(VOCAB, words=["(don", "x"], spaces=[True, False], sent_starts=[1, -1])
    path = write(tmp_path / "gold.spacy", [doc] * 2)
    for gold_preproc, n in ((True, 4), (False, 6)):
        reader = JoinedCorpus(path, lengths=[2], gold_preproc=gold_preproc)
        (example,) = reader(spacy.blank("en"))
        assert len(example.predicted) == n


def test_folders_limit_and_damaged_files(tmp_path):
    for name in "abc":
        docs = [Doc(VOCAB), *[make_sentence(3)] * 4]
        path = write(tmp_path / f"{name}.spacy", docs)
    assert read(path=tmp_path, lengths=[9], limit=6) == [18]
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(ValueError, match=f"'{path}'"):
        read(path=tmp_path)


@pytest.mark.parametrize("lengths", [[], "12", None, [1, 0], [2.5], [True]])
def test_invalid_settings_are_refused(path, lengths):
    with pytest.raises((TypeError, ValueError), match="lengths"):
        JoinedCorpus(path, lengths=lengths)
    with pytest.raises(ValueError, match="E913"):
        JoinedCorpus(None)
