"""Presets: values that `config` inserts, what they replace, and comments."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

from ...acceleration.conversion import BLAS, OUR_ENCODER
from ...architectures import multi_embed
from ...architectures.subword_embed import SubwordEmbed
from ...training.readers import JOINED_READER, LENGTHS, READER
from ..analyze.embedders import COUNT_SYMBOLS

#: The recommended embedder.
EMBEDDER = multi_embed.DESCRIPTION
ADAM = "spacy-hashembeds.Adam.v1"
COUNT_NGRAMS = "spacy-hashembeds.count_character_ngrams.v1"
#: The layer that uses counted n-grams.
HASHER = "spacy-hashembeds.LSHHasher.v1"
OBJECTIVE = "spacy-hashembeds.PretrainShuffleRandom.v1"
#: Factories of components that learn entities, and text labels.
RECOGNIZERS = ("ner", "beam_ner", "token_ner")
CLASSIFIERS = ("textcat", "textcat_multilabel")


@dataclass(frozen=True)
class Preset:
    """Values of a section, and the comment above them."""

    section: str  #: Empty if the caller names the section.
    values: Mapping[str, Any]
    why: str
    #: Regular expression of functions to replace or change. "None": an empty section.
    replaces: str = "None"
    #: Arguments kept from a replaced function. None: all that the preset does not set.
    keeps: tuple[str, ...] | None = None
    warns: bool = False  #: Warn if another function is kept.


# Required by embedders.

SYMBOLS = Preset(
    "initialize.before_init",
    {"@callbacks": COUNT_SYMBOLS, "corpus": "${training.train_corpus}"},
    "Counts the symbols of the training corpus at initialization. Frequent ones get a "
    "row.",
    replaces=f"None|{COUNT_SYMBOLS}|{COUNT_NGRAMS}",
    keeps=("corpus", "limit"),
)
NGRAMS = replace(
    SYMBOLS,
    values={**SYMBOLS.values, "@callbacks": COUNT_NGRAMS},
    why="Counts the n-grams of the training corpus at initialization.",
)

# For any pipeline.

ENCODER = Preset(
    "",
    {"@architectures": OUR_ENCODER},
    "Same output as spaCy's encoder, faster on the CPU.",
    replaces=r"spacy\.MaxoutWindowEncoder\.v2",
)
FASTEST_BLAS = Preset(
    "nlp.after_pipeline_creation",
    {"@callbacks": BLAS},
    "Multiplies matrices by numpy's BLAS where it is faster than BLIS.",
    warns=True,
)
FASTER_ADAM = Preset(
    "training.optimizer",
    {"@optimizers": ADAM},
    "Same steps as Thinc's Adam, faster on the CPU.",
    replaces="Adam.v1",
)

# Recommended, without --embedder.

SUBWORDS = {
    "@architectures": "spacy-hashembeds.SubwordEmbed.v1",
    **{k: v.default for k, v in signature(SubwordEmbed).parameters.items()},
}
del SUBWORDS["dropout"]
AVERAGES = Preset(
    "training.optimizer",
    {"use_averages": True},
    "Evaluates and saves running averages of the weights.",
    replaces=f"{ADAM}|Adam.v1|RAdam.v1|SGD.v1",
    warns=True,
)
#: Depth written by `spacy init config`.
USUAL_DEPTH = 4
DEPTH = Preset(
    "",
    {"depth": 8},
    "8 layers instead of 4: 0.3 to 1.0 points of F1 more on development data (may be "
    "chance), at half the speed (documentation: config).",
    replaces=ENCODER.replaces,
)
TOKEN_CLASSIFIER = "spacy-hashembeds.TokenClassifier.v1"
CALIBRATION = Preset(
    "training.before_to_disk",
    {
        "@callbacks": "spacy-hashembeds.calibrate_ner.v1",
        "corpus": "${training.dev_corpus}",
        "balance": True,
    },
    "Calibrates entity scores, and tunes how many entities are found, on the "
    "development corpus (documentation: ner). F1 in the training log does not include "
    "this tuning.",
    warns=True,
)
JOINED = Preset(
    "",
    {"@readers": JOINED_READER, "lengths": [*LENGTHS], "seed": "${training.seed}"},
    "Joins consecutive sentences (documentation: whole-texts). If sentences are "
    "unrelated, set lengths = [1].",
    replaces=f"spacy.Corpus.v1|{READER}",
    warns=True,
)
CLASSIFIER = Preset(
    "",
    {
        "@architectures": "spacy-hashembeds.HashNgramTextCat.v1",
        "ngram_size": 2,
        "rows": 10_000,
        "width": 20,
        "importance_rows": 100_000,
    },
    "Hash embeddings of words and word pairs (documentation: textcat).",
    replaces=r"spacy(-legacy)?\.TextCatBOW\.v[123]",
    keeps=("exclusive_classes",),
)
_AS_MEASURED = "The value with which this classifier was evaluated."
OF_CLASSIFIER = (
    Preset("training", {"dropout": 0.0}, _AS_MEASURED),
    Preset(
        "training.batcher",
        {"@batchers": "spacy.batch_by_sequence.v1", "size": 128},
        _AS_MEASURED,
        replaces=".*",
        keeps=(),
    ),
    Preset(
        "training.optimizer",
        {"L2": 0.0, "grad_clip": 0.0},
        _AS_MEASURED,
        replaces=f"Adam.v1|{ADAM}",
    ),
)

# Requested by --feature, --raw and --scorer.

KEPT = Preset(
    "",
    {"@readers": READER},
    "Keeps the --feature values stored in the training corpus.",
    replaces=f"{JOINED.replaces}|{JOINED_READER}",
    warns=True,
)
EXTENSIONS = Preset(
    "nlp.before_creation",
    {"@callbacks": "spacy-hashembeds.set_extensions.v1"},
    "Registers the extension attributes of --feature.",
    replaces="None|spacy-hashembeds.set_extensions.v1",
    warns=True,
)

RAW_TEXTS = Preset(
    "corpora.pretrain",
    {"@readers": "spacy-hashembeds.RawTexts.v1", "path": "${paths.raw_text}"},
    "The texts for `spacy pretrain`. Exclude the files of your test set.",
    replaces=".*",
    keeps=(),
)
#: Settings of [pretraining]. Pretraining stops early if the held-out loss stalls.
PRETRAINING = {
    "dropout": 0.1,
    "max_epochs": 100,
    "n_save_epoch": 100,
    "objective": {"@architectures": OBJECTIVE},
    "batcher.size": 1500,
    "optimizer.@optimizers": ADAM,
    "optimizer.learn_rate": 0.003,
}
SCORER = "spacy-hashembeds.seen_unseen_ner_scorer.v1"
