"""Examples in the documentation pass strict type checks, and print scores."""

import json
import re

import pytest
from mypy import api

from .components.toy_recognizers import make_pipeline, train
from .conftest import ROOT


def read_examples() -> dict[str, str]:
    """Return the code of each page that imports the package, and of the universe."""
    entry = json.loads((ROOT / "release/universe.json").read_text(encoding="utf8"))
    examples = {"universe": "\n".join(entry["code_example"])}
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        text = page.read_text(encoding="utf8")
        code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
        if "from spacy_hashembeds" in code:
            examples[page.stem] = code
    return examples


@pytest.mark.slow
def test_examples_pass_mypy(tmp_path, pytestconfig):
    assert {"universe", "python"} < read_examples().keys()
    paths = []
    for name, code in read_examples().items():
        paths.append(tmp_path / f"{name.replace('-', '_')}.py")
        paths[-1].write_text(code, encoding="utf8")
    # spaCy's `minibatch` has no types; `make lint` checks our own modules
    options = ["--strict", "--allow-untyped-calls", "--follow-imports=silent"]
    cache = pytestconfig.cache.mkdir("mypy")
    options += [f"--config-file={ROOT / 'pyproject.toml'}", f"--cache-dir={cache}"]
    found, failed, _ = api.run([*options, *map(str, paths)])
    assert (found.count("Success"), failed) == (1, ""), found


def test_the_scores_of_entities_are_printed(tmp_path, monkeypatch, capsys):
    readme = (ROOT / "README.md").read_text(encoding="utf8")
    *_, example = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    nlp = train(make_pipeline(spans_key="ents"))
    (tmp_path / "training").mkdir()
    nlp.to_disk(tmp_path / "training" / "model-best")
    monkeypatch.chdir(tmp_path)
    exec(f"import spacy\n{example}", {})
    assert re.fullmatch(r"\[.*\]\n", capsys.readouterr().out)
