import json
import re
from functools import partial
from pathlib import Path

import pytest

from spacy_hashembeds.evaluation.evaluate import evaluate_in_depth

from .. import toy_ner
from .running import check_refused, get_rows, remove_colours, run_command, unwrap

evaluate = partial(run_command, "evaluate")

ARGUMENTS = ("model", "test.spacy", "--train", "train.spacy")

run = partial(evaluate, *ARGUMENTS, "--full")


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


#: Nothing to draw from in a single document; LOC has 1, 1/2 and 2/3, PER the same, and
#: MISC nothing.
LINES = """
P R F Support P from-to R from-to F from-to
All 66.67 50.00 57.14 4 - - -
Seen 50.00 50.00 50.00 2 - - -
Unseen 50.00 50.00 50.00 2 - - -
LOC Seen 0.00 0.00 0.00 1 -
LOC Unseen 100.00 100.00 100.00 1 -
PER Seen 100.00 100.00 100.00 1 -
MISC All 0.00 0.00 0.00 0 -
All micro 66.67 50.00 57.14
All macro 66.67 33.33 44.44
All weighted 100.00 50.00 66.67
Scheme P R F COR INC PAR MIS SPU
All partial 66.67 50.00 57.14 2 0 0 2 1
Unseen ent_type 50.00 50.00 50.00 1 0 0 1 1
text seen as an entity of this type 50.00 2 -
new entity, no token seen 50.00 2 -
LOC - missed 1 Dora in Oslo and [Rome]
- MISC spurious 1 saw Dora in Oslo [and] Rome
"""


def test_tables_show_all(folder):
    result = run()
    assert result.exit_code == 0, result.output
    shown = get_rows(result.output)
    assert [line for line in get_rows(LINES) if line not in shown] == []
    assert "Confusions (3 of 3 kinds)" in result.output
    assert "predicts not one entity" not in result.output


def test_a_kind_without_gold_entities_has_no_scores(folder):
    write_test("Dora|LOC saw Anna", "Oslo|LOC sings")
    toy_ner.write(folder / "train.spacy", [toy_ner.make_doc("Rome|LOC")])
    shown = get_rows(run().output)
    assert [row for row in shown if row[0] == "Seen"] == [["Seen", *"---0---"]]
    assert "LOC Seen - - - 0 -".split() in shown
    # what is wrong counts, where nothing hides it
    assert ["PER", "All", "0.00", "0.00", "0.00", "0", "-"] in shown


def test_a_line_for_each_kind_comes_first_with_what_changed(folder):
    toy_ner.make_ruler({"Oslo": "LOC"}, None).to_disk(folder / "other")
    write_test(*["Anna|PER saw Dora|PER in Oslo|LOC"] * 9)
    result = evaluate(*ARGUMENTS, "--against", "other", "-n", 200)
    shown = get_rows(remove_colours(result.output))
    header, _, *totals = shown[1:6]
    assert header == "P R F Support F from-to Change From-to p".split()
    assert [row[0] for row in totals] == ["All", "Seen", "Unseen"]
    assert totals[1][:7] == "Seen 100.00 100.00 100.00 9 - +100.00".split()
    assert "PER 66.67 0.00 +66.67".split() in [row[:4] for row in shown]
    # what did not change, or not surely, and what few look at
    assert not any(row[0] in ("LOC", "micro", "S") for row in shown)
    assert "PER - missed 9 Anna saw [Dora] in Oslo".split() in shown
    assert "More tables with --full" in result.output


@pytest.mark.parametrize("options", [[], ["--full"]])
def test_without_training_nothing_is_seen_or_unseen(folder, options):
    result = evaluate("model", "test.spacy", *options)
    assert result.exit_code == 0, result.output
    shown = get_rows(result.output)
    assert "All 66.67 50.00 57.14 4".split() in [row[:5] for row in shown]
    assert not re.search("(?i)seen", result.output)
    evaluation = evaluate_in_depth("model", "test.spacy", samples=9)
    assert (evaluation["ents_seen_f"], evaluation["groups"]) == (None, {})
    assert evaluation["setting"]["shared"] is None
    assert "nseen" not in evaluation.to_markdown()


def test_tables_fit_a_terminal(folder):
    write_test(*[f"{'very ' * 20}Rome|organization {'far ' * 20}"] * 3)
    lines = remove_colours(run("--against", "model").output).splitlines()
    tables = [line for line in lines if re.search(r"\S   +\S", line)]
    assert len(tables) > 40
    assert max(map(len, tables)) <= 80


