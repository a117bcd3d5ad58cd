from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest
from spacy.tokens import Doc, DocBin
from spacy.training.converters import conll_ner_to_docs
from spacy.vocab import Vocab

from lab.corpora.datasets import ANEM, ARCHAEOLOGY, WNUT17, prepare_dataset
from spacy_hashembeds.analysis.statistics import StatisticsCounter
from spacy_hashembeds.corpora.columns import ColumnFormat, make_doc, read_documents

from .test_ontonotes import part, rows


def load(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(Vocab()))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*")}


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "made" / "output"


# The report's figures


def test_archaeology_is_split_by_tenths(prepare_real: Callable[[str], Path]):
    paths = prepare_real("archaeology").iterdir()
    counts = {p.stem: StatisticsCounter(load(p)).get_statistics() for p in paths}
    # 33,526 sentences of 439,398 tokens in the six files.
    assert {split: count["documents"] for split, count in counts.items()} == {
        "train": 26820,
        "dev": 3353,
        "test": 3353,
    }
    assert sum(count["tokens"] for count in counts.values()) == 439398
    assert {count["classes"] for count in counts.values()} == {6}


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
    vocab = Vocab()
    docs = (make_doc(vocab, doc) for doc in read_documents(data_dir / name, layout))
    found = DocBin(attrs=["ENT_IOB", "ENT_TYPE", "SENT_START"], docs=docs)
    assert len(found) == len(expected)
    assert [a.tolist() for a in found.tokens] == [a.tolist() for a in expected.tokens]


# Datasets of a few lines


def test_dutch_is_read_by_document(tmp_path: Path, output: Path):
    folder = tmp_path / "conll2002"
    folder.mkdir()
    docstart = "-DOCSTART- -DOCSTART- O\n"
    for name in ("ned.train", "ned.testa", "ned.testb"):
        text = f"{docstart}{name} N B-PER\n\nB N I-PER\n{docstart}C N O\n"
        (folder / name).write_text(text)
    paths = prepare_dataset("conll2002_nl", tmp_path, output)
    first, second = load(paths["dev"])
    assert [token.text for token in first] == ["ned.testa", "B"]
    assert [ent.text for ent in first.ents] == ["ned.testa", "B"]
    assert [token.text for token in second] == ["C"]


@pytest.fixture
def ontonotes(tmp_path: Path) -> Path:
    for split in ("train", "development", "test"):
        path = tmp_path / "ontonotes" / split / "x.v4_gold_conll"
        path.parent.mkdir(parents=True)
        path.write_text(part(0, rows(f"{split}/(GPE)")) + part(1, rows("Yes/*")))
    return tmp_path


def test_ontonotes_comes_from_three_folders(ontonotes: Path, output: Path):
    paths = prepare_dataset("ontonotes", ontonotes, output)
    texts = {s: [e.text for d in load(p) for e in d.ents] for s, p in paths.items()}
    assert texts == {"train": ["train"], "dev": ["development"], "test": ["test"]}


def test_a_missing_copy_of_ontonotes(tmp_path: Path, output: Path):
    message = r"ontonotes/train: a file of ontonotes .* licensed copy"
    with pytest.raises(FileNotFoundError, match=message):
        prepare_dataset("ontonotes", tmp_path, output)
    assert not output.exists()


def test_an_error_in_a_dataset_keeps_earlier_files(ontonotes: Path, tmp_path: Path):
    output = tmp_path / "output"
    prepare_dataset("ontonotes", ontonotes, output)
    before = contents(output)
    broken = tmp_path / "broken"
    copytree(ontonotes / "ontonotes", broken / "ontonotes")
    (broken / "ontonotes/development/x.v4_gold_conll").write_text("broken\n")
    with pytest.raises(ValueError, match=r"development/x\.v4_gold_conll:1: "):
        prepare_dataset("ontonotes", broken, output)
    assert contents(output) == before


def test_the_shuffled_split_is_the_same_every_time(tmp_path: Path):
    folder = tmp_path / "anem"
    folder.mkdir()
    lines = "".join(f"w{i}\t0\t1\tO\n\n" for i in range(10))
    (folder / "AnEM.train").write_text(lines)
    (folder / "AnEM.test").write_text("t\t0\t1\tO\n")
    paths = prepare_dataset("anem", tmp_path, tmp_path / "a")
    prepare_dataset("anem", tmp_path, tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    words = {split: [doc[0].text for doc in load(p)] for split, p in paths.items()}
    # As random.seed(42) and random.shuffle leave list(range(10)).
    assert words["train"] == [f"w{i}" for i in (7, 3, 2, 8, 5, 6, 9, 4)]
    assert words["dev"] == ["w0", "w1"]
