"""What a published corpus is."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from spacy_hashembeds.corpora.splits import NER, Splits, Task

#: What is missing is fetched by our project.yml, which a wheel does not hold.
FETCH = (
    "Fetch it with 'spacy project assets' in a clone of the sources of "
    "spacy-hashembeds, which have the project.yml for it"
)


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A corpus and how it is split."""

    name: str  # on the command line
    lang: str = "en"
    files: tuple[str, ...]  # files or folders, below the assets
    split: Callable[[list[Path]], Splits]
    task: Task = NER
    remedy: str = FETCH  # how to come by a missing file
