import json
import re
from functools import partial
from pathlib import Path

import pytest

from spacy_hashembeds.tools.evaluate import evaluate as evaluation
from spacy_hashembeds.tools.evaluate.evaluate import evaluate_in_depth

from ... import toy_ner
from ...toy_textcat import TEST, TRAIN, make_docs, train_textcat
from .running import check_refused, get_rows, remove_colours, run_command, unwrap

run = partial(run_command, "evaluate")

ARGUMENTS = ("model", "test.spacy", "--train", "train.spacy")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    """The current folder, with a pipeline and corpora."""
    monkeypatch.chdir(tmp_path)
    toy_ner.write_train(tmp_path / "train.spacy")
    write_test("Anna|PER saw Dora|PER in Oslo|LOC and Rome|LOC")
    patterns = {"Anna": "PER", "Oslo": "LOC", "and": "MISC"}
    toy_ner.make_ruler(patterns, None).to_disk(tmp_path / "model")
    return tmp_path


def write_test(*texts: str) -> None:
    docs = [toy_ner.make_doc(text) for text in texts]
    toy_ner.write(Path("test.spacy"), docs)


def test_full_shows_all_tables_which_fit_a_terminal(folder):
    write_test(*[f"{'very ' * 20}Rome|organization {'far ' * 20}"] * 3)
    result = run(*ARGUMENTS, "--full", "--against", "model")
    assert result.exit_code == 0, result.output
    lines = remove_colours(result.output).splitlines()
    tables = [line for line in lines if re.search(r"\S   +\S", line)]
    assert len(tables) > 40
    assert max(len(line.rstrip()) for line in tables) <= 80


def test_a_summary_has_totals_what_changed_and_main_errors(folder):
    toy_ner.make_ruler({"Oslo": "LOC"}, None).to_disk(folder / "other")
    write_test(*["Anna|PER saw Dora|PER in Oslo|LOC"] * 9)
    result = run(*ARGUMENTS, "--against", "other", "-n", 200)
    shown = get_rows(remove_colours(result.output))
    assert "Seen 100.00 100.00 100.00 9".split() in [row[:5] for row in shown]
    assert "Seen F 100.00 0.00 +100.00".split() in [row[:5] for row in shown]
    assert "PER 66.67 0.00 +66.67".split() in [row[:4] for row in shown]
    # what did not change, or not surely, and what few look at
    assert not any(row[0] in ("LOC", "micro", "S") for row in shown)
    assert any(row[:4] == "PER - missed 9".split() for row in shown)
    assert "More tables with --full" in unwrap(result.output)


