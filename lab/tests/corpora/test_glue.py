"""The files of GLUE's tasks: read as they were published, or refused."""

from pathlib import Path

import pytest

from lab.corpora.glue import GLUE, read_glue
from lab.tests.toy_glue import make_row, write_rows


def read_texts(path: Path, task: str) -> list[str]:
    return [labelled.text for labelled in read_glue(path, task)]


# What is read.


@pytest.mark.parametrize(
    ("task", "gold", "cats"),
    [
        ("cola", "0", {"unacceptable": 1.0, "acceptable": 0.0}),
        ("cola", "1", {"unacceptable": 0.0, "acceptable": 1.0}),
        ("sst2", "1", {"negative": 0.0, "positive": 1.0}),
        ("mrpc", "1", {"not_equivalent": 0.0, "equivalent": 1.0}),
        ("qqp", "0", {"not_duplicate": 1.0, "duplicate": 0.0}),
        ("stsb", "3.800", {"similarity": 0.76}),
        ("stsb", "0.000", {"similarity": 0.0}),
        ("stsb", "5", {"similarity": 1.0}),
        ("mnli", "neutral", {"entailment": 0.0, "neutral": 1.0, "contradiction": 0.0}),
        ("qnli", "entailment", {"not_entailment": 0.0, "entailment": 1.0}),
        ("rte", "not_entailment", {"not_entailment": 1.0, "entailment": 0.0}),
        ("wnli", "1", {"not_entailment": 0.0, "entailment": 1.0}),
    ],
)
def test_a_row_has_its_sentences_and_its_label(task, gold, cats, tmp_path):
    sentences = ['It "was" so.', "Was it?"][: len(GLUE[task].sentences)]
    path = write_rows(tmp_path / "train.tsv", task, [make_row(task, sentences, gold)])
    (labelled,) = read_glue(path, task)
    assert labelled.text == "\n".join(sentences)
    assert labelled.cats == pytest.approx(cats)
    assert list(labelled.cats) == list(cats)


# Pairs.


# What is refused.


# Broken lines of QQP.


def test_broken_questions_are_passed_over_and_counted(tmp_path):
    row = make_row("qqp", ["What is a?", "Why b?"], "1")
    broken = ["7\t8\t9\tWhat is", " a?\tWhy b?\t0", make_row("qqp", ["", "b?"], "0")]
    path = write_rows(tmp_path / "train.tsv", "qqp", [row, *broken, row])
    with pytest.warns(UserWarning, match=r"train\.tsv: 3 lines .* first line 3\."):
        assert read_texts(path, "qqp") == ["What is a?\nWhy b?"] * 2
