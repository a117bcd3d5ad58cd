"""Code that a pipeline needs, given to each command that loads one."""

import pytest
import spacy
from spacy.language import Language

from ... import toy_ner
from ...acceleration import accelerate_pipelines as pipelines
from .running import check_refused, run_command

CODE = """
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.util import registry

Language.component("{name}", func=lambda doc: doc)
registry.tokenizers("{name}", func=lambda: lambda nlp: Tokenizer(nlp.vocab))
"""


@pytest.fixture(scope="module")
def nlp() -> Language:
    """A pipeline, to be saved with a tokenizer and a component of that code."""
    nlp = spacy.blank("xx")
    pipelines.add(nlp, "tagger", pipelines.tok2vec())
    pipelines.train(nlp, steps=1).add_pipe("sentencizer")
    return nlp


@pytest.mark.parametrize(
    "command",
    [
        "accelerate model -o out --no-blas --text texts.txt",
        "evaluate model train.spacy",
        "analyze train.spacy --model model",
        "analyze train.spacy --config model/config.cfg",
    ],
)
def test_code_is_asked_for_and_imported(tmp_path, monkeypatch, nlp, command):
    monkeypatch.chdir(tmp_path)
    name = "".join(filter(str.isalpha, command))  # they stay for the whole process
    (tmp_path / "code.py").write_text(CODE.format(name=name))
    (tmp_path / "texts.txt").write_text("Anna lives\n")
    toy_ner.write_train(tmp_path / "train.spacy")
    nlp.config["nlp"]["tokenizer"] = {"@tokenizers": name}
    nlp.config["components"]["sentencizer"] = {"factory": name}
    nlp.to_disk(tmp_path / "model")
    result = run_command(*command.split())
    check_refused(result, "Give the file that has it (--code")
    result = run_command(*command.split(), "--code", "code.py")
    assert result.exit_code == 0, result.output


def test_code_that_is_not_there_ends_with_a_message():
    result = run_command("evaluate", "model", "test.spacy", "--code", "no.py")
    check_refused(result, "Path to Python code not found")
