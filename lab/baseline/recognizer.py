"""A linear-chain CRF as a component of a pipeline, which sets `doc.ents`."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import spacy
import srsly
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import biluo_tags_to_spans, iob_to_biluo

from ..extras import import_extra
from .features import list_features

#: The name of the component.
NAME = "crf"

#: The files of the weights and of the bias, in the folder of the component.
_FILE, _CFG = "model.crfsuite", "cfg"


class CRF:
    """A CRF trained by CRFsuite, which sets the entities of the likeliest BIO tags.

    With an `outside_bias` but 0, taken from the log-probability of O as by `token_ner`,
    the tags are those whose probabilities, token by token, have the largest product.
    """

    def __init__(self) -> None:
        self.outside_bias = 0.0
        self._weights = b""
        self._tagger: Any = None

    def __call__(self, doc: Doc) -> Doc:
        """Set the entities of a Doc."""
        features = list_features([token.text for token in doc])
        if self.outside_bias and features:
            self._tagger.set(features)
            labels = self._tagger.labels()
            marginal, places = self._tagger.marginal, range(len(features))
            scores = np.array([[marginal(x, i) for x in labels] for i in places])
            scores = np.log(np.maximum(scores, np.finfo("f").tiny))
            scores[:, labels.index("O")] -= self.outside_bias
            tags = decode(scores, labels)
        else:
            tags = self._tagger.tag(features)
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
        srsly.write_json(Path(path, _CFG), {"outside_bias": self.outside_bias})

    def from_disk(self, path: Path, *, exclude: Iterable[str] = ()) -> "CRF":
        """Load the weights from a folder."""
        self.load(Path(path, _FILE).read_bytes())
        self.outside_bias = srsly.read_json(Path(path, _CFG))["outside_bias"]
        return self


def decode(scores: NDArray, labels: Sequence[str]) -> list[str]:
    """Find the legal sequence of BIO tags that has the largest sum of scores: I follows
    B or I of its type. *Shape:* `(n, labels)`, of a token or more.
    """
    is_legal = [
        [y[0] != "I" or (x[0] != "O" and x[2:] == y[2:]) for y in labels]
        for x in labels
    ]
    steps = np.where(is_legal, 0.0, -np.inf)
    best = np.where([y[0] == "I" for y in labels], -np.inf, scores[0])
    before = []
    for of_token in scores[1:]:
        reached = best[:, None] + steps
        before.append(reached.argmax(axis=0))
        best = reached.max(axis=0) + of_token
    tags = [int(best.argmax())]
    for places in reversed(before):
        tags.append(int(places[tags[-1]]))
    return [labels[tag] for tag in reversed(tags)]


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
    for doc in docs:
        if len(doc) and all(token.ent_iob_ for token in doc):
            tags = [f"{t.ent_iob_}-{t.ent_type_}".removesuffix("-") for t in doc]
            trainer.append(list_features([token.text for token in doc]), tags)
    return trainer


def train(trainer: Any, path: Path, *, c1: float, c2: float, iterations: int) -> bytes:
    """Train a CRF, and return its weights.

    path (Path): The file that CRFsuite writes them to.
    c1, c2 (float): How much weights and their squares cost.
    """
    trainer.set_params({"c1": c1, "c2": c2, "max_iterations": iterations})
    trainer.train(str(path))
    return path.read_bytes()


def import_crfsuite() -> Any:
    """Import python-crfsuite, or raise an ImportError that says how to install it."""
    purpose = "The baseline needs python-crfsuite, which the lab requires"
    return import_extra("pycrfsuite", purpose, "-r lab/requirements.txt")
