import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from lab.baseline import run_baseline as run_module

from ..calling import succeed

pytestmark = pytest.mark.slow


run = partial(succeed, "baseline")


@pytest.fixture
def project(tiny_corpus, tmp_path, monkeypatch) -> Path:
    """A project with a corpus, as the working directory, and one pair of penalties."""
    shutil.copytree(tiny_corpus, tmp_path / "corpus" / "demo")
    monkeypatch.setattr(run_module, "PENALTIES", {"c1": (0.1,), "c2": (0.01,)})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_is_run_once_and_summarized(project, capfd):
    result = run("demo")
    path = Path("metrics/demo/crf/default/seed0.json")
    metrics = json.loads(path.read_text(encoding="utf8"))
    shown = " ".join(result.output.split())
    tried = f"c1 0.1, c2 0.01: F1 {100 * metrics['tried'][0]['ents_f']:.1f} on dev"
    assert tried in shown
    assert f"{metrics['sizes']['pipeline_parameters']:,} pipeline parameters." in shown
    assert "Chosen on development data: c1 0.1, c2 0.01" in shown
    assert f"Saved results to {path}" in shown
    again = run("demo", "--json")
    assert "Done before, nothing has changed" in again.stderr
    assert json.loads(capfd.readouterr().out) == metrics
