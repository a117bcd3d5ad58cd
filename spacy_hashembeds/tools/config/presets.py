"""Presets of `config`: the place, the values, the replaced functions, and reasons."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

from ...acceleration.conversion import BLAS, OUR_ENCODER
from ...architectures import multi_embed
from ...architectures.subword_embed import SubwordEmbed
from ...training.readers import JOINED_READER, LENGTHS, READER

#: The recommended embedder.
EMBEDDER = multi_embed.DESCRIPTION
ADAM = "spacy-hashembeds.Adam.v1"
COUNT_SYMBOLS = "spacy-hashembeds.count_symbols.v1"
COUNT_NGRAMS = "spacy-hashembeds.count_character_ngrams.v1"
#: The layer that needs n-grams to be counted.
HASHER = "spacy-hashembeds.LSHHasher.v1"
OBJECTIVE = "spacy-hashembeds.PretrainShuffleRandom.v1"
#: Factories of components that learn entities, and of those that learn text labels.
RECOGNIZERS = ("ner", "beam_ner", "token_ner")
CLASSIFIERS = ("textcat", "textcat_multilabel")
#: Annotation that components learn, by factory: attributes of tokens, and entities.
ATTRIBUTES = ("TAG", "POS", "DEP", "LEMMA")
LEARNED = {
    **dict.fromkeys(RECOGNIZERS, "entities"),
    **{"tagger": "TAG", "morphologizer": "POS", "parser": "DEP"},
    "trainable_lemmatizer": "LEMMA",
    **dict.fromkeys(CLASSIFIERS, "categories"),
}


@dataclass(frozen=True)
class Preset:
    """Values of a section, and the comment above them."""

    section: str  #: Empty for models, whose places are searched.
    values: Mapping[str, Any]
    why: str
    #: Pattern of the functions to replace or change. "None" is an empty place.
    over: str = "None"
    #: Arguments to keep, with their values, when another function is replaced. None
    #: keeps all that the preset does not set.
    kept: tuple[str, ...] | None = None
    #: If True, warn about other functions.
    warns: bool = False


# Needed by embedders.

SYMBOLS = Preset(
    "initialize.before_init",
    {"@callbacks": COUNT_SYMBOLS, "corpus": "${training.train_corpus}"},
    "Counts the training corpus when training starts: frequent symbols get rows.",
    over=f"None|{COUNT_SYMBOLS}|{COUNT_NGRAMS}",
    kept=("corpus", "limit"),
)
NGRAMS = replace(
    SYMBOLS,
    values={**SYMBOLS.values, "@callbacks": COUNT_NGRAMS},
    why="Counts the training corpus when training starts: frequent n-grams count.",
)

# For any pipeline.

ENCODER = Preset(
    "",
    {"@architectures": OUR_ENCODER},
    "In place of spaCy's: the same numbers, faster on the CPU.",
    over=r"spacy\.MaxoutWindowEncoder\.v2",
)
FASTEST_BLAS = Preset(
    "nlp.after_pipeline_creation",
    {"@callbacks": BLAS},
    "Multiplies with numpy's BLAS where that is faster: docs/accelerate.md.",
    warns=True,
)
FASTER_ADAM = Preset(
    "training.optimizer",
    {"@optimizers": ADAM},
    "In place of Thinc's: the same numbers, faster on the CPU.",
    over="Adam.v1",
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
    "Averages of the weights are scored and saved (use_averages): docs/results.md.",
    over=f"{ADAM}|Adam.v1|RAdam.v1|SGD.v1",
    warns=True,
)
#: The depth that `spacy init config` writes, replaced if only entities are learned.
USUAL_DEPTH = 4
DEPTH = Preset(
    "",
    {"depth": 8},
    "8 layers for 4: about a point more F1, at 0.55 times the speed: lab/trials.md.",
    over=ENCODER.over,
)
TOKEN_CLASSIFIER = "spacy-hashembeds.TokenClassifier.v1"
CALIBRATION = Preset(
    "training.before_to_disk",
    {
        "@callbacks": "spacy-hashembeds.calibrate_ner.v1",
        "corpus": "${training.dev_corpus}",
        "balance": True,
    },
    "Fits scores of entities, and how many are found, on dev: docs/ner.md. F1 in the "
    "log of training does not include it.",
    warns=True,
)
JOINED = Preset(
    "",
    {"@readers": JOINED_READER, "lengths": [*LENGTHS], "seed": "${training.seed}"},
    "Joins consecutive sentences to texts: docs/whole-texts.md. If they are unrelated, "
    "set lengths = [1].",
    over=f"spacy.Corpus.v1|{READER}",
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
    "Hash embeddings of words and pairs of words: docs/textcat.md.",
    over=r"spacy(-legacy)?\.TextCatBOW\.v[123]",
    kept=("exclusive_classes",),
)
_AS_MEASURED = "As the classifier was measured: lab/trials.md."
OF_CLASSIFIER = (
    Preset("training", {"dropout": 0.0}, _AS_MEASURED),
    Preset(
        "training.batcher",
        {"@batchers": "spacy.batch_by_sequence.v1", "size": 128},
        _AS_MEASURED,
        over=".*",
        kept=(),
    ),
    Preset(
        "training.optimizer",
        {"L2": 0.0, "grad_clip": 0.0},
        _AS_MEASURED,
        over=f"Adam.v1|{ADAM}",
    ),
)

# Requested by --feature, --raw and --scorer.

KEPT = Preset(
    "",
    {"@readers": READER},
    "Keeps the features of --feature that the training corpus stores.",
    over=f"{JOINED.over}|{JOINED_READER}",
    warns=True,
)
EXTENSIONS = Preset(
    "nlp.before_creation",
    {"@callbacks": "spacy-hashembeds.set_extensions.v1"},
    "Registers the extension attributes of --feature that Docs store.",
    over="None|spacy-hashembeds.set_extensions.v1",
    warns=True,
)

RAW_TEXTS = Preset(
    "corpora.pretrain",
    {"@readers": "spacy-hashembeds.RawTexts.v1", "path": "${paths.raw_text}"},
    "Read by `spacy pretrain`.",
    over=".*",
    kept=(),
)
#: Settings of [pretraining], which ends before `max_epochs` if the loss stalls.
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
