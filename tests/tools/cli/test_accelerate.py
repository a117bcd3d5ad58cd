import json
import re
from functools import partial
from itertools import chain
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.util import load_config, load_model
from spacy.vocab import Vocab
from typer.testing import Result

from spacy_hashembeds.acceleration import accelerate as accelerate_module
from spacy_hashembeds.acceleration import conversion
from spacy_hashembeds.acceleration.timing import measure_speeds
from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.tools.cli import _output

from ...acceleration import accelerate_pipelines as pipelines
from .running import check_refused, get_rows, run_command, squeeze, unwrap


@pytest.fixture(autouse=True)
def _one_round(monkeypatch) -> None:
    """Time the pipelines once instead of seven times."""

    def measure(loaders, docs, *, rounds, progress):
        return measure_speeds(loaders, docs, rounds=1, progress=progress)

    monkeypatch.setattr(accelerate_module, "measure_speeds", measure)


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("in")
    pipelines.make_bare().to_disk(folder)
    return folder


@pytest.fixture(autouse=True)
def _texts(tmp_path, monkeypatch) -> None:
    """Two texts in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("texts.txt").write_text("Anna lives\n\nZürich и\n", encoding="utf8")


accelerate = partial(run_command, "accelerate")


def run(model: Path | str, *options: str) -> Result:
    """Accelerate a pipeline into the folder `out`, unless options say otherwise."""
    defaults = {"-o": "out", "--text": "texts.txt"}
    given = [pair for pair in defaults.items() if pair[0] not in options]
    return accelerate(model, "--no-blas", *chain.from_iterable(given), *options)


def test_it_says_what_was_done(model):
    result = run(model)
    assert result.exit_code == 0, result.output
    assert "Converted components.tok2vec.model" in result.output
    assert "Same predictions on 2 texts (4 tokens)" in result.output
    assert "Wherever it is loaded, have spacy-hashembeds installed" in result.output
    assert "spacy.load('out')" in result.output
    assert {"Before", "After", "Ratio"} <= {row[0] for row in get_rows(result.output)}
    assert load_model("out").pipe_names == ["tok2vec", "tagger"]


@pytest.mark.usefixtures("instructions")
def test_nothing_to_convert_is_no_failure():
    pipelines.MAKERS["inside"][0]().to_disk("in")
    run("in")
    result = run("out", "-o", "again")
    assert result.exit_code == 0, result.output
    said = unwrap(result.output)
    assert said.index("Nothing to convert") < said.index("Saved a copy")
    assert "Words/s" not in said
    assert load_model("again").to_bytes() == load_model("out").to_bytes()
    assert (
        "Nothing to convert" in run("out", "-o", "f", "--precision", "float32").output
    )
    int8 = run("again", "-o", "int8", "--precision", "int8", "--max-changed", "100")
    assert int8.exit_code == 0, int8.output
    assert "Nothing to convert" not in int8.output
    assert "of 4 tokens" in int8.output


def test_missing_kernels_are_said(model, monkeypatch):
    monkeypatch.setattr(compiled, "find", lambda: (None, None))
    monkeypatch.delenv(compiled.SWITCH, raising=False)
    result = run(model)
    assert result.exit_code == 0, result.output
    assert "numpy does their work" in unwrap(result.output)


def test_json_has_all_that_was_done_and_progress_is_shown(model, capfd, monkeypatch):
    monkeypatch.setattr(_output, "hide_progress", lambda: False)
    result = run(model, "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(capfd.readouterr().out)
    assert data["converted"] == ["components.tok2vec.model", "nlp.tokenizer"]
    assert (data["texts"], data["tokens"]) == (2, 4)
    assert data["words_per_second_quartiles"].keys() == {"before", "after"}
    assert "nlp" not in data
    assert result.stdout == ""
    assert "Saved the pipeline to" in result.stderr
    assert "Words/s" not in result.stderr
    assert re.search(r"Comparing: .* 0/2 ", result.stderr)
    assert re.search(r"Timing: .* 0/1 ", result.stderr)


def test_docs_and_json_are_taken_as_text(model):
    DocBin(docs=[Doc(Vocab(), words=["Anna", "in Paris"])]).to_disk("dev.spacy")
    output = run(model, "--text", "dev.spacy").output
    assert "Same predictions on 1 texts (2 tokens)" in output
    assert "Read 1 Docs of" in output
    Path("folder").mkdir()
    Path("dev.spacy").rename("folder/dev.spacy")
    output = run(model, "--text", "folder", "--force").output
    assert "Read 1 Docs of" in output
    Path("texts.jsonl").write_text('{"text": "Anna lives\\nin Paris"}\n')
    output = run(model, "--text", "texts.jsonl", "--force").output
    assert "Same predictions on 1 texts (5 tokens)" in output


@pytest.mark.parametrize("options", [["--blas"], []])
def test_the_blas_is_chosen_by_default(model, monkeypatch, options):
    monkeypatch.setattr(conversion, "BLAS", "tests.not_registered.v1")
    result = accelerate(model, "-o", "out", *options)
    check_refused(result, "tests.not_registered.v1")
    assert not Path("out").exists()


def test_force_replaces_a_pipeline(model):
    pipelines.make_bare().to_disk("out")
    again = run(model)
    check_refused(again, "--force")
    assert "Loading" not in again.stdout  # refused before that
    assert conversion.find_convertible(load_config("out/config.cfg"))[0]
    assert run(model, "--force").exit_code == 0
    assert not conversion.find_convertible(load_config("out/config.cfg"))[0]


@pytest.mark.usefixtures("instructions")
def test_a_precision_and_what_it_may_change(capfd):
    pipelines.MAKERS["inside"][0]().to_disk("in")
    options = ("--precision", "int8", "--max-changed")
    run("in", *options, "100", "--json")
    changes = json.loads(capfd.readouterr().out)["changes"]
    assert changes.keys() == {"tokens", "kinds", "f1"}
    changed, of, interval = changes["kinds"]["entities"]
    assert (type(changed), type(of), len(interval)) == (int, int, 2)
    check_refused(run("in", *options, "-1", "--force"), "'max_changed' should be")


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("latin.txt", b"Anna\xff\n", "latin.txt:1: not utf-8 text"),
        ("dev.conllu", b"", "should have a text a line"),
        ("nothing.spacy", None, "nothing.spacy"),
    ],
)
def test_files_without_a_text_a_line_are_refused(model, name, data, said):
    if data is not None:
        Path(name).write_bytes(data)
    check_refused(run(model, "--text", name), "Can't accelerate the pipeline", said)
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("requirements", "needs"),
    [
        (
            ["other>=1.0,<2", "spacy>=3.8"],
            "havespacy-hashembeds,other>=1.0,<2,pytest>=",
        ),
        (
            ["spacy-hashembeds>=0.1", "pytest>=7"],
            "havespacy-hashembeds>=0.1,pytest>=7installed",
        ),
    ],
)
def test_it_says_what_the_new_pipeline_needs(monkeypatch, requirements, needs):
    nlp = spacy.blank("xx")
    layer = {"@architectures": "tests.Closures.v1", "tok2vec": pipelines.tok2vec()}
    nlp.add_pipe("morphologizer", config={"model": layer})
    nlp.meta["requirements"] = requirements
    pipelines.train(nlp, steps=1).to_disk("in")
    Path("code.py").write_text("")
    # as if that architecture were of a package that is installed
    packages = {"tests": ["pytest"], "spacy_hashembeds": ["spacy-hashembeds"]}
    monkeypatch.setattr(spacy.util, "packages_distributions", lambda: packages)
    said = squeeze(run("in", "--code", "code.py").output)
    assert needs in said
    assert "installed,andcode.pyimported(--code)." in said
