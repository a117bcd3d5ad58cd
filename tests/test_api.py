"""What is imported from `spacy_hashembeds` itself."""

import json
import subprocess
import sys
from importlib.metadata import version
from types import FunctionType

import pytest

import spacy_hashembeds

FUNCTIONS = [name for name in spacy_hashembeds.__all__ if name != "__version__"]

LAZY = """
import json, sys
import spacy_hashembeds
dir(spacy_hashembeds)
before = "spacy" in sys.modules
spacy_hashembeds.use_fastest_blas
print(json.dumps([before, "spacy" in sys.modules]))
"""


def test_names_are_imported_when_they_are_used():
    command = [sys.executable, "-c", LAZY]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert json.loads(printed) == [False, True]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_name_is_a_function_with_a_docstring(name):
    """And none a module of the same name, such as `analysis.analyze`."""
    function = getattr(spacy_hashembeds, name)
    assert isinstance(function, FunctionType)
    assert function.__name__ == name
    assert function.__doc__
    assert name in dir(spacy_hashembeds)


def test_the_version_is_that_of_the_distribution():
    assert spacy_hashembeds.__version__ == version("spacy-hashembeds")
