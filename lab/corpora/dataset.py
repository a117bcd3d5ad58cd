"""A published corpus."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from spacy.tokens._serialize import ALL_ATTRS

from spacy_hashembeds.corpora import splits
from spacy_hashembeds.corpora.splits import Splits, Task

#: With what nobody annotated too, as in the files that lab/results were trained on:
#: results on other bytes are not compared.
NER = replace(splits.NER, attrs=tuple(ALL_ATTRS))

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
