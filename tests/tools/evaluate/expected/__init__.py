"""Expected evaluations as Markdown: the output of `mask`, verified by other tests."""

import re
from pathlib import Path

from spacy_hashembeds.tools.evaluate.evaluate import Evaluation


def check(evaluation: Evaluation, name: str) -> None:
    path = Path(__file__).with_name(name)
    assert mask(evaluation).splitlines() == path.read_text("utf8").splitlines()


def mask(evaluation: Evaluation) -> str:
    """Return an evaluation as Markdown, without p-values, which are drawn by SciPy."""
    return re.sub(r"\d\.\d{4} \|$", "p |", str(evaluation), flags=re.MULTILINE)
