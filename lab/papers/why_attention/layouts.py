"""Which trials fill which cells of the paper's tables."""

from dataclasses import dataclass, replace

from ..layouts import Trials, name_variant
from ..printed import Paper

#: The paper's names for the datasets, in its order, and our own.
DATASETS = {
    "ontonotes": "OntoNotes 5.0",
    "wnut17": "WNUT 2017",
    "conll2002_es": "CoNLL es",
}

#: Tables 1 and 5, in which scores are printed to a hundredth of a percent.
PAPER = Paper(
    file="printed_why_attention.json", datasets=DATASETS, rounding=0.00005, seeds=6
)

#: The same for tables 3 and 4, whose changes are printed to a tenth.
CHANGES = replace(PAPER, rounding=0.0005)

#: The paper's key of each encoder, in its order, and our variant with it.
BASELINE = "baseline"
ENCODERS = {BASELINE: "baseline", "cross": "default", "att": "att"}


@dataclass(frozen=True, kw_only=True)
class Family:
    """What the encoders stand on, and what stands on them.

    key (str): Its name in the keys of columns.
    embedder (str): The config.
    vectors (str): The ending of variants with word vectors, or "".
    name (str): What it is called with an encoder, for which it has {}.
    label (str): What it is called alone.
    """

    key: str
    embedder: str
    vectors: str = ""
    name: str
    label: str

    def get_trials(self, encoder: str) -> Trials:
        """Say which trials have one of the `ENCODERS`."""
        return Trials(self.embedder, name_variant(ENCODERS[encoder], self.vectors))


#: The paper's own, but for the word vectors.
CHAR_CNN = Family(
    key="char_cnn",
    embedder="bilstm_char_cnn",
    name="{}-BiLSTM-CNN",
    label="Char. CNN, no vectors",
)
FAMILIES = (
    CHAR_CNN,
    Family(
        key="floret",
        embedder="bilstm_char_cnn",
        vectors="floret",
        name="{}-BiLSTM-CNN, floret vectors",
        label="Char. CNN, floret vectors",
    ),
    Family(
        key="hash",
        embedder="bilstm_token_ner",
        name="{}-BiLSTM, hash embeddings",
        label="Hash embeddings",
    ),
)
#: Under spaCy's transitions, in place of a tag for each token.
TRANSITIONS = Family(
    key="ner",
    embedder="bilstm_ner",
    name="{}-BiLSTM, hash embeddings, spaCy's ner",
    label="Hash embeddings, spaCy's ner",
)

#: The names of trials, in the order of table 1.
NAMES = {
    family.get_trials(encoder): family.name.format(encoder.title())
    for family in (*FAMILIES, TRANSITIONS)
    for encoder in ENCODERS
}


def name_trials(embedder: str, variant: str) -> str:
    """Name trials: by their config and variant, if they have no other name."""
    trials = Trials(embedder, variant)
    return NAMES.get(trials, " ".join(trials))


def name_dataset(dataset: str) -> str:
    """Name a dataset: as the paper does, if it is one of the paper's."""
    return DATASETS.get(dataset, dataset)
