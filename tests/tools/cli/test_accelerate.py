import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from spacy.tokens import Doc, DocBin
from spacy.util import load_model
from spacy.vocab import Vocab
from typer.testing import Result

from spacy_hashembeds.acceleration import accelerate as accelerate_module
from spacy_hashembeds.acceleration.accelerate import AccelerationReport
from spacy_hashembeds.acceleration.timing import measure_speeds
from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.tools.cli import _output

from ...acceleration import accelerate_pipelines as pipelines
from .running import get_rows, run_command, unwrap

accelerate = partial(run_command, "accelerate")


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("in")
    pipelines.MAKERS["bare"]().to_disk(folder)
    return folder


@pytest.fixture(autouse=True)
def _texts(here, monkeypatch) -> None:
    """Two texts in the current folder, and one round of timing."""

    def measure(loaders, docs, *, rounds, progress):
        return measure_speeds(loaders, docs, rounds=1, progress=progress)

    monkeypatch.setattr(accelerate_module, "measure_speeds", measure)
    Path("texts.txt").write_text("Anna lives\n\nZürich и\n", encoding="utf8")


def run(model: Path | str, *options: str) -> Result:
    """Accelerate a pipeline, by default into the folder `out`."""
    defaults = ("--no-blas", "-o", "out", "--text", "texts.txt")
    return accelerate(model, *defaults, *options)


def test_pipeline_is_converted(model, capfd, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(_output, "hide_progress", lambda: False)
        result = run(model, "--json")
    data = json.loads(capfd.readouterr().out)
    assert data["converted"] == ["components.tok2vec.model", "nlp.tokenizer"]
    assert (data["texts"], data["tokens"]) == (2, 4)
    assert data["words_per_second_quartiles"].keys() == {"before", "after"}
    assert "nlp" not in data
    assert result.stdout == ""
    assert re.search(r"Comparing: .* 0/2 ", result.stderr)
    assert re.search(r"Timing: .* 0/1 ", result.stderr)
    output = unwrap(result.stderr)
    assert "Saved the pipeline to out" in output
    assert "spacy.load('out')" in output
    assert load_model("out").pipe_names == ["tok2vec", "tagger"]
    assert "Saved a copy" in unwrap(run("out", "-o", "again").output)


@pytest.fixture
def calls(monkeypatch) -> list[dict[str, Any]]:
    """The settings of conversions, which are not run."""
    calls: list[dict[str, Any]] = []

    def convert(model: str, output: Path, texts: Any, **settings: Any):
        calls.append({"texts": texts, **settings})
        before, after = {"before": 1.0, "after": 2.0}, {"before": {}, "after": {}}
        spread = dict.fromkeys(before, (1.0, 2.0))
        return AccelerationReport(
            converted=["components.tok2vec.model"],
            left={},
            texts=2,
            words_per_second=before,
            words_per_second_quartiles=spread,
            component_times=after,
        )

    monkeypatch.setattr(accelerate_module, "accelerate_folder", convert)
    return calls


def test_options_are_passed_and_results_are_printed(calls, monkeypatch):
    monkeypatch.setattr(compiled, "find", lambda: (None, None))
    monkeypatch.delenv(compiled.SWITCH, raising=False)
    options = ("--precision", "int8", "--max-changed", "1", "--force")
    result = run("model", *options)
    assert "Converted components.tok2vec.model" in result.output
    assert {"Words/s", "Ratio"} <= {row[0] for row in get_rows(result.output)}
    assert "numpy does their work" in unwrap(result.stderr)  # without kernels
    accelerate("model", "-o", "out")
    names = ("texts", "precision", "max_changed", "blas", "force")
    assert [[call[name] for name in names] for call in calls] == [
        [["Anna lives", "Zürich и"], "int8", 1.0, False, True],
        [None, None, 0.5, True, False],
    ]


def test_docs_and_json_are_read_as_texts(calls):
    Path("folder").mkdir()
    DocBin(docs=[Doc(Vocab(), words=["Anna", "in Paris"])]).to_disk("folder/dev.spacy")
    Path("texts.jsonl").write_text('{"text": "Anna lives\\nin Paris"}\n')
    for name in ("folder/dev.spacy", "folder", "texts.jsonl"):
        run("model", "--text", name)
    *docs, texts = (call["texts"] for call in calls)
    assert [[len(doc) for doc in each] for each in docs] == [[2], [2]]
    assert texts == ["Anna lives\nin Paris"]
