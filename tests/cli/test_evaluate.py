import json
import re
from pathlib import Path

import pytest
import spacy
from spacy.cli._util import app
from typer.testing import CliRunner

import spacy_hashembeds.cli  # noqa: F401
from spacy_hashembeds.evaluation.evaluate import evaluate_in_depth

from .. import toy_ner


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    toy_ner.write_train(tmp_path / "train.spacy")
    docs = [toy_ner.make_doc("Anna|PER saw Dora|PER in Oslo|LOC and Rome|LOC")]
    toy_ner.write(tmp_path / "test.spacy", docs)
    patterns = {"Anna": "PER", "Oslo": "LOC", "and": "MISC"}
    toy_ner.make_ruler(patterns, None).to_disk(tmp_path / "model")
    return tmp_path


def run(folder: Path, *options: str):
    return run_files(folder, *ARGUMENTS, "--full", *options)


ARGUMENTS = ("model", "test.spacy", "--train", "train.spacy")


def run_files(folder: Path, *arguments: str):
    known = {path.name: str(path) for path in folder.iterdir()}
    args = [known.get(argument, argument) for argument in arguments]
    return CliRunner().invoke(app, ["hashembeds", "evaluate", *args])


def rows(output: str) -> list[list[str]]:
    return [line.split() for line in output.splitlines() if line.strip()]


def test_tables_show_all_seen_and_unseen_and_each_type(folder):
    result = run(folder)
    assert result.exit_code == 0, result.output
    shown = rows(result.output)
    header = ["P", "R", "F", "Support"]
    for key in "PRF":
        header += [key, "from-to"]
    assert header in shown
    # Nothing to draw from in a single document.
    assert ["All", "66.67", "50.00", "57.14", "4", "-", "-", "-"] in shown
    assert ["Seen", "50.00", "50.00", "50.00", "2", "-", "-", "-"] in shown
    assert ["Unseen", "50.00", "50.00", "50.00", "2", "-", "-", "-"] in shown
    assert ["LOC", "Seen", "0.00", "0.00", "0.00", "1", "-"] in shown
    assert ["LOC", "Unseen", "100.00", "100.00", "100.00", "1", "-"] in shown
    assert ["PER", "Seen", "100.00", "100.00", "100.00", "1", "-"] in shown
    assert ["MISC", "All", "0.00", "0.00", "0.00", "0", "-"] in shown


def test_a_kind_without_gold_entities_has_no_scores(folder):
    docs = [toy_ner.make_doc("Dora|LOC saw Anna"), toy_ner.make_doc("Oslo|LOC sings")]
    toy_ner.write(folder / "test.spacy", docs)
    toy_ner.write(folder / "train.spacy", [toy_ner.make_doc("Rome|LOC")])
    shown = rows(run(folder).output)
    assert [row for row in shown if row[0] == "Seen"] == [["Seen", *"---0---"]]
    assert "LOC Seen - - - 0 -".split() in shown
    # what is wrong counts, where nothing hides it
    assert ["PER", "All", "0.00", "0.00", "0.00", "0", "-"] in shown


def test_a_line_for_each_kind_comes_first_with_what_changed(folder):
    toy_ner.make_ruler({"Oslo": "LOC"}, None).to_disk(folder / "other")
    docs = [toy_ner.make_doc("Anna|PER saw Dora|PER in Oslo|LOC")] * 9
    toy_ner.write(folder / "test.spacy", docs)
    result = run_files(folder, *ARGUMENTS, "--against", "other", "-n", "200")
    shown = rows(re.sub(r"\x1b\[[0-9;]*m", "", result.output))
    header, _, *totals = shown[1:6]
    assert header == "P R F Support F from-to Change From-to p".split()
    assert [row[0] for row in totals] == ["All", "Seen", "Unseen"]
    assert totals[1][:7] == "Seen 100.00 100.00 100.00 9 - +100.00".split()
    assert "PER 66.67 0.00 +66.67".split() in [row[:4] for row in shown]
    # what did not change, or not surely, and what few look at
    assert not any(row[0] in ("LOC", "micro", "S") for row in shown)
    assert "PER - missed 9 Anna saw [Dora] in Oslo".split() in shown
    assert "More tables with --full" in result.output


