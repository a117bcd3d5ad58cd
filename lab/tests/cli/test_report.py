import re
from functools import partial
from pathlib import Path

import pytest

from ..calling import call, check_failure, succeed
from ..recorded import write_categories, write_seeds


@pytest.fixture
def results(tmp_path) -> Path:
    write_seeds(tmp_path / "metrics", "anem", "multi_embed", "default", [0.3, 0.3])
    return tmp_path / "metrics"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path_factory, monkeypatch):
    """A current folder without corpora."""
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))


run = partial(succeed, "report")


def test_it_writes_a_page_and_says_what_is_in_it_and_what_is_not(results, tmp_path):
    misnamed = results / "anem/multi_embed/default/seed-1.json"
    misnamed.write_text("{}")
    output, figures = tmp_path / "report.html", tmp_path / "figures"
    result = run(results, "-o", output, "--figures", figures)
    assert f"Wrote {output} from 2 results" in " ".join(result.output.split())
    # P, R and F1 in tables 9 and 11, F1 on dev in table 15
    said = " ".join(result.output.split())
    assert re.search(r"\d of 7 scores differ from the report; 24 variants are", said)
    assert "None of the report's corpora in 'corpus'" in said
    assert "Skipped files that are not named seedN.json" in said
    assert str(misnamed) in "".join(said.split())
    assert "30.0 ± 0.0" in output.read_text(encoding="utf8")
    assert (figures / "figure3.png").is_file()


def test_the_other_paper_is_filled_with_text_classifiers(results, tmp_path):
    write_categories(results, "ag_news", "hash_ngram_textcat", "default")
    output, figures = tmp_path / "page.html", tmp_path / "figures"
    arguments = (results, "--paper", "hash-embeddings", "-o", output)
    result = run(*arguments, "--figures", figures)
    said = " ".join(result.output.split())
    assert f"Wrote {output} from 1 results" in said
    assert "0 of 1 scores differ from the paper; 14 variants are" in said
    assert "50.0 <small>(1)</small>" in output.read_text(encoding="utf8")


def test_it_counts_the_corpora_that_are_there(results, tmp_path, tiny_corpus):
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus/wnut17").symlink_to(tiny_corpus)
    output = tmp_path / "report.md"
    result = run(results, "-o", output, "--corpus-root", tmp_path / "corpus")
    assert "wnut17/train.spacy" in "".join(result.output.split())
    text = output.read_text(encoding="utf8")
    assert "| WNUT2017 | 80 ▼ / 3,394 |" in text
    assert "None of the report's corpora" not in result.output


def test_the_page_is_not_the_folder_of_its_figures(results, tmp_path):
    page = tmp_path / "report.html"
    result = call("report", results, "-o", page, "--figures", page)
    check_failure(result, "Name two files that differ.")
    assert not page.exists()
