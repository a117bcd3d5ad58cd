from pathlib import Path

import pytest
from spacy.vocab import Vocab

from lab.corpora.ontonotes import read_ontonotes
from spacy_hashembeds.corpora.columns import Sentence, make_doc


def read_spans(sentence: Sentence) -> list[tuple[int, int, str]]:
    doc = make_doc(Vocab(), [sentence])
    return [(ent.start, ent.end, ent.label_) for ent in doc.ents]


def rows(*names: str, part: int = 0) -> str:
    """One sentence: word/NAME, NAME as in the column of names."""
    lines = []
    for i, item in enumerate(names):
        word, name = item.split("/")
        lines.append(f"bc/x/00/x_0000 {part} {i} {word} NN (NP* - - - Ann#1 {name} * -")
    return "\n".join(lines) + "\n\n"


def part(number: int, *sentences: str) -> str:
    begin = f"#begin document (bc/x/00/x_0000); part {number:03}\n"
    return begin + "".join(sentences) + "#end document\n"


TEXT = part(
    0,
    rows("The/(WORK_OF_ART*", "Red/*", "Sea/*)", "and/*", "Rome/(GPE)"),
    rows("Ann/(PERSON*)", "Paris/(GPE)", "slept/*"),
) + part(1, rows("Yes/*", part=1))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b/x.v4_gold_conll", "a/y.v4_gold_conll", "a/y.v4_auto_conll"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / "b/x.v4_gold_conll").write_text(TEXT)
    (tmp_path / "a/y.v4_gold_conll").write_text(part(0, rows("First/(ORDINAL)")))
    (tmp_path / "a/y.v4_auto_conll").write_text("not gold")
    return tmp_path


def read_text(path: Path, text: str) -> list[list[Sentence]]:
    path = path / "z.v4_gold_conll"
    path.write_text(text)
    return list(read_ontonotes(path))


def test_each_part_is_a_document_with_labels_as_they_are(tmp_path: Path):
    first, second = read_text(tmp_path, TEXT)
    assert [sentence.words for sentence in first] == [
        ["The", "Red", "Sea", "and", "Rome"],
        ["Ann", "Paris", "slept"],
    ]
    assert [read_spans(sentence) for sentence in first] == [
        [(0, 3, "WORK_OF_ART"), (4, 5, "GPE")],
        [(0, 1, "PERSON"), (1, 2, "GPE")],
    ]
    assert second == [Sentence(["Yes"], ["O"])]


def test_adjacent_names_of_one_label_stay_apart(tmp_path: Path):
    ((sentence,),) = read_text(tmp_path, part(0, rows("A/(GPE)", "B/(GPE*", "C/*)")))
    assert read_spans(sentence) == [(0, 1, "GPE"), (1, 3, "GPE")]


def test_a_part_without_tokens_is_no_document(tmp_path: Path):
    assert read_text(tmp_path, part(0) + part(1, "\n")) == []


def test_the_files_of_a_folder_are_read_in_order(folder: Path):
    documents = list(read_ontonotes(folder))
    assert [document[0].words[0] for document in documents] == ["First", "The", "Yes"]


def test_a_folder_without_gold_files(tmp_path: Path):
    (tmp_path / "x.conll").write_text(TEXT)
    with pytest.raises(FileNotFoundError, match=r"'_gold_conll' in .* CoNLL-2012"):
        next(read_ontonotes(tmp_path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (part(0, rows("A/(GPE*", "B/(GPE)")), r":3: expected .* got '\(GPE\)'"),
        (part(0, rows("A/*", "B/*)")), r":3: expected .* got '\*\)'"),
        (part(0, rows("A/GPE")), ":2: expected .* got 'GPE'"),
        (part(0, rows("A/(GPE")), r":2: expected .* got '\(GPE'"),
        (part(0, rows("A/(GPE*", "B/*")), r":3: the sentence ends within .*\(GPE\*"),
        (part(0, "bc/x 0 0 Rome\n"), ":2: expected more than 10 columns, got 4"),
        (part(0, rows("A/*")) + rows("B/*"), ":5: expected '#begin document' first"),
        ("#end document\n", ":1: expected '#begin document' first"),
        (
            part(0, rows("A/*")).removesuffix("#end document\n") + part(1),
            ":4: expected '#end document' first",
        ),
        (
            part(0, rows("A/*")).removesuffix("#end document\n"),
            ":3: the file ends within a document: it may be truncated",
        ),
    ],
)
def test_what_cannot_be_parsed(tmp_path: Path, text: str, message: str):
    with pytest.raises(ValueError, match=r"z\.v4_gold_conll" + message):
        read_text(tmp_path, text)
