from pathlib import Path

import pytest
from spacy.vocab import Vocab

from spacy_hashembeds.tools.prepare.columns import ColumnFormat
from spacy_hashembeds.tools.prepare.readers import read_annotated

from ... import toy_ner

TEXT = "# id = 1\nAnna\tNP\tS-PER\nin\tP\tO\n\nNew\tNP\tB-LOC\nYork\tNP\tE-LOC\n"
EXPECTED = [
    (["Anna", "in"], [("Anna", "PER")]),
    (["New", "York"], [("New York", "LOC")]),
]


def read(path: Path, **layout):
    docs = read_annotated(path, Vocab(), layout=ColumnFormat(**layout))
    return [
        ([t.text for t in doc], [(ent.text, ent.label_) for ent in doc.ents])
        for doc in docs
    ]


@pytest.mark.parametrize(
    "name", ["gold.iob", "gold.conll", "gold.txt", "esp.testb", "g"]
)
def test_what_is_no_spacy_file_has_one_token_a_line(tmp_path, name):
    (tmp_path / name).write_text(TEXT)
    assert read(tmp_path / name) == EXPECTED


def test_the_layout_is_the_callers(tmp_path):
    (tmp_path / "gold.tsv").write_text("B-PER\tAnna Brown\nO\tsings\n")
    found = read(tmp_path / "gold.tsv", separator="\t", word=1, tag=0)
    assert found == [(["Anna Brown", "sings"], [("Anna Brown", "PER")])]


def test_spacy_files_and_folders_of_them(tmp_path):
    docs = [toy_ner.make_doc("Anna|PER in"), toy_ner.make_doc("New+York|LOC")]
    for i, doc in enumerate(docs):
        toy_ner.write(tmp_path / f"{i}.spacy", [doc])
    assert read(tmp_path / "0.spacy") == EXPECTED[:1]
    assert read(tmp_path) == EXPECTED


def test_what_holds_no_docs_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file or folder '.*gone\.iob'"):
        read(tmp_path / "gone.iob")
    toy_ner.make_ruler({}, None).to_disk(tmp_path / "model")
    with pytest.raises(ValueError, match=r"model' should.*corpus, but is a pipeline"):
        read(tmp_path / "model")
    (tmp_path / "gold.iob").write_text("Anna B-PER\nin\n")
    with pytest.raises(ValueError, match=r"gold\.iob:2: expected 2 columns"):
        read(tmp_path / "gold.iob")
