from collections import Counter
from collections.abc import Callable
from hashlib import md5
from itertools import chain
from pathlib import Path

import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from lab.corpora import textdatasets
from lab.corpora.dataset import FETCH
from lab.corpora.datasets import prepare_dataset
from spacy_hashembeds.corpora.docbin import read_docs

TOPICS = ("World", "Sports", "Business", "Sci/Tech")


def write_ag_news(folder: Path, name: str, n_each: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "classes.txt").write_text("\n".join(TOPICS))
    rows = [(i % 4 + 1, i) for i in range(4 * n_each)]
    lines = [f'"{label}","Title {i}","It said ""{i}"""' for label, i in rows]
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf8")


def load(path: Path) -> list[Doc]:
    return list(read_docs(path, Vocab()))


def get_label(doc: Doc) -> str:
    (label,) = (label for label, value in doc.cats.items() if value)
    return label


def test_one_row_in_twenty_is_for_development(tmp_path: Path):
    write_ag_news(tmp_path / "ag_news", "train.csv", 40)
    write_ag_news(tmp_path / "ag_news", "test.csv", 2)
    paths = prepare_dataset("ag_news", tmp_path, tmp_path / "out")
    docs = {split: load(path) for split, path in paths.items()}
    assert {split: len(docs[split]) for split in docs} == {
        "train": 152,
        "dev": 8,
        "test": 8,
    }
    places = [int(doc[1].text) for doc in docs["dev"]]
    # of each of four classes, one of its first twenty, and one of the next
    assert {(place % 4, place // 80) for place in places} == {
        (label, block) for label in range(4) for block in (0, 1)
    }
    assert len({place % 80 for place in places}) > 4
    train = [int(doc[1].text) for doc in docs["train"]]
    assert sorted([*places, *train]) == list(range(160))
    assert train == sorted(train)
    last = docs["test"][-1]
    assert [token.text for token in last][-4:] == ["said", '"', "7", '"']
    assert last.cats == dict.fromkeys(TOPICS[:3], 0.0) | {"Sci/Tech": 1.0}
    assert list(last.cats) == list(TOPICS)


def test_splits_are_the_same_every_time(tmp_path: Path):
    write_ag_news(tmp_path / "ag_news", "test.csv", 1900)
    paths = prepare_dataset("ag_news_small", tmp_path, tmp_path / "out")
    docs = {split: load(path) for split, path in paths.items()}
    counts = {split: Counter(map(get_label, found)) for split, found in docs.items()}
    assert counts == {
        "train": dict.fromkeys(TOPICS, 1250),
        "dev": dict.fromkeys(TOPICS, 150),
        "test": dict.fromkeys(TOPICS, 500),
    }
    places = [int(doc[1].text) for doc in chain(*docs.values())]
    assert sorted(places) == list(range(7600))
    # As they have been since the first results on them were published.
    dev = [int(doc[1].text) for doc in docs["dev"]]
    assert dev[:8] == [0, 12, 30, 44, 65, 67, 103, 123]


def test_the_small_corpus_is_of_the_published_file_alone(tmp_path: Path):
    write_ag_news(tmp_path / "ag_news", "test.csv", 1899)
    with pytest.raises(ValueError, match=r"test\.csv: expected 1,900 .*'World'.*1,899"):
        prepare_dataset("ag_news_small", tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_published_texts_of_ag_news(prepare_real: Callable[[str], Path]):
    folder = prepare_real("ag_news_small")
    texts = {
        split: [doc.text for doc in load(folder / f"{split}.spacy")]
        for split in ("train", "dev", "test")
    }
    every = list(chain(*texts.values()))
    assert len(set(every)) == 7600
    assert not any("\\" in text for text in every)
    # The splits are never to change: these are those of the published results.
    assert hash_texts(texts["dev"]) == "1ed1ca6e009ddf956253fce9fb93f4b1"
    assert hash_texts(texts["test"]) == "19d1157e821c70b51867044d69cb43eb"


def hash_texts(texts: list[str]) -> str:
    return md5("\n".join(texts).encode()).hexdigest()


@pytest.mark.parametrize("name", [d.name for d in textdatasets.TEXT_DATASETS])
def test_missing_files_have_a_remedy(name: str, tmp_path: Path):
    remedy = FETCH if name.startswith("ag_news") else r"docs/textcat\.md"
    with pytest.raises(FileNotFoundError, match=f"a file of {name} is .*{remedy}"):
        prepare_dataset(name, tmp_path, tmp_path / "out")
