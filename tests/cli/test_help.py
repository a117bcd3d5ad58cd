"""The help of `spacy hashembeds`."""

from spacy.cli._util import app

from spacy_hashembeds.cli import hashembeds_cli

from .rules import HelpRules


class TestHelp(HelpRules):
    root = app
    words = ("hashembeds",)
    commands = hashembeds_cli
    with_json = ("accelerate", "analyze", "doctor", "evaluate")
    arguments = (
        "base",
        "kind",
        "model",
        "models",
        "corpus",
        "test",
        "train",
    )
