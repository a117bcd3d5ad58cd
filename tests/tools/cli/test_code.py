"""The option --code."""

from pathlib import Path

import pytest
import spacy

from ... import toy_ner
from .running import check_refused, run_command, try_command

CODE = """
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.util import registry

Language.component("{name}", func=lambda doc: doc)
registry.tokenizers("{name}", func=lambda: lambda nlp: Tokenizer(nlp.vocab))
"""


@pytest.mark.parametrize(
    "command",
    ["evaluate model train.spacy", "analyze train.spacy --config model/config.cfg"],
)
def test_code_is_imported(command):
    name = "".join(filter(str.isalpha, command))  # registered globally
    Path("code.py").write_text(CODE.format(name=name))
    Path("wrong.py").write_text("1 / 0")
    toy_ner.write_train(Path("train.spacy"))
    nlp = toy_ner.make_ruler({"Anna": "PER"}, None)
    nlp.add_pipe("sentencizer")
    if command.startswith("analyze"):
        nlp.add_pipe("tok2vec")
    nlp.config["nlp"]["tokenizer"] = {"@tokenizers": name}
    nlp.config["components"]["sentencizer"] = {"factory": name}
    nlp.to_disk("model")
    check_refused(try_command(*command.split()), "(--code")
    for code in ("no.py", "wrong.py"):
        check_refused(try_command(*command.split(), "--code", code), code)
    run_command(*command.split(), "--code", "code.py")
    assert isinstance(spacy.registry.tokenizers.get(name), type(lambda: None))
