"""The files of GLUE's tasks: read as they were published, or refused."""

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


def test_a_text_that_spacy_does_not_take_is_refused(tmp_path):
    rows = [make_row("sst2", ["a b " * 300_000], "1")]
    path = write_rows(tmp_path / "train.tsv", "sst2", rows)
    with pytest.raises(ValueError, match=r"train\.tsv:2: .*1,000,000 characters"):
        list(read_glue(path, "sst2"))


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


@pytest.mark.parametrize("task", sorted(GLUE))
@pytest.mark.parametrize("gold", ["", "2", "maybe", "nan", "²", "-0.5", "5.001", "1e0"])
def test_another_label_is_refused(task, gold, tmp_path):
    if task == "stsb" and gold == "2":
        gold = "6"
    sentences = ["a b"] * len(GLUE[task].sentences)
    rows = [make_fine(task), make_row(task, sentences, gold)]
    path = write_rows(tmp_path / "train.tsv", task, rows)
    line = 2 if task == "cola" else 3
    column = f"in the column '{GLUE[task].gold}', got '{gold}'"
    with pytest.raises(ValueError, match=rf"train\.tsv:{line}: expected .+ {column}"):
        list(read_glue(path, task))


@pytest.mark.parametrize("task", sorted(GLUE))
@pytest.mark.parametrize("change", ["fewer", "more"])
def test_rows_have_all_columns_and_no_more(task, change, tmp_path):
    row = make_fine(task)
    wrong = f"{row}\t1" if change == "more" else row.rpartition("\t")[0]
    path = write_rows(tmp_path / "train.tsv", task, [row, wrong, row])
    line, n_columns = (2, 4) if task == "cola" else (3, row.count("\t") + 1)
    message = rf"train\.tsv:{line}: expected {n_columns} columns of .*, got "
    if task == "qqp" and change == "fewer":
        with pytest.warns(UserWarning, match=r"1 lines .* first line 3\. Some rel"):
            assert len(list(read_glue(path, task))) == 2
    else:
        with pytest.raises(ValueError, match=message):
            list(read_glue(path, task))


@pytest.mark.parametrize("task", sorted(set(GLUE) - {"qqp"}))
def test_a_sentence_without_text_is_refused(task, tmp_path):
    sentences = ["a b"] * (len(GLUE[task].sentences) - 1) + [" "]
    row = make_row(task, sentences, next(iter(GLUE[task].classes), "2.5"))
    path = write_rows(tmp_path / "train.tsv", task, [row])
    column = GLUE[task].sentences[-1]
    line = 1 if task == "cola" else 2
    message = rf"train\.tsv:{line}: expected text in the column '{column}', got ''"
    with pytest.raises(ValueError, match=message):
        list(read_glue(path, task))


@pytest.mark.parametrize("task", HAS_HEADER)
def test_a_file_of_other_columns_is_refused(task, tmp_path):
    other = "sst2" if task != "sst2" else "rte"
    path = write_task(tmp_path / "train.tsv", other, n=2)
    message = rf"train\.tsv:1: expected the columns .* of {GLUE[task].folder}, each "
    with pytest.raises(ValueError, match=message):
        list(read_glue(path, task))


def test_a_column_that_stands_twice_is_refused(tmp_path):
    header = f"{HEADERS['sst2']}\tlabel"
    path = write_rows(tmp_path / "train.tsv", "sst2", ["a b\t1\t0"], header)
    with pytest.raises(ValueError, match=r":1: expected the columns .*each once"):
        list(read_glue(path, "sst2"))


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("cola", "index\tsentence\n0\tA b.\n"),
        ("sst2", "index\tsentence\n0\tA b.\n"),
        ("rte", "index\tsentence1\tsentence2\n0\tA b.\tC.\n"),
        ("mrpc", "index\t#1 ID\t#2 ID\t#1 String\t#2 String\n0\t1\t2\ta\tb\n"),
    ],
)
def test_a_file_without_labels_is_refused_with_the_reason(task, text, tmp_path):
    path = tmp_path / "test.tsv"
    path.write_text(text)
    reason = r":1: .* GLUE keeps the labels of test\.tsv: read dev\.tsv in its place"
    with pytest.raises(ValueError, match=reason):
        list(read_glue(path, task))


@pytest.mark.parametrize("task", sorted(GLUE))
def test_a_file_without_rows_is_refused(task, tmp_path):
    path = write_rows(tmp_path / "train.tsv", task, [])
    with pytest.raises(ValueError, match=rf"train\.tsv: expected rows of {task}, but"):
        list(read_glue(path, task))


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
    with pytest.raises(ValueError, match=rf"train\.tsv:103: {message}"):
        list(read_glue(path, "qqp"))
