import pytest
import spacy
from spacy.tokens import Doc, Span
from spacy.tokens._serialize import ALL_ATTRS

from lab.corpora.misspellings import misspell
from lab.tests.calling import squeeze, succeed
from tests import toy_ner

#: Texts with one entity, and a last one without.
TEXTS = (
    *("Anna|PER lives in Lisbon", "we met Carl+Brown|PER today"),
    *("in NEW+YORK|LOC", "X|PER left", "7|MISC", "Bank+of+America|ORG pays"),
    *("Anna|PER lives in Lisbon", "nobody lives there today"),
)


FROZEN = {
    0: ["Anan", "Carl Brlwn", "ENEW YORK", "TX", "7y", "Bank of Anerica", "Anan"],
    1: ["Ana", "Carl Broin", "BEW YORK", "IX", "i7", "Bank of Amrica", "nna"],
}


@pytest.mark.parametrize("seed", FROZEN)
def test_edits_are_reproducible(seed, tmp_path):
    vocab = spacy.blank("en").vocab
    docs = [toy_ner.make_doc(text, vocab=vocab) for text in TEXTS]
    copies = misspell(iter(docs), seed=seed)
    assert [ent.text for doc in copies for ent in doc.ents] == FROZEN[seed]
    test = toy_ner.write(tmp_path / "test.spacy", docs)
    output = tmp_path / "misspelt.spacy"
    printed = squeeze(succeed("misspell", test, "-o", output, "--seed", seed).output)
    assert f"Misspelt 7 of 7 entities in 8 documents, seed {seed}" in printed
    assert [doc.text for doc in toy_ner.read(output)] == [doc.text for doc in copies]


def test_other_annotation_is_kept():
    nlp = spacy.blank("en")
    doc = Doc(
        nlp.vocab,
        words=["Dr", "Anna", "can", "n't", "sing"],
        spaces=[True, True, False, True, False],
        tags=["NN", "NNP", "MD", "RB", "VB"],
        lemmas=["Dr", "Anna", "can", "not", "sing"],
        heads=[1, 4, 4, 4, 4],
        deps=["compound", "nsubj", "aux", "neg", "ROOT"],
        morphs=["Number=Sing", "Number=Sing", "", "", ""],
    )
    doc[3].norm_, doc[1].norm_ = "not", "somebody"
    doc.set_ents([Span(doc, 1, 2, "PER", kb_id="Q1", span_id="anna")])
    doc.cats = {"music": 1.0}
    before = doc.to_bytes()
    (copy,) = misspell([doc])
    assert doc.to_bytes() == before
    assert copy[1].text != "Anna"
    attrs = [name for name in ALL_ATTRS if name not in ("ORTH", "NORM")]
    assert copy.to_array(attrs).tolist() == doc.to_array(attrs).tolist()
    norms = ["dr", copy[1].text.lower(), "can", "not", "sing"]
    assert [token.norm_ for token in copy] == norms
    assert copy.cats == doc.cats
