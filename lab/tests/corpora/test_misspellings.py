import pytest
import spacy
from spacy.tokens import Doc, Span

from lab.corpora.misspellings import misspell
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


# One edit in each entity.


def test_the_edits_of_a_seed_stay_what_they_are(docs):
    assert find_entities(misspell(docs, seed=0)) == FROZEN_0
    assert find_entities(misspell(iter(docs), seed=1)) == FROZEN_1


# What an edit depends on.


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


# Files.
