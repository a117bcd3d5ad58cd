import re
import sys
from functools import partial
from pathlib import Path

import pytest

from lab.cli.report import PaperName
from lab.papers.paper import PAPERS

from ..trials.test_results import write_categories, write_seeds
from .calling import call, check_failure


@pytest.fixture
def results(tmp_path) -> Path:
    write_seeds(tmp_path / "metrics", "anem", "multi_embed", "default", [0.3, 0.3])
    return tmp_path / "metrics"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path_factory, monkeypatch):
    """A current folder without corpora."""
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))


run = partial(call, "report")


def test_it_writes_a_page_and_says_what_is_in_it(results, tmp_path):
    output, figures = tmp_path / "report.html", tmp_path / "figures"
    result = run(results, "-o", output, "--figures", figures)
    assert result.exit_code == 0, result.output
    assert f"Wrote {output} from 2 results" in " ".join(result.output.split())
    # P, R and F1 in tables 9 and 11, F1 on dev in table 15
    said = " ".join(result.output.split())
    assert re.search(r"\d of 7 scores differ from the report; 24 variants are", said)
    assert "None of the report's corpora in 'corpus'" in said
    assert "30.0 ± 0.0" in output.read_text(encoding="utf8")
    assert (figures / "figure3.png").is_file()


def test_the_other_paper_is_filled_with_text_classifiers(results, tmp_path):
    write_categories(results, "ag_news", "hash_ngram_textcat", "default")
    output, figures = tmp_path / "page.html", tmp_path / "figures"
    arguments = (results, "--paper", "hash-embeddings", "-o", output)
    result = run(*arguments, "--figures", figures)
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    assert f"Wrote {output} from 1 results" in said
    assert "0 of 1 scores differ from the paper; 14 variants are" in said
    assert "50.0 <small>(1)</small>" in output.read_text(encoding="utf8")
    assert (figures / "parameters.png").is_file()


def test_a_paper_without_results_names_the_other(results, tmp_path):
    result = run(results, "--paper", "hash-embeddings", "-o", tmp_path / "page.html")
    papers = ("multi-hash-embeddings", "why-attention", "hashformers")
    check_failure(result, f"{' or '.join(f'--paper {name}' for name in papers)}.")


def test_the_papers_of_the_command_are_those_that_are_named():
    assert [name.value for name in PaperName] == list(PAPERS)


def test_an_unknown_paper_is_refused(results, tmp_path):
    result = run(results, "--paper", "mine", "-o", tmp_path / "page.html")
    assert result.exit_code == 2
    said = " ".join(result.output.replace("│", " ").split())
    names = ("multi-hash-embeddings", "hash-embeddings", "why-attention", "hashformers")
    assert ", ".join(f"'{name}'" for name in names) in said


def test_it_counts_the_corpora_that_are_there(results, tmp_path, tiny_corpus):
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus/wnut17").symlink_to(tiny_corpus)
    output = tmp_path / "report.md"
    result = run(results, "-o", output, "--corpus-root", tmp_path / "corpus")
    assert result.exit_code == 0, result.output
    assert "wnut17/train.spacy" in "".join(result.output.split())
    text = output.read_text(encoding="utf8")
    assert "| WNUT2017 | 80 ▼ / 3,394 |" in text
    assert "None of the report's corpora" not in result.output


@pytest.mark.parametrize("level", ["anem", "anem/multi_embed", "empty"])
def test_without_results_nothing_is_written(level, results, tmp_path):
    (results / "empty").mkdir()
    output = tmp_path / "report.html"
    output.write_text("an earlier report")
    result = run(results / level, "-o", output)
    check_failure(result, f"There are no results in '{results / level}'")
    assert output.read_text() == "an earlier report"


def test_misnamed_files_are_named(results, tmp_path):
    path = results / "anem/multi_embed/default/seed-1.json"
    path.write_text("{}")
    result = run(results, "-o", tmp_path / "report.html")
    assert result.exit_code == 0, result.output
    assert "Skipped files that are not named seedN.json" in result.output
    assert str(path) in "".join(result.output.split())


def test_what_is_wrong_is_named_and_nothing_is_written(results, tmp_path):
    output = tmp_path / "report.html"
    title = "Can't make the report"
    check_failure(run(tmp_path / "gone", "-o", output), title, "There is no folder")
    check_failure(run(results, "-o", tmp_path / "report.pdf"), "should end in .html")
    gone = tmp_path / "gone"
    check_failure(
        run(results, "-o", output, "--corpus-root", gone),
        f"should be a folder of prepared corpora, but there is no '{gone}'",
    )
    broken = results / "anem/multi_embed/default/seed1.json"
    broken.write_text("{")
    check_failure(run(results, "-o", output), f"'{broken}' should hold")
    assert [path.name for path in tmp_path.iterdir()] == ["metrics"]


def test_without_matplotlib_the_extra_is_named(results, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run(results, "-o", tmp_path / "report.html")
    check_failure(result, "pip install 'spacy-hashembeds[report]'")


def test_the_page_is_not_the_folder_of_its_figures(results, tmp_path):
    page = tmp_path / "report.html"
    result = run(results, "-o", page, "--figures", page)
    check_failure(result, "Name two files that differ.")
    assert not page.exists()
