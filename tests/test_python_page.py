"""docs/python.md: its example runs as it stands, and says what the code has."""

import inspect
import re

import pytest

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


@pytest.mark.parametrize("name", ["accelerate", "analyze", "count_symbols"])
def test_arguments_and_defaults_are_those_of_the_functions(name):
    (stated,) = re.findall(rf"`{name}\(([^`]*=[^`]*)\)`", " ".join(PAGE.split()))
    signature = inspect.signature(getattr(spacy_hashembeds, name))
    parameters = [
        parameter.replace(annotation=parameter.empty)
        for parameter in signature.parameters.values()
    ]
    bare = signature.replace(
        parameters=parameters, return_annotation=inspect.Signature.empty
    )
    assert f"({stated})" == str(bare)


def test_every_name_is_on_the_page():
    rows = re.findall(r"^\| `(\w+)", PAGE, re.MULTILINE)
    assert sorted(rows) == sorted(spacy_hashembeds.__all__)
