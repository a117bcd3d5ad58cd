import os
from collections import Counter
from collections.abc import Callable
from hashlib import md5
from itertools import chain
from pathlib import Path
from random import Random

import pytest
from spacy import blank
from spacy.tokens import Doc
from spacy.training import Corpus
from spacy.vocab import Vocab

from lab.corpora import splits, textdatasets
from lab.corpora.datasets import DATASETS, prepare_dataset
from spacy_hashembeds.corpora.docbin import read_docs
from spacy_hashembeds.corpora.splits import FETCH
from spacy_hashembeds.corpora.texts import LabelledText

TOPICS = ("World", "Sports", "Business", "Sci/Tech")


def write_ag_news(folder: Path, name: str, n_each: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "classes.txt").write_text("\n".join(TOPICS))
    rows = [(i % 4 + 1, i) for i in range(4 * n_each)]
    lines = [f'"{label}","Title {i}","It said ""{i}"""' for label, i in rows]
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf8")


def load(path: Path) -> list[Doc]:
    nlp = blank("en")
    return [example.reference for example in Corpus(path)(nlp)]


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


def test_docs_are_tokenized_and_have_all_labels(tmp_path: Path):
    write_ag_news(tmp_path / "ag_news", "train.csv", 10)
    write_ag_news(tmp_path / "ag_news", "test.csv", 1)
    paths = prepare_dataset("ag_news", tmp_path, tmp_path / "out")
    last = load(paths["test"])[-1]
    assert last.text == 'Title 3 It said "3"'
    assert [token.text for token in last][-3:] == ['"', "3", '"']
    assert last.cats == dict.fromkeys(TOPICS[:3], 0.0) | {"Sci/Tech": 1.0}
    assert list(last.cats) == list(TOPICS)


def test_splits_are_the_same_every_time(tmp_path: Path):
    write_ag_news(tmp_path / "ag_news", "test.csv", 1900)
    made = [
        prepare_dataset("ag_news_small", tmp_path, tmp_path / name) for name in "ab"
    ]
    for first, second in zip(*(paths.values() for paths in made), strict=True):
        assert first.read_bytes() == second.read_bytes()
    docs = {split: load(path) for split, path in made[0].items()}
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
    counts = {}
    texts = {}
    for split in ("train", "dev", "test"):
        docs = list(read_docs(folder / f"{split}.spacy", Vocab()))
        counts[split] = Counter(map(get_label, docs))
        texts[split] = [doc.text for doc in docs]
        assert not any("\\" in text for text in texts[split])
    assert counts == {
        "train": dict.fromkeys(TOPICS, 1250),
        "dev": dict.fromkeys(TOPICS, 150),
        "test": dict.fromkeys(TOPICS, 500),
    }
    assert len(set(chain(*texts.values()))) == 7600
    # The splits are never to change: these are those of the published results.
    assert hash_texts(texts["dev"]) == "1ed1ca6e009ddf956253fce9fb93f4b1"
    assert hash_texts(texts["test"]) == "19d1157e821c70b51867044d69cb43eb"


def hash_texts(texts: list[str]) -> str:
    return md5("\n".join(texts).encode()).hexdigest()


