"""Whole evaluations as Markdown, of which other tests say what is right.

Where a figure changes and is right, put what `mask` returns into the file.
"""

import re
from pathlib import Path

from spacy_hashembeds.tools.evaluate.evaluate import Evaluation


def check(evaluation: Evaluation, name: str) -> None:
    path = Path(__file__).with_name(name)
    assert mask(evaluation).splitlines() == path.read_text("utf8").splitlines()


def mask(evaluation: Evaluation) -> str:
    """Write an evaluation without p, whose draws are another package's."""
    return re.sub(r"\d\.\d{4} \|$", "p |", str(evaluation), flags=re.MULTILINE)
