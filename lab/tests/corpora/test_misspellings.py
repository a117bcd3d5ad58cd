import re

import pytest
import spacy
from spacy.tokens import Doc, Span
from spacy.training import Corpus
from spacy.vocab import Vocab

from lab.corpora.misspellings import misspell, write_misspelt
from tests import toy_ner

#: One entity each, and none on the last line.
TEXTS = (
    *("Anna|PER lives in Lisbon", "we met Carl+Brown|PER today"),
    *("in NEW+YORK|LOC", "X|PER left", "7|MISC", "Bank+of+America|ORG pays"),
    *("Anna|PER lives in Lisbon", "nobody lives there today"),
)


FROZEN_0 = ["Anan", "Carl Brlwn", "ENEW YORK", "TX", "7y", "Bank of Anerica", "Anan"]
FROZEN_1 = ["Ana", "Carl Broin", "BEW YORK", "IX", "i7", "Bank of Amrica", "nna"]


@pytest.fixture(scope="module")
def docs() -> list[Doc]:
    vocab = spacy.blank("en").vocab
    return [toy_ner.make_doc(text, vocab=vocab) for text in TEXTS]


def find_entities(docs: list[Doc]) -> list[str]:
    return [ent.text for doc in docs for ent in doc.ents]


def find_pairs(docs: list[Doc], seed: int = 0) -> list[tuple[str, str]]:
    """The words that were changed, as they were and as they are."""
    return [
        (old.text, new.text)
        for doc, copy in zip(docs, misspell(docs, seed=seed), strict=True)
        for old, new in zip(doc, copy, strict=True)
        if old.text != new.text
    ]


# One edit in each entity.


def test_the_edits_of_a_seed_stay_what_they_are(docs):
    assert find_entities(misspell(docs, seed=0)) == FROZEN_0
    assert find_entities(misspell(iter(docs), seed=1)) == FROZEN_1


def test_single_characters_are_never_deleted():
    docs = [toy_ner.make_doc("a|X bcd")] * 200
    pairs = find_pairs(docs)
    assert len(pairs) == 200
    # one that is substituted, or two where one was put in
    assert {len(new.strip()) for _, new in pairs} == {1, 2}


def test_letters_take_the_case_of_their_place():
    docs = [toy_ner.make_doc("XYZ|X abc")] * 50
    assert all(new.isupper() for _, new in find_pairs(docs))
    # ß is one letter, whose upper case has two
    docs = [toy_ner.make_doc("X|X ß")] * 50
    assert {re.sub("X", "", new) for _, new in find_pairs(docs)} == {"ß", ""}


def test_words_of_one_letter_are_misspelt_with_it_alone():
    pairs = find_pairs([toy_ner.make_doc("aa|X")] * 50)
    assert set(pairs) == {("aa", "a"), ("aa", "aaa")}


def test_white_space_is_not_touched():
    words = ["in", "New York", " ", "City", "\n"]
    tags = ["O", "B-LOC", "I-LOC", "I-LOC", "O"]
    docs = [Doc(Vocab(), words=words, ents=tags)] * 30
    pairs = find_pairs(docs)
    assert {old for old, _ in pairs} == {"City"}
    untouched = Doc(Vocab(), words=["New York"], ents=["B-LOC"])
    assert find_entities(misspell([untouched])) == ["New York"]


# What an edit depends on.


def test_an_edit_depends_on_the_place_alone(docs):
    first = find_entities(misspell(docs))
    # an entity more in a document before, of the same letters
    words, tags = ["Anna", "lives", "in", "Lisbon"], ["B-PER", "O", "O", "B-LOC"]
    others = [Doc(docs[0].vocab, words=words, ents=tags), *docs[1:]]
    second = find_entities(misspell(others))
    assert second[0] == first[0]
    assert second[2:] == first[1:]
    assert len({*find_entities(misspell(docs[:1] * 20))}) > 5  # the same elsewhere
    assert find_entities(misspell(docs, seed=1)) != first


# What stays.


