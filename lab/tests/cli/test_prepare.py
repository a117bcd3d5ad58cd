"""`python -m lab prepare`: published corpora, converted and counted."""

from functools import partial
from pathlib import Path

import pytest

from lab.corpora.datasets import DATASETS
from lab.tests.toy_glue import write_assets
from tests.cli.test_prepare import find_row

from .calling import call, check_failure

run = partial(call, "prepare")


def test_a_dataset_for_text_classification(tmp_path: Path):
    folder = tmp_path / "yelp_polarity"
    folder.mkdir()
    (folder / "train.csv").write_text('"1","Bad."\n"2","Good!"\n' * 20)
    (folder / "test.csv").write_text('"1","So so."\n')
    result = run("yelp_polarity", "-o", tmp_path / "output", "-a", tmp_path)
    assert result.exit_code == 0, result.output
    assert find_row(result, "All")[1:] == ["38", "2", "1"]
    assert find_row(result, "negative") == ["19", "1", "1"]


def test_a_dataset_is_converted_from_its_assets(tmp_path: Path):
    files = DATASETS["wnut17"].files
    texts = ("Ann\tB-person\n\t\nslept\tO\n", "Bo\tB-person\n", "Ann\tB-group\n")
    for file, text in zip(files, texts, strict=True):
        path = tmp_path / "own-assets" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    output = tmp_path / "output"
    result = run("wnut17", "-o", output, "--assets", tmp_path / "own-assets")
    assert result.exit_code == 0, result.output
    assert find_row(result, "train") == ["2", "2", "2", "1", "0.50", "1", "0"]
    assert find_row(result, "dev") == ["1", "1", "1", "1", "1.00", "0", "1"]
    assert find_row(result, "test") == ["1", "1", "1", "1", "1.00", "1", "0"]


def test_the_help_names_every_dataset():
    help_text = run("--help").output
    assert all(name in help_text for name in DATASETS)


def test_numbers_are_shown_as_such(tmp_path: Path):
    assets = write_assets(tmp_path / "assets", "stsb", n=60)
    result = run("glue_stsb", "-o", tmp_path / "output", "--assets", assets)
    assert result.exit_code == 0, result.output
    assert "Texts with the label at 0.5 or more" in result.output
    line = (assets / "glue/STS-B/train.tsv").read_text().splitlines()[1]
    similarity = float(line.split("\t")[-1]) / 5
    named = "similarity" if similarity == 1 else f"similarity {similarity:.2f}"
    shown = f"[{named * bool(similarity)}]"
    assert shown in " ".join(result.output.split())


def test_pairs_of_glue_are_converted_and_shown_in_a_line(tmp_path: Path):
    assets = write_assets(tmp_path / "assets", "mnli", n=60)
    result = run("glue_mnli", "-o", tmp_path / "output", "--assets", assets)
    assert result.exit_code == 0, result.output
    assert find_row(result, "Texts")[-4:] == ["train", "dev", "test", "test_mismatched"]
    assert find_row(result, "neutral") == ["19", "1", "10", "10"]
    names = {path.name for path in (tmp_path / "output").iterdir()}
    assert names == {f"{split}.spacy" for split in find_row(result, "Texts")[-4:]}
    first = (assets / "glue/MNLI/train.tsv").read_text().splitlines()[1].split("\t")
    shown = " ".join(result.output.split())
    assert f"[entailment] {first[8]} {first[9]}" in shown


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wnut17", "'spacy project assets'"),
        ("conll2003", "should be one of ['ag_news'"),
    ],
)
def test_errors_are_told_without_a_traceback(name: str, message: str, tmp_path: Path):
    output = tmp_path / "output"
    result = run(name, "-o", output, "--assets", tmp_path)
    check_failure(result, "Can't prepare", message)
    assert not output.exists()
