"""Which trial fills which cell of the paper's tables."""

from typing import NamedTuple

from ..layouts import Layout, Source, TrialColumn
from ..printed import Paper

#: The names of the datasets, in the order of table 3, and our own.
DATASETS = {
    "ag_news": "AG's News",
    "dbpedia": "DBPedia",
    "yelp_polarity": "Yelp Polarity",
    "yelp_full": "Yelp Full",
    "yahoo_answers": "Yahoo! Answers",
    "amazon_full": "Amazon Full",
    "amazon_polarity": "Amazon Polarity",
    "ag_news_small": "Small AG's News",
}

PAPER = Paper(
    file="printed_hash_embeddings.json",
    datasets=DATASETS,
    # to a tenth of a percent
    rounding=0.0005,
)

#: What has no place in the paper, although it has its files from there.
SMALL_NOTE = (
    "Small AG's News is ours, and another task than AG's News: of the 7,600 texts of "
    "the latter's test set, 5,000 are for training, 600 for development and 2,000 for "
    "the test."
)

#: The ending of variants with about a fifth of the parameters.
FIFTH = "fifth"


class Embedding(NamedTuple):
    """What is trained, at any size.

    embedder (str): The config.
    variant (str): The variant at its full size.
    """

    embedder: str
    variant: str


HASH = Embedding("hash_ngram_textcat", "default")
TRICK = Embedding("hash_ngram_textcat", "hashing_trick")
HASH_DICTIONARY = Embedding("hash_ngram_textcat", "dictionary")
STANDARD = Embedding("hash_ngram_textcat", "standard")
HASH_LINEAR = Embedding("hash_ngram_textcat", "dictionary_linear")
STANDARD_LINEAR = Embedding("hash_ngram_textcat", "standard_linear")
ENSEMBLE = Embedding("hash_ngram_ensemble", "default")
BAG_OF_WORDS = Embedding("textcat_bow", "default")
REDUCE = Embedding("textcat_reduce", "default")

#: The names of what has one. What is linear has no dense layers.
EMBEDDINGS = {
    HASH: "Hash embeddings (no dict.)",
    TRICK: "Hashing trick",
    HASH_LINEAR: "Hash embeddings (dict., linear)",
    STANDARD_LINEAR: "Standard embeddings (dict., linear)",
    HASH_DICTIONARY: "Hash embeddings (dict.)",
    STANDARD: "Standard embeddings (dict.)",
    ENSEMBLE: "Hash embeddings (dict., ensemble)",
    BAG_OF_WORDS: "spaCy's bag of words",
    REDUCE: "spaCy's tok2vec, reduced",
}

#: Table 2: the paper's key of each column, its heading and what fills it.
_COLUMNS = {
    "hash": ("Hash emb.", HASH),
    "trick": ("Std. emb.", TRICK),
    "hash_dictionary": ("Hash emb.", HASH_DICTIONARY),
    "standard": ("Std. emb.", STANDARD),
    "ensemble": ("Ensemble", ENSEMBLE),
}

#: Table 3: the paper's key of each row that trials fill.
FILLED_ROWS = {
    "hash": HASH,
    "hash_dictionary": HASH_DICTIONARY,
    "ensemble": ENSEMBLE,
}


def get_source(embedding: Embedding) -> Source:
    """Say which score of an embedding's trials the paper's tables have."""
    return Source(*embedding, "test", "cats_acc")


#: In the paper's order of datasets, then ours.
TABLE_2 = Layout(
    number=2,
    columns=[
        TrialColumn(
            key=key,
            label=label,
            group=f"With{'out' * (embedding in (HASH, TRICK))} dictionary",
            kind="exact",
            source=get_source(embedding),
        )
        for key, (label, embedding) in _COLUMNS.items()
    ],
    datasets=(
        "ag_news",
        "amazon_full",
        "dbpedia",
        "yahoo_answers",
        "yelp_full",
        "amazon_polarity",
        "yelp_polarity",
        "ag_news_small",
    ),
)


def split_variant(embedder: str, variant: str) -> tuple[Embedding, bool]:
    """Tell what was trained from its size.

    RETURNS (tuple[Embedding, bool]): The embedding, and whether it has a fifth of its
        parameters.
    """
    base, _, last = variant.rpartition("_")
    if last != FIFTH:
        return Embedding(embedder, variant), False
    return Embedding(embedder, base or "default"), True


def name_embedding(embedding: Embedding) -> str:
    """Name an embedding: by its config and variant, if it has no other name."""
    return EMBEDDINGS.get(embedding, " ".join(embedding))


def name_trials(embedder: str, variant: str) -> str:
    """Name the trials of a config and a variant."""
    embedding, is_fifth = split_variant(embedder, variant)
    return f"{name_embedding(embedding)}{', a fifth of the parameters' * is_fifth}"