def test_all_else_that_is_annotated_stays():
    nlp = spacy.blank("en")
    doc = Doc(
        nlp.vocab,
        words=["Dr", "Anna", "can", "n't", "sing"],
        spaces=[True, True, False, True, False],
        ents=["O", "B-PER", "O", "O", "O"],
        tags=["NN", "NNP", "MD", "RB", "VB"],
        pos=["NOUN", "PROPN", "AUX", "PART", "VERB"],
        lemmas=["Dr", "Anna", "can", "not", "sing"],
        heads=[1, 4, 4, 4, 4],
        deps=["compound", "nsubj", "aux", "neg", "ROOT"],
        morphs=["Number=Sing", "Number=Sing", "", "", ""],
    )
    doc[3].norm_ = "not"
    doc[1].norm_ = "somebody"
    doc.set_ents([Span(doc, 1, 2, "PER", kb_id="Q1", span_id="anna")])
    doc.cats = {"music": 1.0}
    doc.spans["all"] = [Span(doc, 0, 5, "X", kb_id="Q2", span_id="s"), doc[1:2]]
    doc.spans["all"].attrs["source"] = "me"
    doc.user_data["note"] = "dropped"
    before = doc.to_bytes()
    (copy,) = misspell([doc])
    assert doc.to_bytes() == before
    assert copy[1].text != "Anna"
    attrs = ["TAG", "POS", "LEMMA", "HEAD", "DEP", "MORPH", "SPACY", "SENT_START"]
    attrs += ["ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID"]
    assert copy.to_array(attrs).tolist() == doc.to_array(attrs).tolist()
    assert [token.norm_ for token in copy] == [
        *("dr", copy[1].text.lower(), "can", "not", "sing")
    ]
    assert copy.cats == doc.cats
    assert copy.cats is not doc.cats
    whole, part = copy.spans["all"]
    assert (whole.start, whole.end, whole.label_) == (0, 5, "X")
    assert (whole.kb_id_, whole.id_) == ("Q2", "s")
    assert whole.text == copy.text  # its characters are those of the copy
    assert (part.start_char, part.end_char) == (3, 3 + len(copy[1]))
    assert copy.spans["all"].attrs == {"source": "me"}
    assert copy.user_data == {}


def test_unknown_spaces_and_missing_annotation_stay():
    unknown = toy_ner.make_doc("Anna|PER sings", spaces=False)
    partly = toy_ner.make_doc("Anna lives in Oslo|LOC")
    partly.set_ents([], missing=[partly[0:1]], default="unmodified")
    plain = Doc(Vocab(), words=["Anna", "lives"])
    copies = misspell([unknown, partly, plain])
    assert [doc.has_unknown_spaces for doc in copies] == [True, False, True]
    assert [token.ent_iob for token in copies[1]] == [0, 2, 2, 3]
    assert not copies[2].has_annotation("ENT_IOB")
    assert misspell([]) == []
    assert [len(doc) for doc in misspell([Doc(Vocab()), plain])] == [0, 2]


def test_a_corpus_without_letters_is_refused():
    with pytest.raises(ValueError, match="'docs' should hold letters"):
        misspell([toy_ner.make_doc("7|X 8")])


@pytest.mark.parametrize("seed", ["0", True, -1, 2**64])
def test_a_seed_is_an_integer(docs, seed):
    with pytest.raises(ValueError, match=r"'seed' should be 0 to \d+, but is"):
        misspell(docs, seed=seed)


# Files.


def test_a_file_holds_the_misspelt_corpus(docs, tmp_path):
    corpus = toy_ner.write(tmp_path / "test.spacy", docs)
    before = corpus.read_bytes()
    output = tmp_path / "new" / "misspelt.spacy"
    counts = write_misspelt(corpus, output, seed=1)
    assert (counts.documents, counts.entities, counts.misspelt) == (8, 7, 7)
    assert find_entities(toy_ner.read(output)) == FROZEN_1
    assert corpus.read_bytes() == before
    # any pipeline reads them: with norms of its own for the new words
    nlp = spacy.blank("en")
    for example, doc in zip(Corpus(output)(nlp), docs, strict=True):
        assert len(example.reference.ents) == len(doc.ents)
        norms = [token.norm_ for token in example.reference]
        assert norms == [token.lower_ for token in example.reference]


def test_what_has_no_token_to_edit_is_counted(tmp_path):
    docs = [Doc(Vocab(), words=["New York", "a"], ents=["B-LOC", "B-X"])]
    corpus = toy_ner.write(tmp_path / "test.spacy", docs)
    counts = write_misspelt(corpus, tmp_path / "misspelt.spacy")
    assert (counts.entities, counts.misspelt) == (2, 1)


def test_a_corpus_without_entities_is_refused_and_nothing_written(tmp_path):
    corpus = toy_ner.write(tmp_path / "test.spacy", [toy_ner.make_doc("a b")])
    output = tmp_path / "misspelt.spacy"
    message = r"test\.spacy' should have entities to misspell, but its 1 documents"
    with pytest.raises(ValueError, match=message):
        write_misspelt(corpus, output)
    assert not output.exists()


def test_a_token_of_a_million_characters_is_misspelt():
    """All edits of it together would fill any memory."""
    doc = Doc(Vocab(), words=["x" * 1_000_000, "abc"], ents=["B-PER", "O"])
    (copy,) = misspell([doc])
    assert copy[0].text != doc[0].text
    assert copy[1].text == "abc"