def test_large_splits_are_folders_of_files(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(splits, "MAX_DOCS", 60)
    write_ag_news(tmp_path / "ag_news", "train.csv", 40)
    write_ag_news(tmp_path / "ag_news", "test.csv", 15)
    for _ in range(2):  # a folder replaces the folder of before
        paths = prepare_dataset("ag_news", tmp_path, tmp_path / "out")
        names = sorted(path.name for path in paths["train"].iterdir())
        assert names == [f"000{i}.spacy" for i in range(3)]
        assert paths["test"].is_file()  # 60 texts and no more
        docs = load(paths["train"])
        assert len(docs) == 152
        assert [doc.text for doc in read_docs(paths["train"], blank("en").vocab)] == [
            doc.text for doc in docs
        ]
    with pytest.raises(ValueError, match="the files of one corpus, but holds 3 splits"):
        next(read_docs(tmp_path / "out", blank("en").vocab))
    monkeypatch.setattr(splits, "MAX_DOCS", 5)
    with pytest.raises(FileExistsError, match=r"dev\.spacy' should become a folder"):
        prepare_dataset("ag_news", tmp_path, tmp_path / "out")
    assert len(load(paths["train"])) == 152


@pytest.mark.parametrize("name", [d.name for d in textdatasets.TEXT_DATASETS])
def test_missing_files_have_a_remedy(name: str, tmp_path: Path):
    remedy = FETCH if name.startswith("ag_news") else r"docs/textcat\.md"
    with pytest.raises(FileNotFoundError, match=f"a file of {name} is .*{remedy}"):
        prepare_dataset(name, tmp_path, tmp_path / "out")


def test_a_text_of_each_few_with_the_same_label_is_held_out():
    labels = [{"a": 1.0}] * 30 + [{"b": 1.0}] + [{"a": 1.0, "b": 1.0}] * 20
    texts = [LabelledText(str(i), cats) for i, cats in enumerate(labels)]
    held_out = textdatasets.hold_out(lambda: iter(texts), every=10)
    dev, train = (
        [int(labelled.text) for labelled in held_out[split]]
        for split in ("dev", "train")
    )
    assert sorted([*dev, *train]) == list(range(51))
    assert [sum(place // 10 == i for place in dev) for i in range(3)] == [1, 1, 1]
    assert len(dev) == 5
    assert 30 in train


def hold_out(sets: list[tuple[str, ...]]) -> dict[str, list[tuple[str, ...]]]:
    """Hold out one in ten of the texts that have these sets of labels."""
    texts = [LabelledText(str(i), dict.fromkeys(s, 1.0)) for i, s in enumerate(sets)]
    return {
        split: [sets[int(labelled.text)] for labelled in held_out]
        for split, held_out in textdatasets.hold_out(
            lambda: iter(texts), every=10
        ).items()
    }


def test_many_combinations_of_labels_are_held_out_alike():
    rng = Random(0)
    labels = [f"label{i}" for i in range(40)]
    sets = [tuple(rng.sample(labels, rng.randint(2, 5))) for _ in range(1900)]
    sets += [()] * 100
    rng.shuffle(sets)
    held_out = hold_out(sets)
    dev = held_out["dev"]
    assert 195 <= len(dev) <= 200
    assert len(dev) + len(held_out["train"]) == 2000
    sizes = Counter(map(len, dev))
    assert 3 <= sizes[0] <= 20
    assert all(30 <= sizes[n] <= 65 for n in range(2, 6))
    assert len(set(chain(*dev))) == 40


def test_no_label_is_held_out_alone():
    """Each of two hundred labels is there once, beside one that is frequent."""
    held_out = hold_out([("frequent", str(i)) for i in range(200)])
    assert held_out["dev"] == []
    held_out = hold_out([("frequent", str(i // 2)) for i in range(200)])
    assert 5 < len(held_out["dev"]) < 15
    assert set(chain(*held_out["dev"])) <= set(chain(*held_out["train"]))


def test_the_corpora_of_the_paper_are_there():
    assert {d.name for d in textdatasets.TEXT_DATASETS} <= DATASETS.keys()
    assert len(textdatasets.TEXT_DATASETS) == 8


@pytest.mark.parametrize("split", ["train", "dev"])
def test_a_pipe_is_refused_before_the_work(split: str, tmp_path: Path):
    paths = {"train": tmp_path / "train.csv", "dev": tmp_path / "dev.csv"}
    for name, path in paths.items():
        if name == split:
            os.mkfifo(path)
        else:
            path.write_text("text,label\na,x\n")
    with pytest.raises(ValueError, match=rf"{split}\.csv' is read twice, so it should"):
        textdatasets.prepare_texts(**paths, lang="en", output=tmp_path / "made")


def test_texts_without_a_label_are_refused(tmp_path: Path):
    path = tmp_path / "own.jsonl"
    path.write_text('{"text": "a", "label": []}\n' * 20)
    with pytest.raises(ValueError, match=r"own\.jsonl: .* but not one has any\. Say"):
        textdatasets.prepare_texts(train=path, lang="en", output=tmp_path / "made")
    assert not (tmp_path / "made").exists()
