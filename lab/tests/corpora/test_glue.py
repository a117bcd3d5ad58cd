"""The files of GLUE's tasks: read as they were published, or refused."""

import re
from pathlib import Path

import pytest
import spacy

from lab.corpora.glue import GLUE, PAIR_SEPARATOR, read_glue
from lab.tests.toy_glue import HEADERS, make_row, write_rows, write_task

HAS_HEADER = sorted(set(GLUE) - {"cola"})


def make_fine(task: str) -> str:
    """A row that is read."""
    sentences = ["a b"] * len(GLUE[task].sentences)
    return make_row(task, sentences, next(iter(GLUE[task].classes), "2.5"))


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


@pytest.mark.parametrize(
    ("sentences", "text"),
    [
        # blanks around sentences do not count
        (["  A b. ", "\x85C.  d \u2028"], "A b.\nC.  d"),
        # bytes end a line, not every character that Unicode takes for its end
        (["One\x85two\u2028\rthree?", "Four?"], "One\x85two\u2028\rthree?\nFour?"),
    ],
)
def test_a_text_has_all_but_blanks_at_its_ends(sentences, text, tmp_path):
    rows = [make_row("rte", sentences, "entailment"), "", ""]
    path = write_rows(tmp_path / "train.tsv", "rte", rows)
    assert read_texts(path, "rte") == [text]


# Pairs.


@pytest.mark.parametrize("lang", ["en", "de", "xx", "zh"])
@pytest.mark.parametrize(
    ("first", "second"),
    [("A (b)", "(c) d"), ("U.S.", "U.K."), ('"a', 'b"'), (":", ")")],
)
def test_the_separator_is_a_token_in_other_languages_too(lang, first, second):
    doc = spacy.blank(lang)(f"{first}{PAIR_SEPARATOR}{second}")
    assert [token.text for token in doc].count("\n") == 1


# What is refused.


def check_refused(path: Path, task: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"{re.escape(path.name)}:?{message}"):
        list(read_glue(path, task))


@pytest.mark.parametrize("task", sorted(GLUE))
def test_rows_that_are_not_of_the_task_are_named(task, tmp_path):
    layout, fine = GLUE[task], make_fine(task)
    first = 1 if task == "cola" else 2
    n, n_columns = len(layout.sentences), fine.count("\t") + 1

    def refuse(row: str, message: str) -> None:
        path = write_rows(tmp_path / "train.tsv", task, [fine, row, fine])
        check_refused(path, task, f"{first + 1}: expected {message}")

    for gold in ("", "7", "maybe", "nan", "²", "-0.5", "5.001", "1e0"):
        row = make_row(task, ["a b"] * n, gold)
        refuse(row, f".+ in the column '{layout.gold}', got '{gold}'")
    refuse(f"{fine}\t1", f"{n_columns} columns of .*, got ")
    long = make_row(
        task, ["a b " * 300_000, "c"][:n], next(iter(layout.classes), "2.5")
    )
    refuse(long, ".*1,000,000 characters")
    if task != "qqp":  # which has broken lines
        refuse(fine.rpartition("\t")[0], f"{n_columns} columns of .*, got ")
        blank = make_row(task, ["a b"] * (n - 1) + [" "], "1")
        refuse(blank, f"text in the column '{layout.sentences[-1]}', got ''")
    path = write_rows(tmp_path / "train.tsv", task, [])
    check_refused(path, task, rf" expected rows of {task}, but")


@pytest.mark.parametrize("task", HAS_HEADER)
def test_a_file_of_other_columns_is_refused(task, tmp_path):
    other = "sst2" if task != "sst2" else "rte"
    path = write_task(tmp_path / "train.tsv", other, n=2)
    message = f"1: expected the columns .* of {GLUE[task].folder}, each once"
    check_refused(path, task, message)
    header = f"{HEADERS[task]}\t{GLUE[task].gold}"
    write_rows(path, task, [f"{make_fine(task)}\t0"], header)
    check_refused(path, task, message)


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("cola", "index\tsentence\n0\tA b.\n"),
        ("rte", "index\tsentence1\tsentence2\n0\tA b.\tC.\n"),
        ("mrpc", "index\t#1 ID\t#2 ID\t#1 String\t#2 String\n0\t1\t2\ta\tb\n"),
    ],
)
def test_a_file_without_labels_is_refused_with_the_reason(task, text, tmp_path):
    path = tmp_path / "test.tsv"
    path.write_text(text)
    check_refused(path, task, "1: .* GLUE keeps the labels of test.tsv: read dev.tsv")


# Broken lines of QQP.


def test_broken_questions_are_passed_over_and_counted(tmp_path):
    row = make_row("qqp", ["What is a?", "Why b?"], "1")
    broken = ["7\t8\t9\tWhat is", " a?\tWhy b?\t0", make_row("qqp", ["", "b?"], "0")]
    path = write_rows(tmp_path / "train.tsv", "qqp", [row, *broken, row])
    with pytest.warns(UserWarning, match=r"train\.tsv: 3 lines .* first line 3\."):
        assert read_texts(path, "qqp") == ["What is a?\nWhy b?"] * 2


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("7\t8\t9\tWhat is", r"expected 6 columns of QQP"),
        (make_row("qqp", ["a?", " "], "0"), r"expected text in the column 'question2'"),
    ],
)
def test_too_many_of_them_are_a_damaged_file(broken, message, tmp_path):
    row = make_row("qqp", ["What is a?", "Why b?"], "1")
    rows = [row, *[broken] * 100]
    path = write_rows(tmp_path / "train.tsv", "qqp", rows)
    with pytest.warns(UserWarning, match="100 lines were passed over"):
        assert len(read_texts(path, "qqp")) == 1
    write_rows(path, "qqp", [*rows, broken])
    check_refused(path, "qqp", f"103: {message}")
