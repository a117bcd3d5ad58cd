from pathlib import Path

import pytest
from spacy.vocab import Vocab

from lab.corpora.ontonotes import read_ontonotes
from spacy_hashembeds.tools.prepare.columns import Sentence, make_doc


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
OTHER = part(0, rows("First/(ORDINAL)"))


def test_each_part_is_a_document_with_labels_as_they_are(tmp_path: Path):
    for name, text in {
        "b/x.v4_gold": TEXT,
        "a/y.v4_gold": OTHER,
        "a/y.auto": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}_conll").write_text(text)
    other, first, second = read_ontonotes(tmp_path)
    assert [sentence.words for sentence in other] == [["First"]]
    assert [sentence.words for sentence in first] == [
        ["The", "Red", "Sea", "and", "Rome"],
        ["Ann", "Paris", "slept"],
    ]
    assert [read_spans(sentence) for sentence in first] == [
        [(0, 3, "WORK_OF_ART"), (4, 5, "GPE")],
        [(0, 1, "PERSON"), (1, 2, "GPE")],
    ]
    assert second == [Sentence(["Yes"], ["O"])]
    broken = tmp_path / "broken_conll"
    for text in (TEXT.replace("*)", "*", 1), TEXT.replace("#end", "end"), "a b"):
        broken.write_text(text)
        with pytest.raises(ValueError, match=r"broken_conll:\d+: "):
            list(read_ontonotes(broken))