def test_without_training_nothing_is_seen_or_unseen(folder):
    for options in ([], ["--full"]):
        result = run_files(folder, "model", "test.spacy", *options)
        assert result.exit_code == 0, result.output
        shown = rows(result.output)
        assert "All 66.67 50.00 57.14 4".split() in [row[:5] for row in shown]
        assert not re.search("(?i)seen", result.output)
    evaluation = evaluate_in_depth(folder / "model", folder / "test.spacy", samples=9)
    assert (evaluation["ents_seen_f"], evaluation["groups"]) == (None, {})
    assert evaluation["setting"]["shared"] is None
    assert "nseen" not in evaluation.to_markdown()


def test_tables_show_averages_and_schemes(folder):
    shown = rows(run(folder).output)
    # LOC has 1, 1/2 and 2/3, PER the same, and MISC nothing
    assert ["All", "micro", "66.67", "50.00", "57.14"] in shown
    assert ["All", "macro", "66.67", "33.33", "44.44"] in shown
    assert ["All", "weighted", "100.00", "50.00", "66.67"] in shown
    assert ["Scheme", *"PRF", "COR", "INC", "PAR", "MIS", "SPU"] in shown
    assert ["All", "partial", "66.67", "50.00", "57.14", *"20021"] in shown
    assert ["Unseen", "ent_type", "50.00", "50.00", "50.00", *"10011"] in shown


def test_tables_fit_a_terminal(folder):
    docs = [toy_ner.make_doc(f"{'very ' * 20}Rome|organization {'far ' * 20}")] * 3
    toy_ner.write(folder / "test.spacy", docs)
    output = run(folder, "--against", str(folder / "model")).output
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in output.splitlines()]
    tables = [line for line in lines if re.search(r"\S   +\S", line)]
    assert len(tables) > 40
    assert max(map(len, tables)) <= 80


def test_nothing_counted_is_shown_as_a_dash(folder):
    docs = [toy_ner.make_doc("Anna|PER sings")]
    toy_ner.write(folder / "test.spacy", docs)
    shown = rows(run(folder).output)
    assert ["Unseen", "-", "-", "-", "0", "-", "-", "-"] in shown
    assert ["PER", "Unseen", "-", "-", "-", "0", "-"] in shown


def test_intervals_and_their_draws_are_shown(folder):
    docs = [toy_ner.make_doc(text) for text in ("Anna|PER", "Dora|PER", "Anna|PER")]
    toy_ner.write(folder / "test.spacy", docs)
    result = run(folder, "--samples", "200", "--seed", "3")
    # Of 27 draws, Anna fills eight and Dora one: more than the 2.5% beyond a bound.
    expected = ["All", "100.00", "66.67", "80.00", "3"]
    assert [*expected, *["0.0..100.0"] * 3] in rows(result.output)
    assert "95% intervals over the 3 documents, from 200 draws, seed 3" in result.output


def test_what_is_wrong_is_called_out(folder):
    assert "predicts not one entity" not in run(folder).output
    spacy.blank("en").to_disk(folder / "model")
    result = run(folder)
    assert result.exit_code == 0, result.output
    assert "model' predicts not one entity" in " ".join(result.output.split())


def test_documents_without_annotation_are_told_beside_the_draws(folder):
    docs = [toy_ner.make_doc("Anna|PER"), spacy.blank("en").make_doc("Anna in Rome")]
    toy_ner.write(folder / "test.spacy", docs)
    output = " ".join(run(folder).output.split())
    assert "over the 1 document with entity annotation, of 2 in all, from " in output


def test_arguments_in_the_wrong_order_are_called_out(folder):
    args = [str(folder / name) for name in ("test.spacy", "model", "train.spacy")]
    command = ["hashembeds", "evaluate", *args[:2], "--train", args[2]]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 1
    output = " ".join(result.output.split())
    assert f"'{args[1]}' should be a corpus, but is a pipeline" in output
    assert "See --help for the order" in output


@pytest.mark.parametrize("place", ["test", "train"])
def test_a_folder_of_splits_is_no_corpus(folder, place):
    args = {"test": str(folder / "test.spacy"), "train": str(folder / "train.spacy")}
    args[place] = str(folder)
    command = [str(folder / "model"), args["test"], "--train", args["train"]]
    result = CliRunner().invoke(app, ["hashembeds", "evaluate", *command])
    assert result.exit_code == 1
    output = "".join(result.output.split())
    assert f"'{folder / 'train.spacy'}'or'{folder / 'test.spacy'}'" in output


def test_groups_and_confusions_are_shown(folder):
    output = run(folder).output
    shown = rows(output)
    line = "text seen as an entity of this type 50.00 2 -"
    assert line.split() in shown
    assert "new entity, no token seen 50.00 2 -".split() in shown
    assert "Confusions (3 of 3 kinds)" in output
    assert "LOC - missed 1 Dora in Oslo and [Rome]".split() in shown
    assert "- MISC spurious 1 saw Dora in Oslo [and] Rome".split() in shown


