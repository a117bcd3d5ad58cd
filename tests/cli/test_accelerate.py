import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import spacy
from spacy.cli._util import app
from spacy.tokens import Doc, DocBin
from spacy.util import load_config, load_model
from spacy.vocab import Vocab
from typer.testing import CliRunner

import spacy_hashembeds.cli  # noqa: F401
from spacy_hashembeds.acceleration import accelerate as accelerate_module
from spacy_hashembeds.acceleration import compilation, conversion
from spacy_hashembeds.acceleration.timing import measure_speeds
from spacy_hashembeds.cli import _output

from ..acceleration import accelerate_pipelines as pipelines


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


def run(model: Path, output: Path, *options: str, blas: str = "--no-blas"):
    args = [str(model), "-o", str(output), blas, *options]
    return CliRunner().invoke(app, ["hashembeds", "accelerate", *args])


@pytest.fixture
def texts(tmp_path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text("Anna lives\n\nZürich и\n", encoding="utf8")
    return path


def test_it_says_what_was_done(model, tmp_path, texts):
    result = run(model, tmp_path / "out", "--text", str(texts))
    assert result.exit_code == 0, result.output
    assert "Converted components.tok2vec.model" in result.output
    assert "Same predictions on 2 texts (4 tokens)" in result.output
    read = f"Read 2 texts of {texts}, one a line"
    assert "".join(read.split()) in "".join(result.output.split())
    assert "Wherever it is loaded, have spacy-hashembeds installed" in result.output
    shown = [line.split()[0] for line in result.output.splitlines() if line.strip()]
    assert {"Before", "After", "Ratio"} <= set(shown)
    assert load_model(tmp_path / "out").pipe_names == ["tok2vec", "tagger"]
    assert f"spacy.load('{tmp_path / 'out'}')" in "".join(result.output.split("\n"))


@pytest.mark.parametrize("fixture", ["instructions", "no_instructions"])
def test_it_says_where_fewer_bits_may_be_faster(
    model, tmp_path, texts, fixture, request
):
    request.getfixturevalue(fixture)
    output = run(model, tmp_path / "out", "--text", str(texts)).output
    is_told = f"-o {tmp_path / 'out'}-auto --precision auto --text FILE" in output
    assert is_told == (fixture == "instructions")


def test_json_has_all_that_was_done(model, tmp_path, texts, capfd):
    result = run(model, tmp_path / "out", "--text", str(texts), "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(capfd.readouterr().out)
    assert data["converted"] == ["components.tok2vec.model", "nlp.tokenizer"]
    assert (data["texts"], data["tokens"]) == (2, 4)
    assert data["words_per_second_quartiles"].keys() == {"before", "after"}
    assert "nlp" not in data
    assert result.stdout == ""
    assert "Saved the pipeline to" in result.stderr
    assert "Words/s" not in result.stderr


def test_progress_is_shown(model, tmp_path, texts, monkeypatch):
    monkeypatch.setattr(_output, "hide_progress", lambda: False)
    result = run(model, tmp_path / "out", "--text", str(texts))
    assert result.exit_code == 0, result.output
    assert re.search(r"Comparing: .* 0/2 ", result.stderr)
    assert re.search(r"Timing: .* 0/1 ", result.stderr)


def test_docs_are_taken_as_text(model, tmp_path):
    docs = [Doc(Vocab(), words=["Anna", "in Paris"])]
    DocBin(docs=docs).to_disk(tmp_path / "dev.spacy")
    result = run(model, tmp_path / "out", "--text", str(tmp_path / "dev.spacy"))
    assert "Same predictions on 1 texts (2 tokens)" in result.output
    assert "Read 1 Docs of" in result.output


def test_the_blas_is_chosen_by_default(model, tmp_path, texts, monkeypatch):
    monkeypatch.setattr(conversion, "BLAS", "tests.not_registered.v1")
    result = run(model, tmp_path / "out", "--text", str(texts), blas="--blas")
    assert result.exit_code == 1
    assert "tests.not_registered.v1" in result.output
    by_default = CliRunner().invoke(
        app, ["hashembeds", "accelerate", str(model), "-o", str(tmp_path / "out")]
    )
    assert "tests.not_registered.v1" in by_default.output
    assert not (tmp_path / "out").exists()


def test_what_stays_is_warned_of(tmp_path, texts):
    nlp = spacy.blank("en")
    pipelines.add_vectors(nlp)
    pipelines.add(nlp, "tagger", pipelines.cnn("v1", pretrained_vectors=True))
    pipelines.add(nlp, "ner", pipelines.cnn())
    pipelines.train(nlp, steps=1).to_disk(tmp_path / "in")
    result = run(tmp_path / "in", tmp_path / "out", "--text", str(texts))
    output = " ".join(result.output.split())
    assert "Left components.tagger.model.tok2vec as it is: spacy.HashEmbedCNN" in output


def test_the_difference_is_said_in_the_unit_of_its_limit(
    model, tmp_path, texts, monkeypatch
):
    def accelerate_folder(*arguments, **options):
        done = original(*arguments, **options)
        return replace(done, max_relative_diff=5.4321e-06, unchecked=["ner"])

    original = accelerate_module.accelerate_folder
    monkeypatch.setattr(accelerate_module, "accelerate_folder", accelerate_folder)
    result = run(model, tmp_path / "out", "--text", str(texts))
    output = " ".join(result.output.split())
    said = "Largest difference between vectors: 5.43e-06 of the largest number (up to "
    assert f"{said}1e-05 may be rounding)" in output
    assert "Converted 'ner' without comparing its vectors: it was never in" in output


def test_force_replaces_a_pipeline(model, tmp_path, texts):
    pipelines.make_bare().to_disk(tmp_path / "out")
    options = ("--text", str(texts))
    refused = run(model, tmp_path / "out", *options)
    assert refused.exit_code == 1
    assert "--force" in refused.output
    assert conversion.find_convertible(load_config(tmp_path / "out" / "config.cfg"))
    assert run(model, tmp_path / "out", *options, "--force").exit_code == 0
    assert not conversion.find_convertible(load_config(tmp_path / "out" / "config.cfg"))


@pytest.mark.parametrize("are_there", [True, False])
def test_kernels_that_were_not_compiled_are_warned_of(
    are_there, model, tmp_path, texts, monkeypatch
):
    found = replace(compilation.examine_kernels(), are_there=are_there, in_use="numpy")
    monkeypatch.setattr(compilation, "examine_kernels", lambda: found)
    result = run(model, tmp_path / "out", "--text", str(texts))
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    assert ("numpy does their work" in said) == (not are_there)


@pytest.mark.parametrize("missing", ["nowhere", "nothing.txt", "nothing.spacy"])
def test_missing_inputs_end_with_a_message(model, tmp_path, texts, missing):
    source = tmp_path / missing if missing == "nowhere" else model
    text = texts if missing == "nowhere" else tmp_path / missing
    result = run(source, tmp_path / "out", "--text", str(text))
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert "Can't accelerate the pipeline" in result.output
    assert missing in result.output
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("instructions")
def test_a_precision_and_what_it_may_change(tmp_path, texts, capfd):
    pipelines.MAKERS["inside"][0]().to_disk(tmp_path / "in")
    options = ("--text", str(texts), "--precision", "int8", "--max-changed")
    result = run(tmp_path / "in", tmp_path / "out", *options, "100")
    assert result.exit_code == 0, result.output
    assert "Same predictions on 2 texts (4 tokens), in float32" in result.output
    assert "of 4 tokens (" in result.output
    result = run(tmp_path / "in", tmp_path / "json", *options, "100", "--json")
    data = json.loads(capfd.readouterr().out)
    assert data["changes"].keys() == {
        *("tokens", "kinds", "max_score_diff", "f1", "f1_difference")
    }
    changed, of, interval = data["changes"]["kinds"]["entities"]
    assert (type(changed), type(of), len(interval)) == (int, int, 2)
    result = run(tmp_path / "in", tmp_path / "no", *options, "-1")
    assert result.exit_code == 1
    assert "'max_changed' should be a percentage" in result.output


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("latin.txt", b"Anna\xff\n", "latin.txt:1: not utf-8 text"),
        ("dev.conllu", b"", "has columns, and not a text a line. Make .spacy files of"),
        ("dev.txt", b"Anna B-PER\nsang O\n\n. O\n", "seems to have columns"),
        ("dev.jsonl", b'{"name": "Anna"}', 'expected a JSON object with a "text"'),
    ],
)
def test_files_without_a_text_a_line_are_refused(model, tmp_path, name, data, said):
    (tmp_path / name).write_bytes(data)
    result = run(model, tmp_path / "out", "--text", str(tmp_path / name))
    assert result.exit_code == 1
    assert "Can't accelerate the pipeline" in result.output
    assert said in " ".join(result.output.split())


