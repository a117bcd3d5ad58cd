"""docs/python.md: its example runs as it stands, and says what the code has."""

import re

import spacy_hashembeds

from .conftest import ROOT

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf8")


def test_the_example_of_the_page_runs_as_it_stands(capsys):
    namespace: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, namespace)
    printed = capsys.readouterr().out
    for words in ("Entities seen in training", "Unseen", "Same predictions on 4 texts"):
        assert words in printed


def test_every_name_is_on_the_page():
    rows = re.findall(r"^\| `(\w+)", PAGE, re.MULTILINE)
    assert sorted(rows) == sorted(spacy_hashembeds.__all__)


def test_the_docs_of_every_function_are_on_the_page():
    shown = re.findall(r"^<!-- ::: spacy_hashembeds\.(\w+) -->$", PAGE, re.M)
    assert sorted([*shown, "__version__"]) == sorted(spacy_hashembeds.__all__)