def test_a_second_pipeline_is_compared(folder):
    toy_ner.make_ruler({"Rome": "LOC"}, None).to_disk(folder / "other")
    toy_ner.write(
        folder / "test.spacy",
        [toy_ner.make_doc("Anna|PER saw Rome|LOC")] * 3 + [toy_ner.make_doc("no")],
    )
    result = run(folder, "--against", str(folder / "other"), "--samples", "100")
    assert result.exit_code == 0, result.output
    shown = rows(result.output)
    header = "This Other Difference From-to p"
    assert header.split() in shown
    assert "All R 50.00 50.00 +0.00 - 1.0000".split() in shown
    assert not any(row[:2] == ["Unseen", "R"] for row in shown)


def test_scores_are_saved_as_json(folder):
    output = folder / "metrics" / "scores.json"
    result = run(folder, "--output", str(output), "--samples", "50", "--seed", "2")
    assert result.exit_code == 0, result.output
    saved = json.loads(output.read_text())
    paths = [folder / name for name in ("model", "test.spacy", "train.spacy")]
    expected = evaluate_in_depth(*paths, samples=50, seed=2)
    assert saved == json.loads(json.dumps(dict(expected)))
    assert [path.name for path in output.parent.iterdir()] == ["scores.json"]


def test_files_are_of_the_form_that_their_suffix_names(folder):
    names = ["pages/evaluation.html", "tables.md", "all.json"]
    options = [part for name in names for part in ("-o", str(folder / name))]
    result = run(folder, *options)
    assert result.exit_code == 0, result.output
    page, tables, data = ((folder / name).read_text(encoding="utf8") for name in names)
    assert page.startswith("<!DOCTYPE html>")
    assert ">Rome<span>LOC</span></mark>" in page
    assert str(folder / "model") in page
    assert "| All | 66.67 | 50.00 | 57.14 | 4 | - | - | - |" in tables.splitlines()
    assert json.loads(data)["ents_r"] == 0.5


def test_another_suffix_is_refused_before_the_work(folder):
    result = run(folder, "-o", str(folder / "scores.json"), "-o", "scores.txt")
    assert result.exit_code == 2
    expected = "'output' should end in .json, .html or .md, but is 'scores.txt'"
    assert expected in " ".join(result.stderr.split())
    assert not (folder / "scores.json").exists()


def test_tables_are_shown_beside_json_on_standard_output(folder):
    assert "Entities" in run(folder, "-o", "-").stderr


# Without a pipeline.

COLUMNS = {
    "gold.conll": "Anna B-PER|saw O|Dora B-PER||in O|Oslo B-LOC",
    "predicted.conll": "Anna B-PER|saw B-PER|Dora I-PER||in O|Oslo B-LOC",
    "train.bio": "Anna B-PER|sings O",
}


@pytest.fixture
def columns(tmp_path: Path) -> Path:
    for name, text in COLUMNS.items():
        (tmp_path / name).write_text(text.replace("|", "\n") + "\n")
    return tmp_path


def test_predictions_in_files_need_no_pipeline(columns):
    arguments = ["predicted.conll", "gold.conll", "--train", "train.bio"]
    result = run_files(columns, *arguments, "--against", "gold.conll")
    assert result.exit_code == 0, result.output
    shown = rows(result.output)
    assert "All 66.67 66.67 66.67 3".split() in [row[:5] for row in shown]
    assert "Unseen 50.00 50.00 50.00 2".split() in [row[:5] for row in shown]
    assert "All 66.67 66.67 66.67 3 50.0..100.0 -33.33".split() in [
        r[:7] for r in shown
    ]


def test_files_of_all_kinds_may_be_mixed(columns):
    docs = [toy_ner.make_doc("Anna|PER saw Dora|PER"), toy_ner.make_doc("in Oslo|LOC")]
    toy_ner.write(columns / "gold.spacy", docs)
    toy_ner.write_train(columns / "train.spacy")
    toy_ner.make_ruler({"Oslo": "LOC"}, None).to_disk(columns / "model")
    for arguments in (
        ["gold.spacy", "gold.conll", "--train", "train.spacy"],
        ["gold.conll", "gold.spacy", "--train", "train.bio", "--against", "model"],
    ):
        result = run_files(columns, *arguments)
        assert result.exit_code == 0, result.output
        starts = [row[:6] for row in rows(result.output)]
        assert "All 100.00 100.00 100.00 3 -".split() in starts