def test_texts_may_be_json(model, tmp_path):
    (tmp_path / "texts.jsonl").write_text('{"text": "Anna lives\\nin Paris"}\n')
    result = run(model, tmp_path / "out", "--text", str(tmp_path / "texts.jsonl"))
    assert "Same predictions on 1 texts (5 tokens)" in result.output


def test_it_says_what_the_new_pipeline_needs(tmp_path, texts, monkeypatch):
    nlp = spacy.blank("xx")
    layer = {"@architectures": "tests.Closures.v1", "tok2vec": pipelines.tok2vec()}
    nlp.add_pipe("morphologizer", config={"model": layer})
    nlp.meta["requirements"] = ["other>=1.0,<2"]
    pipelines.train(nlp, steps=1).to_disk(tmp_path / "in")
    (tmp_path / "code.py").write_text("")
    # as if that architecture were of a package that is installed
    packages = {"tests": ["pytest"], "spacy_hashembeds": ["spacy-hashembeds"]}
    monkeypatch.setattr(spacy.util, "packages_distributions", lambda: packages)
    options = ("--text", str(texts), "--code", str(tmp_path / "code.py"))
    result = run(tmp_path / "in", tmp_path / "out", *options)
    said = "".join(result.output.split())
    assert "havespacy-hashembeds,other>=1.0,<2,pytest>=" in said
    assert re.search(r"installed,and\S*code\.pyimported\(--code\)\.", said)