def test_files_are_of_the_form_that_their_suffix_names(folder):
    names = ["pages/evaluation.html", "tables.md", "all.json"]
    outputs = (part for name in names for part in ("-o", name))
    result = run(*ARGUMENTS, "--samples", 50, "--seed", 2, *outputs)
    assert result.exit_code == 0, result.output
    assert "from 50 draws, seed 2" in unwrap(remove_colours(result.output))
    page, tables, data = (Path(name).read_text(encoding="utf8") for name in names)
    assert page.startswith("<!DOCTYPE html>")
    assert ">Rome<span>LOC</span></mark>" in page
    assert "| All | 66.67 | 50.00 | 57.14 | 4 | - | - | - |" in tables.splitlines()
    paths = ("model", "test.spacy", "train.spacy")
    expected = evaluate_in_depth(*paths, samples=50, seed=2)
    assert json.loads(data) == json.loads(json.dumps(dict(expected)))


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ("-o scores.json -o scores.txt", "'output' should end in .json, .html or .md"),
        ("-o scores.json -o ./scores.json", "Name two files that differ."),
        ("-o test.spacy/x.json", "'test.spacy', which is read"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_work(
    folder, monkeypatch, outputs, message
):
    monkeypatch.setattr(evaluation, "name_source", None)
    check_refused(run(*ARGUMENTS, *outputs.split()), message)
    assert not Path("scores.json").exists()


# Without a pipeline.


def write_columns(**files: str) -> None:
    for name, text in files.items():
        Path(f"{name}.conll").write_text(text.replace("|", "\n") + "\n", "utf8")


OF_FILES = ("predicted.conll", "gold.conll", "--train", "train.conll")


@pytest.mark.parametrize(
    ("names", "options"),
    [
        ("", r"--tag-column 2 --predicted-column 3 --separator \t"),
        ("A\tB\tC\tD\n", "--word-column A --tag-column C --predicted-column D"),
    ],
)
def test_gold_and_predicted_tags_may_stand_in_one_file(folder, names, options):
    lines = ["Zoë\tPERSON\tB-PER\tB-PER", "New York\tPLACE\tB-LOC\tO"]
    Path("both.tsv").write_text(names + "\n".join(lines) + "\n", "latin-1")
    options = [*options.split(), "--encoding", "latin-1"]
    result = run("both.tsv", "both.tsv", *options)
    assert result.exit_code == 0, result.output
    shown = get_rows(result.output)
    assert "All 100.00 50.00 66.67 2".split() in [row[:5] for row in shown]


def test_control_characters_are_shown_and_not_sent(folder):
    write_columns(
        gold="\x1b[2JAnna B-\x1b]0;hi\x07|saw O|Dora B-=cmd()|in O|Oslo B-LOC",
        predicted="\x1b[2JAnna B-\x9b1m\u2067|saw O|Dora O|in O|Oslo O",
        train="Anna B-PER",
    )
    outputs = ("scores.json", "scores.html", "scores.md")
    result = run(*OF_FILES, *(part for name in outputs for part in ("-o", name)))
    assert result.exit_code == 0, result.output
    printed = re.sub(r"\x1b\[(38;5;)?\d*m", "", result.output)  # wasabi's own
    assert r"[\x1b[2JAnna] saw" in unwrap(printed)
    assert "predicts \\x9b1m\\u2067, and" in unwrap(printed)
    data, page, tables = (Path(name).read_text(encoding="utf8") for name in outputs)
    for text in (printed, page, tables):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2067]", text)
        assert r"\x1b" in text
    labels = json.loads(data)["ents_per_type"]
    assert set(labels) == {"\x1b]0;hi\x07", "\x9b1m\u2067", "=cmd()", "LOC"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "test.spacy model -t train.spacy",
            "'model' should be a corpus, but is a pipeline. See --help for the order",
        ),
        ("model test.spacy -a gone", "gone"),
        (f"model test.spacy -n {'9' * 23}", f"but is {'9' * 23}."),
    ],
)
def test_errors_are_told_without_a_traceback(folder, arguments, message):
    result = run(*arguments.split(), "-o", "scores.json")
    check_refused(result, "Can't evaluate the pipeline", message)
    assert not Path("scores.json").exists()


# Text classifiers.


def test_categories_have_a_task_and_tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    train = toy_ner.write(Path("train.spacy"), make_docs(TRAIN))
    toy_ner.write(Path("test.spacy"), make_docs(TEST))
    nlp = train_textcat(train)
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "X", "pattern": "rain"}])
    nlp.to_disk("model")
    options = (*ARGUMENTS, "-n", 50, "--task")
    full = run(*options, "textcat", "-a", "model", "--full")
    assert max(map(len, remove_colours(full.output).splitlines())) <= 80
    found = evaluate_in_depth("model", "test.spacy", samples=50, task="textcat")
    low, high = (f"{100 * x:.1f}" for x in found["cats_acc_interval"])
    row = ["Accuracy", f"{100 * found['cats_acc']:.2f}", f"{low}..{high}"]
    for result in (full, run(*options, "textcat")):
        assert row in get_rows(remove_colours(result.output))
        assert ("Confusion matrix" in result.output) is (result is full)
    result = run(*options, "ner")
    assert result.exit_code == 0, result.output
    assert "Unseen" in result.output