@pytest.mark.parametrize(
    ("names", "options"),
    [
        ("", r"--tag-column 2 --predicted-column 3 --separator \t"),
        ("A\tB\tC\tD\n", "--word-column A --tag-column C --predicted-column D"),
    ],
)
def test_gold_and_predicted_tags_may_stand_in_one_file(columns, names, options):
    lines = ["Anna\tPERSON\tB-PER\tB-PER", "New York\tPLACE\tB-LOC\tO"]
    (columns / "both.tsv").write_text(names + "\n".join(lines) + "\n")
    (columns / "train.tsv").write_text(names + "Anna\tPERSON\tB-PER\tO\n")
    arguments = ["both.tsv", "both.tsv", "--train", "train.tsv", *options.split()]
    result = run_files(columns, *arguments)
    assert result.exit_code == 0, result.output
    assert "All 100.00 50.00 66.67 2 -".split() in rows(result.output)


def test_predictions_named_as_files_of_pipelines_are_told_apart(columns):
    (columns / "predicted.conll").rename(columns / "gg.json")
    result = run_files(columns, "gg.json", "gold.conll", "--train", "train.bio")
    assert result.exit_code == 1
    said = "".join(result.output.split())
    assert "orafileofpredictions,butendsin.json,asfilesofpipelinesdo." in said
    assert f"anothername,suchas'{columns}/gg.iob'." in said


def test_predictions_of_other_words_are_refused(columns):
    (columns / "predicted.conll").write_text("Anna B-PER\nseen O\n")
    arguments = ["predicted.conll", "gold.conll", "--train", "train.bio"]
    result = run_files(columns, *arguments)
    assert result.exit_code == 1
    said = " ".join(result.output.split())
    assert "differ in document 0 from word 1 on: 'seen' instead of 'saw Dora'" in said


ESCAPES = {
    "gold.conll": "\x1b[2JAnna B-\x1b]0;hi\x07|saw O|Dora B-=cmd()|in O|Oslo B-LOC",
    "predicted.conll": "\x1b[2JAnna B-\x9b1m\u2067|saw O|Dora O|in O|Oslo O",
}


def test_control_characters_are_shown_and_not_sent(columns):
    for name, text in ESCAPES.items():
        (columns / name).write_text(text.replace("|", "\n") + "\n", encoding="utf8")
    outputs = [columns / f"scores{suffix}" for suffix in (".json", *FOR_PEOPLE)]
    options = [option for path in outputs for option in ("-o", str(path))]
    arguments = ["predicted.conll", "gold.conll", "--train", "train.bio"]
    result = run_files(columns, *arguments, *options)
    assert result.exit_code == 0, result.output
    printed = re.sub(r"\x1b\[(38;5;)?\d*m", "", result.output)  # wasabi's own
    assert r"[\x1b[2JAnna] saw" in " ".join(printed.split())
    warned = "predicts \\x9b1m\\u2067, and"
    assert warned in " ".join(printed.split())
    shown = [path.read_text(encoding="utf8") for path in outputs[1:]]
    for text in (printed, *shown):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2067]", text)
        assert r"\x1b" in text
    labels = json.loads(outputs[0].read_text())["ents_per_type"]
    assert set(labels) == {"\x1b]0;hi\x07", "\x9b1m\u2067", "=cmd()", "LOC"}
    page = shown[FOR_PEOPLE.index(".html")]
    assert r'">\x1b[2JAnna<span>\x1b]0;hi\x07</span></mark>' in page


FOR_PEOPLE = (".html", ".md")


@pytest.mark.parametrize("samples", ["2000000000", "9" * 23])
def test_too_many_draws_are_refused_by_name(folder, samples):
    result = run(folder, "-n", samples)
    assert result.exit_code == 1
    said = " ".join(result.output.split())
    assert f"'samples' should be 1 to 1000000, but is {samples}." in said


@pytest.mark.parametrize("name", ["model", "test.spacy", "train.spacy", "other"])
def test_a_missing_input_ends_with_a_message(folder, name):
    spacy.blank("en").to_disk(folder / "other")
    (folder / name).rename(folder / "elsewhere")
    output = folder / "scores.json"
    result = run(folder, "--output", str(output), "--against", str(folder / "other"))
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert "Can't evaluate the pipeline" in result.output
    assert name in result.output
    assert not output.exists()
