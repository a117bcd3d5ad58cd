from pathlib import Path

import pytest
from spacy.vocab import Vocab

from spacy_hashembeds.tools.prepare.columns import ColumnFormat
from spacy_hashembeds.tools.prepare.readers import read_annotated

from ... import toy_ner

TEXT = "Anna\tNP\tS-PER\nin\tP\tO\n\nNew\tNP\tB-LOC\nYork\tNP\tE-LOC\n"
EXPECTED = [[("Anna", "PER")], [("New York", "LOC")]]


def read(path: Path, **layout):
    docs = read_annotated(path, Vocab(), layout=ColumnFormat(**layout))
    return [[(ent.text, ent.label_) for ent in doc.ents] for doc in docs]


def test_files_of_docs_and_of_tokens_by_the_callers_layout(tmp_path):
    (tmp_path / "gold.txt").write_text(TEXT)
    assert read(tmp_path / "gold.txt") == EXPECTED
    (tmp_path / "gold.testb").write_text("B-PER\tAnna Brown\nO\tsings\n")
    found = read(tmp_path / "gold.testb", separator="\t", word=1, tag=0)
    assert found == [[("Anna Brown", "PER")]]
    docs = [toy_ner.make_doc("Anna|PER in"), toy_ner.make_doc("New+York|LOC")]
    for i, doc in enumerate(docs):
        toy_ner.write(tmp_path / f"{i}.spacy", [doc])
    assert read(tmp_path / "0.spacy") == EXPECTED[:1]
    assert read(tmp_path) == EXPECTED


def test_what_holds_no_docs_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"gone\.iob"):
        read(tmp_path / "gone.iob")
    toy_ner.make_ruler({}, None).to_disk(tmp_path / "model")
    with pytest.raises(ValueError, match=r"model' should.*corpus, but is a pipeline"):
        read(tmp_path / "model")
