"""A linear-chain CRF as a component of a pipeline, which sets `doc.ents`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import biluo_tags_to_spans, iob_to_biluo

from .features import list_features

#: The name of the component.
NAME = "crf"

#: The file of the weights, in the folder of the component.
_FILE = "model.crfsuite"


class CRF:
    """A CRF trained by CRFsuite: gives the entities of the likeliest BIO tags."""

    def __init__(self) -> None:
        self._weights = b""
        self._tagger: Any = None

    def __call__(self, doc: Doc) -> Doc:
        """Set the entities of a Doc."""
        if self._tagger is None:
            raise ValueError(f"The component '{NAME}' should be trained, but is not.")
        tags = self._tagger.tag(list_features([token.text for token in doc]))
        doc.ents = biluo_tags_to_spans(doc, iob_to_biluo(tags))
        return doc

    def load(self, weights: bytes) -> None:
        """Load weights, as CRFsuite writes them to a file."""
        self._weights, self._tagger = weights, import_crfsuite().Tagger()
        self._tagger.open_inmemory(weights)

    def count_weights(self) -> int:
        """Count the weights that are not 0: of features by tag, and of transitions."""
        info = self._tagger.info()
        return len(info.state_features) + len(info.transitions)

    def to_disk(self, path: Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the weights to a folder."""
        Path(path).mkdir(parents=True, exist_ok=True)
        Path(path, _FILE).write_bytes(self._weights)

    def from_disk(self, path: Path, *, exclude: Iterable[str] = ()) -> "CRF":
        """Load the weights from a folder."""
        self.load(Path(path, _FILE).read_bytes())
        return self


@Language.factory(NAME, assigns=["doc.ents"])
def make_crf(nlp: Language, name: str) -> CRF:
    """Make a CRF that is not trained."""
    return CRF()


def make_pipeline(lang: str, weights: bytes) -> Language:
    """Make a pipeline of a tokenizer and a trained CRF."""
    nlp = spacy.blank(lang)
    crf: Any = nlp.add_pipe(NAME)
    crf.load(weights)
    return nlp


def make_trainer(docs: Iterable[Doc]) -> Any:
    """Make a trainer of CRFsuite, with the features and tags of gold Docs.

    A Doc of which a token misses annotation is left out: all tags of a sequence are
    known to CRFsuite.
    """
    trainer = import_crfsuite().Trainer(algorithm="lbfgs", verbose=False)
    # or transitions that training has not shown would have no weight against them
    trainer.set("feature.possible_transitions", True)
    n_docs = 0
    for doc in docs:
        tags = list_tags(doc)
        if tags and None not in tags:
            trainer.append(list_features([token.text for token in doc]), tags)
            n_docs += 1
    if not n_docs:
        raise ValueError(
            "The training data should have a Doc or more whose entities are annotated, "
            "but has none."
        )
    return trainer


def list_tags(doc: Doc) -> list[str | None]:
    """List the BIO tags of a gold Doc; None where annotation is missing."""
    return [
        {"": None, "O": "O"}.get(t.ent_iob_, f"{t.ent_iob_}-{t.ent_type_}") for t in doc
    ]


def train(trainer: Any, path: Path, *, c1: float, c2: float, iterations: int) -> bytes:
    """Train a CRF, and give its weights.

    path (Path): The file that CRFsuite writes them to.
    c1, c2 (float): How much weights and their squares cost.
    """
    trainer.set_params({"c1": c1, "c2": c2, "max_iterations": iterations})
    trainer.train(str(path))
    return path.read_bytes()


def import_crfsuite() -> Any:
    """Import python-crfsuite, or raise an ImportError that says how to install it."""
    try:
        import pycrfsuite
    except ImportError as e:
        raise ImportError(
            "The baseline needs python-crfsuite, which the lab requires: pip install "
            "-r lab/requirements.txt."
        ) from e
    return pycrfsuite