def test_files_are_of_the_form_that_their_suffix_names(folder):
    names = ["pages/evaluation.html", "tables.md", "all.json"]
    draws = ("--samples", 50, "--seed", 2)
    result = run(*draws, *(part for name in names for part in ("-o", name)))
    assert result.exit_code == 0, result.output
    assert "over the 1 document, from 50 draws, seed 2" in unwrap(result.output)
    page, tables, data = (Path(name).read_text(encoding="utf8") for name in names)
    assert page.startswith("<!DOCTYPE html>")
    assert ">Rome<span>LOC</span></mark>" in page
    assert "| All | 66.67 | 50.00 | 57.14 | 4 | - | - | - |" in tables.splitlines()
    paths = ("model", "test.spacy", "train.spacy")
    expected = evaluate_in_depth(*paths, samples=50, seed=2)
    assert json.loads(data) == json.loads(json.dumps(dict(expected)))


def test_another_suffix_is_refused_before_the_work(folder):
    result = run("-o", "scores.json", "-o", "scores.txt")
    assert result.exit_code == 2
    expected = "'output' should end in .json, .html or .md, but is 'scores.txt'"
    assert expected in unwrap(result.stderr)
    assert not Path("scores.json").exists()


# Without a pipeline.

COLUMNS = {
    "gold.conll": "Anna B-PER|saw O|Dora B-PER||in O|Oslo B-LOC",
    "predicted.conll": "Anna B-PER|saw B-PER|Dora I-PER||in O|Oslo B-LOC",
    "train.bio": "Anna B-PER|sings O",
}


@pytest.fixture
def columns(folder) -> None:
    """Files of columns in the current folder."""
    for name, text in COLUMNS.items():
        Path(name).write_text(text.replace("|", "\n") + "\n")


OF_FILES = ("predicted.conll", "gold.conll", "--train", "train.bio")


def test_predictions_in_files_need_no_pipeline(columns):
    result = evaluate(*OF_FILES, "--against", "gold.conll")
    assert result.exit_code == 0, result.output
    shown = get_rows(result.output)
    assert "All 66.67 66.67 66.67 3".split() in [row[:5] for row in shown]
    assert "Unseen 50.00 50.00 50.00 2".split() in [row[:5] for row in shown]
    both = "All 66.67 66.67 66.67 3 50.0..100.0 -33.33"
    assert both.split() in [row[:7] for row in shown]


@pytest.mark.parametrize(
    ("names", "options"),
    [
        ("", r"--tag-column 2 --predicted-column 3 --separator \t"),
        ("A\tB\tC\tD\n", "--word-column A --tag-column C --predicted-column D"),
    ],
)
def test_gold_and_predicted_tags_may_stand_in_one_file(columns, names, options):
    lines = ["Anna\tPERSON\tB-PER\tB-PER", "New York\tPLACE\tB-LOC\tO"]
    Path("both.tsv").write_text(names + "\n".join(lines) + "\n")
    Path("train.tsv").write_text(names + "Anna\tPERSON\tB-PER\tO\n")
    result = evaluate("both.tsv", "both.tsv", "-t", "train.tsv", *options.split())
    assert result.exit_code == 0, result.output
    assert "All 100.00 50.00 66.67 2 -".split() in get_rows(result.output)


ESCAPES = {
    "gold.conll": "\x1b[2JAnna B-\x1b]0;hi\x07|saw O|Dora B-=cmd()|in O|Oslo B-LOC",
    "predicted.conll": "\x1b[2JAnna B-\x9b1m\u2067|saw O|Dora O|in O|Oslo O",
}


def test_control_characters_are_shown_and_not_sent(columns):
    for name, text in ESCAPES.items():
        Path(name).write_text(text.replace("|", "\n") + "\n", encoding="utf8")
    outputs = ("scores.json", "scores.html", "scores.md")
    result = evaluate(*OF_FILES, *(part for name in outputs for part in ("-o", name)))
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
    assert r'">\x1b[2JAnna<span>\x1b]0;hi\x07</span></mark>' in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "test.spacy model -t train.spacy",
            "'model' should be a corpus, but is a pipeline. See --help for the order",
        ),
        ("gone test.spacy", "gone"),
        ("model test.spacy -a gone", "gone"),
        (f"model test.spacy -n {'9' * 23}", f"but is {'9' * 23}."),
    ],
)
def test_errors_are_told_without_a_traceback(folder, arguments, message):
    result = evaluate(*arguments.split(), "-o", "scores.json")
    check_refused(result, "Can't evaluate the pipeline", message)
    assert not Path("scores.json").exists()
