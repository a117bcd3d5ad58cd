from pathlib import Path

import pytest
from spacy.tokens import DocBin
from spacy.training.converters import conll_ner_to_docs
from spacy.vocab import Vocab

from lab.corpora.datasets import ANEM, ARCHAEOLOGY, WNUT17, prepare_dataset
from spacy_hashembeds.tools.prepare import columns
from spacy_hashembeds.tools.prepare.columns import ColumnFormat
from tests import toy_ner


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*")}


@pytest.mark.parametrize(
    ("layout", "name"),
    [
        (WNUT17, "wnut17/emerging.dev.conll"),
        (ColumnFormat(), "conll2002/esp.testb"),
        (ANEM, "anem/AnEM.test"),
        (ARCHAEOLOGY, "archaeo/1.bio"),
    ],
)
def test_real_files_are_read_as_spacy_converts_them(
    layout: ColumnFormat, name: str, data_dir: Path
):
    text = (data_dir / name).read_text(encoding="utf-8")
    converted = conll_ner_to_docs(text, n_sents=1, no_print=True)
    expected = DocBin(attrs=["ENT_IOB", "ENT_TYPE", "SENT_START"], docs=converted)
    vocab, documents = Vocab(), columns.read_documents(data_dir / name, layout)
    docs = (columns.make_doc(vocab, doc) for doc in documents)
    found = DocBin(attrs=["ENT_IOB", "ENT_TYPE", "SENT_START"], docs=docs)
    assert len(found) == len(expected)
    assert [a.tolist() for a in found.tokens] == [a.tolist() for a in expected.tokens]


def test_shuffled_splits_are_reproducible(tmp_path: Path):
    folder = tmp_path / "anem"
    folder.mkdir()
    lines = "".join(f"w{i}\t0\t1\tO\n\n" for i in range(10))
    (folder / "AnEM.train").write_text(lines)
    (folder / "AnEM.test").write_text("t\t0\t1\tO\n")
    paths = prepare_dataset("anem", tmp_path, tmp_path / "a")
    prepare_dataset("anem", tmp_path, tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    docs = {split: toy_ner.read(path) for split, path in paths.items()}
    words = {split: [doc[0].text for doc in of] for split, of in docs.items()}
    # the order of list(range(10)) after random.seed(42) and random.shuffle
    assert words["train"] == [f"w{i}" for i in (7, 3, 2, 8, 5, 6, 9, 4)]
    assert words["dev"] == ["w0", "w1"]
