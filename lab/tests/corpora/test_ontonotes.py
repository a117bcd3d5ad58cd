from pathlib import Path

import pytest

from lab.corpora.ontonotes import read_ontonotes
from spacy_hashembeds.tools.prepare.columns import Sentence


def rows(*names: str) -> str:
    """Write a sentence of word/NAME, with NAME as in the column of names."""
    pairs = enumerate(name.split("/") for name in names)
    lines = (f"bc/x 0 {i} {w} NN (NP* - - - Ann#1 {name} * -" for i, (w, name) in pairs)
    return "\n".join(lines) + "\n\n"


def part(*sentences: str) -> str:
    begin = "#begin document (bc/x/00/x_0000); part 000\n"
    return begin + "".join(sentences) + "#end document\n"


TEXT = part(
    rows("The/(WORK_OF_ART*", "Red/*", "Sea/*)", "and/*", "Rome/(GPE)"),
    rows("Ann/(PERSON*)", "Paris/(GPE)", "slept/*"),
) + part(rows("Yes/*"))


def test_each_part_is_a_document(tmp_path: Path):
    for name, text in {
        "b/x.v4_gold": TEXT,
        "a/y.v4_gold": part(rows("First/(ORDINAL)")),
        "a/y.auto": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}_conll").write_text(text)
    work = ["B-WORK_OF_ART", "I-WORK_OF_ART", "I-WORK_OF_ART"]
    assert list(read_ontonotes(tmp_path)) == [
        [Sentence(["First"], ["B-ORDINAL"])],
        [
            Sentence(["The", "Red", "Sea", "and", "Rome"], [*work, "O", "B-GPE"]),
            Sentence(["Ann", "Paris", "slept"], ["B-PERSON", "B-GPE", "O"]),
        ],
        [Sentence(["Yes"], ["O"])],
    ]
    (tmp_path / "a/broken_gold_conll").write_text(part(rows("First/ORDINAL")))
    with pytest.raises(ValueError, match=r"broken_gold_conll:2: expected"):
        list(read_ontonotes(tmp_path))
